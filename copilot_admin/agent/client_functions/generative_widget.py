"""New widgets with content of the model: a note, a table, a chart or HTML."""

from collections.abc import Collection, Iterable
from functools import partial
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue

from copilot_admin.agent.client.workspace import may_be_changed
from copilot_admin.agent.client_functions.base import ClientFunction, ToolDefinition, ToolScope
from copilot_admin.agent.text import map_object_texts
from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from copilot_admin.agent.tools.artifacts import (
    MAX_SERIES,
    check_columns,
    describe_text_on_x,
    has_text,
)
from copilot_admin.agent.tools.html import MAX_CHARACTERS, prepare_html
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.json import Json, JsonObject


class ChartParams(BaseModel):
    """Form in which rows are drawn."""

    chartType: Literal["line", "bar", "scatter", "pie", "donut"]
    xKey: str = Field(default="", description="The key of the x axis.")
    yKey: list[str] = Field(
        default_factory=list, max_length=MAX_SERIES, description="The keys with numbers."
    )
    angleKey: str = Field(default="", description="Of pie and donut: the key with numbers.")
    calloutLabelKey: str = Field(default="", description="Of pie and donut: the key of labels.")


class GenerativeWidget(BaseModel):
    """Adds a new widget of your own to the user's dashboard: a note (Markdown), HTML, a table or a chart.

    Use it only when the user wants something on the dashboard.
    """

    widget_type: Literal["chart", "table", "note", "html"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    data: str | list[dict[str, JsonValue]] = Field(
        description="The text of a note or HTML; one object for each row of a table or chart."
    )
    chart_params: ChartParams | None = Field(default=None, description="Of a chart alone.")
    inner_tab: str = Field(
        default="", description="The tab to put it on; leave it out for the open one."
    )


class AddGenerativeWidget(ClientFunction):
    """Available if the copilot may change the dashboard."""

    name = "add_generative_widget"
    label = "New widgets of the copilot's own"
    keeps_texts = True  # the HTML is cleaned as HTML

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield one tool for all kinds of widget."""
        if may_be_changed(scope.spec, scope.query):
            yield self.define_tool(GenerativeWidget, partial(_read, scope.spec.html_sources))


def _read(html_sources: Collection[str], call: ToolCall) -> JsonObject:
    given = read_arguments(GenerativeWidget, call)
    is_text = given.widget_type in ("note", "html")
    if not given.data or isinstance(given.data, str) is not is_text:
        what = "a text" if is_text else "a list of rows"
        raise ToolMistake(f"A widget of the type {given.widget_type!r} needs {what} as 'data'.")
    arguments = given.model_dump(exclude_defaults=True)
    arguments.pop("chart_params", None)
    if given.widget_type == "chart":
        arguments["chart_params"] = _read_chart_params(given)
    cleaned = map_object_texts(arguments, partial(without_remote_images, sources=html_sources))
    if given.widget_type != "html":
        return cleaned
    if len(given.data) > MAX_CHARACTERS:
        raise ToolMistake(f"HTML has {MAX_CHARACTERS} characters at most. Write less.")
    return {**cleaned, "data": prepare_html(str(given.data), sources=html_sources)}


def _read_chart_params(given: GenerativeWidget) -> JsonObject:
    params = given.chart_params
    label = params and (params.xKey or params.calloutLabelKey)
    values = params and (params.yKey or [params.angleKey])
    if not params or not label or not values or not all(values):
        raise ToolMistake(
            "A chart needs 'chart_params' with 'chartType', 'xKey' and at least one key in 'yKey'."
        )
    rows = [row for row in given.data if isinstance(row, dict)]
    check_columns((label, *values), rows=rows)
    if params.chartType == "scatter" and has_text(label, rows=rows):
        raise ToolMistake(describe_text_on_x(label))
    drawn: dict[str, Json] = {
        "chartType": params.chartType,
        "xKey": label,
        "yKey": list(values),
    }
    if params.chartType in ("pie", "donut"):
        drawn["angleKey"] = params.angleKey or values[0]
        drawn["calloutLabelKey"] = params.calloutLabelKey or label
    return drawn
