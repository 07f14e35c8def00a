"""Search for widgets that aren't on the dashboard, and options of a widget's parameters.

Data of the found widgets is then fetched with `get_widget_data`;
`copilot_admin/agent/client/widgets.py` decides which function of Workspace is called for it.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from copilot_admin.agent.client.widget_data import GET_EXTRA_WIDGET_DATA, distinct_widgets
from copilot_admin.agent.client.widgets import best_widgets, listed_widgets, row_text
from copilot_admin.agent.client_functions.base import (
    ClientFunction,
    ToolDefinition,
    ToolScope,
    describe,
)
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.functions import GET_WIDGET_DATA
from protocol.json import Json, JsonObject
from protocol.models import Query, Widget, WidgetParam

MAX_FOUND = 10


class GetExtraWidgetData(ClientFunction):
    """Finds widgets that are not listed, by words. Use it when no listed widget has the data."""

    function = GET_EXTRA_WIDGET_DATA
    only_reads = True

    query: Annotated[str, Field(min_length=1, description="What the widget should show.")]

    @classmethod
    def define_tools(cls, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield the search while there are more widgets than the prompt lists."""

        def answer(call: ToolCall) -> str:
            wanted = read_arguments(cls, call).query
            found = best_widgets(wanted, distinct_widgets(scope.widgets), limit=MAX_FOUND)
            rows = (row_text(one, query=scope.query) for one in found)
            return "\n".join((f"The {GET_WIDGET_DATA} tool can get these:", *rows))

        if listed_widgets(scope.widgets, query=scope.query)[1]:
            schema = describe("find_widgets", cls)
            yield ToolDefinition(schema=schema, function=cls.function, answer=answer)

    @classmethod
    def to_tool_call(cls, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        return GET_WIDGET_DATA, arguments


class GetParamsOptions(ClientFunction):
    """Gets the values that a parameter of a widget may have.

    Use it before `get_widget_data` when a parameter is listed with `"options": "ask"` and you do
    not know the exact value.
    """

    function = "get_params_options"
    only_reads = True
    label = "Options of parameters"

    widget: str = Field(description="The id of an offered widget, exactly as listed.")
    param: str = Field(description="The name of its parameter.")

    def build(self, scope: ToolScope) -> JsonObject:
        widgets = [one for one in scope.widgets if _params_to_ask(one)]
        named = (one for one in widgets if self.widget in (one.ref, one.widget_id, one.name))
        if (widget := next(named, None)) is None:
            ids = join_names(one.ref for one in widgets)
            raise ToolMistake(
                f"There are no options to get for {quote(self.widget)}. Widgets with some: {ids}."
            )
        params = _params_to_ask(widget)
        if self.param not in params:
            raise ToolMistake(
                f"The parameter {quote(self.param)} of {quote(widget.ref)} has no options to get. "
                f"Those that have: {join_names(params)}."
            )
        query: JsonObject = {
            "origin": widget.origin,
            "id": widget.widget_id,
            "param": self.param,
            "options_endpoint_input_args": _inherited_values(params[self.param], widget),
        }
        return {"param_options_queries": [query]}

    @classmethod
    def is_available(cls, scope: ToolScope) -> bool:
        return any(map(_params_to_ask, scope.widgets))

    @classmethod
    def to_tool_call(cls, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """Return the first query, because only one is ever sent."""
        match arguments:
            case {"param_options_queries": [Mapping() as sent, *_]}:
                wanted = (sent.get("origin"), sent.get("id"))
                refs = (w.ref for w in query.widgets.all() if (w.origin, w.widget_id) == wanted)
                widget = next(refs, f"{wanted[0]}/{wanted[1]}")
                return cls.function, {"widget": widget, "param": sent.get("param")}
        return cls.function, {}


def _params_to_ask(widget: Widget) -> dict[str, WidgetParam]:
    return {one.name: one for one in widget.params if one.get_options and not one.options}


def _inherited_values(param: WidgetParam, widget: Widget) -> dict[str, Json]:
    values = widget.input_args()
    rows = ((row.get("name"), row.get("inherit_value_from")) for row in param.options_params)
    return {
        name: values[source]
        for name, source in rows
        if isinstance(name, str) and isinstance(source, str) and source in values
    }
