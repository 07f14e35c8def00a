"""Valid values of a widget's parameter, if only an endpoint knows them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from pydantic import BaseModel, Field

from copilot_admin.agent.client_functions.base import ClientFunction, ToolDefinition, ToolScope
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.json import Json, JsonObject
from protocol.models import Query, Widget, WidgetParam


class WantedOptions(BaseModel):
    """Gets the values that a parameter of a widget may have.

    Use it before `get_widget_data` when a parameter is listed with `"options": "ask"` and you do
    not know the exact value.
    """

    widget: str = Field(description="The id of an offered widget, exactly as listed.")
    param: str = Field(description="The name of its parameter.")


class GetParamsOptions(ClientFunction):
    """Available while a widget with such a parameter is offered to the model."""

    name = "get_params_options"
    only_reads = True
    label = "Options of parameters"

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield one tool for all widgets."""
        widgets = [one for one in scope.widgets if _params_to_ask(one)]
        if widgets:
            yield self.define_tool(WantedOptions, partial(_make_query, widgets))

    def to_tool_call(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """Return the first query, because only one is ever sent."""
        match arguments:
            case {"param_options_queries": [Mapping() as sent, *_]}:
                wanted = (sent.get("origin"), sent.get("id"))
                refs = (w.ref for w in query.widgets.all() if (w.origin, w.widget_id) == wanted)
                widget = next(refs, f"{wanted[0]}/{wanted[1]}")
                return self.name, {"widget": widget, "param": sent.get("param")}
        return self.name, {}


def _params_to_ask(widget: Widget) -> dict[str, WidgetParam]:
    return {one.name: one for one in widget.params if one.get_options and not one.options}


def _make_query(widgets: Sequence[Widget], call: ToolCall) -> JsonObject:
    wanted = read_arguments(WantedOptions, call)
    for widget in widgets:
        if wanted.widget in (widget.ref, widget.widget_id, widget.name):
            break
    else:
        ids = join_names(widget.ref for widget in widgets)
        raise ToolMistake(
            f"There are no options to get for {quote(wanted.widget)}. Widgets with some: {ids}."
        )
    params = _params_to_ask(widget)
    if wanted.param not in params:
        raise ToolMistake(
            f"The parameter {quote(wanted.param)} of {quote(widget.ref)} has no options to get. "
            f"Those that have: {join_names(params)}."
        )
    query: JsonObject = {
        "origin": widget.origin,
        "id": widget.widget_id,
        "param": wanted.param,
        "options_endpoint_input_args": _inherited_values(params[wanted.param], widget),
    }
    return {"param_options_queries": [query]}


def _inherited_values(param: WidgetParam, widget: Widget) -> dict[str, Json]:
    values = widget.input_args()
    rows = ((row.get("name"), row.get("inherit_value_from")) for row in param.options_params)
    return {
        name: values[source]
        for name, source in rows
        if isinstance(name, str) and isinstance(source, str) and source in values
    }
