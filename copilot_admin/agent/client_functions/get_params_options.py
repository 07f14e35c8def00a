"""The values that a widget's parameter may have, where only an endpoint knows them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from copilot_admin.agent.client.call_budget import CallWords
from copilot_admin.agent.client_functions.registry import ClientFunction, Offer, Situation
from copilot_admin.agent.client_functions.samples import WIDGET_UUID, Sample
from copilot_admin.agent.toolkits.texts import listed, quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments
from copilot_admin.agent.values.model_call import ToolCall
from protocol.json import Json, JsonObject
from protocol.models import Query, Widget, WidgetParam


class GetParamsOptions(BaseModel):
    """Gets the values that a parameter of a widget may have.

    Use it before `get_widget_data` when a parameter is listed with `"options": "ask"` and you do
    not know the exact value.
    """

    model_config = ConfigDict(extra="ignore")

    widget: str = Field(description="The id of an offered widget, exactly as listed.")
    param: str = Field(description="The name of its parameter.")


class ParamsOptions(ClientFunction):
    """Offered while a widget that may be asked for has such a parameter."""

    name: ClassVar[str] = "get_params_options"
    only_reads: ClassVar[bool] = True
    label: ClassVar[str] = "Options of parameters"
    words: ClassVar[CallWords] = CallWords(
        done="Options were already looked up", no_more="no more options are looked up"
    )
    samples: ClassVar[Sequence[Sample]] = (
        Sample(arguments={"widget": WIDGET_UUID, "param": "venue"}),
    )

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """One tool for all widgets."""
        asked = [one for one in situation.widgets if any(map(needs_asking, one.params))]
        if asked:
            yield self.offer(GetParamsOptions, partial(_arguments, asked))

    def recalled(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """The first query, which is the only one we ever ask."""
        match arguments:
            case {"param_options_queries": [Mapping() as asked, *_]}:
                wanted = (asked.get("origin"), asked.get("id"))
                refs = (w.ref for w in query.widgets.all() if (w.origin, w.widget_id) == wanted)
                widget = next(refs, f"{wanted[0]}/{wanted[1]}")
                return self.name, {"widget": widget, "param": asked.get("param")}
        return self.name, {}


def needs_asking(param: WidgetParam) -> bool:
    return param.get_options and not param.options


def _arguments(widgets: Iterable[Widget], call: ToolCall) -> JsonObject:
    wanted = read_arguments(GetParamsOptions, call)
    widgets = tuple(widgets)
    for widget in widgets:
        if wanted.widget in (widget.ref, widget.widget_id, widget.name):
            param = _param(widget, wanted.param)
            query: JsonObject = {
                "origin": widget.origin,
                "id": widget.widget_id,
                "param": param.name,
                "options_endpoint_input_args": dict(_inherited(param, widget)),
            }
            return {"param_options_queries": [query]}
    ids = listed(widget.ref for widget in widgets)
    raise ToolMistake(
        f"There are no options to get for {quoted(wanted.widget)}. Widgets with some: {ids}."
    )


def _param(widget: Widget, name: str) -> WidgetParam:
    asked = {param.name: param for param in widget.params if needs_asking(param)}
    if name not in asked:
        raise ToolMistake(
            f"The parameter {quoted(name)} of {quoted(widget.ref)} has no options to get. "
            f"Those that have: {listed(asked)}."
        )
    return asked[name]


def _inherited(param: WidgetParam, widget: Widget) -> Iterator[tuple[str, Json]]:
    values = widget.input_args()
    for row in param.options_params:
        name, source = row.get("name"), row.get("inherit_value_from")
        if isinstance(name, str) and isinstance(source, str) and source in values:
            yield name, values[source]
