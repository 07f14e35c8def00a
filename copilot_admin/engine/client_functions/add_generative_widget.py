"""Makes a new widget of what the model writes: a note, a table, a chart or HTML."""

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from copilot_admin.engine.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.engine.dashboard import may_be_changed
from copilot_admin.engine.model_call import ToolCall
from copilot_admin.engine.tool_arguments import ToolMistake, read_arguments
from protocol.json import Json, JsonObject

_ROUND = ("pie", "donut")


class GenerativeWidget(BaseModel):
    """Adds a new widget of your own to the user's dashboard: a note (Markdown), HTML, a table or a chart.

    Use it only when the user wants something on the dashboard.
    """

    model_config = ConfigDict(extra="ignore")

    widget_type: Literal["chart", "table", "note", "html"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    text: str = Field(default="", description="Of a note or of HTML: what it says.")
    rows: list[dict[str, JsonValue]] = Field(
        default_factory=list, description="Of a table or chart: one object for each row."
    )
    chart_type: Literal["line", "bar", "scatter", "pie", "donut"] | None = None
    x: str = Field(default="", description="Of a chart: the key of the x axis, or of the labels.")
    y: list[str] = Field(default_factory=list, description="Of a chart: the keys with numbers.")
    tab: str = Field(default="", description="The tab to put it on; leave it out for the open one.")


class AddGenerativeWidget(ClientFunction):
    """Offered while the user lets the copilot change the dashboard."""

    name: ClassVar[str] = "add_generative_widget"

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """One tool for all kinds of widget."""
        if may_be_changed(situation.spec, situation.query):
            yield self.offer(GenerativeWidget, _arguments)


def _arguments(call: ToolCall) -> JsonObject:
    given = read_arguments(GenerativeWidget, call)
    data: Json = given.text if given.widget_type in ("note", "html") else list(given.rows)
    if not data:
        what = "text" if isinstance(data, str) else "rows"
        raise ToolMistake(f"A widget of the type {given.widget_type!r} needs {what!r}.")
    arguments: dict[str, Json] = {
        "widget_type": given.widget_type,
        "data": data,
        "name": given.name,
    }
    if given.description:
        arguments["description"] = given.description
    if given.widget_type == "chart":
        arguments["chart_params"] = _chart_params(given)
    if given.tab:
        arguments["inner_tab"] = given.tab
    return arguments


def _chart_params(given: GenerativeWidget) -> JsonObject:
    columns = list(dict.fromkeys(key for row in given.rows for key in row))
    if given.chart_type is None or not given.x or not given.y:
        raise ToolMistake("A chart needs 'chart_type', 'x' and at least one key in 'y'.")
    for key in (given.x, *given.y):
        if key not in columns:
            raise ToolMistake(
                f"The rows have no column {key!r}. Their columns: {', '.join(columns)}."
            )
    params: dict[str, Json] = {
        "chartType": given.chart_type,
        "xKey": given.x,
        "yKey": list(given.y),
    }
    if given.chart_type in _ROUND:
        params |= {"angleKey": given.y[0], "calloutLabelKey": given.x}
    return params
