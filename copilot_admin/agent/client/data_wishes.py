"""What the model's calls of `get_widget_data` ask for, as one client function call a leg."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from copilot_admin.agent.client.call_size import MOST_SOURCES, at_once, check_arguments
from copilot_admin.agent.client.widget_data import (
    GET_EXTRA_WIDGET_DATA,
    DataCall,
    DataPlan,
    Identity,
    identity,
    source_for,
)
from copilot_admin.agent.client.widget_offer import NamedWidgets
from copilot_admin.agent.toolkits.texts import listed, quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake, read_arguments, schema_of
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.functions import GET_WIDGET_DATA, DataSource
from protocol.json import Json
from protocol.models import Generation, Query, Widget


class WantedWidget(BaseModel):
    """One widget that the model wants the data of."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(description="The id of an offered widget, exactly as listed.")
    params: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="Parameters that differ from the listed values; leave it out otherwise.",
    )


class GetWidgetData(BaseModel):
    """The arguments of the tool `get_widget_data`."""

    model_config = ConfigDict(extra="ignore")

    widgets: Annotated[
        list[WantedWidget],
        Field(min_length=1, max_length=MOST_SOURCES, description="What to get."),
    ]

    @model_validator(mode="before")
    @classmethod
    def _as_workspace_names_them(cls, given: Any) -> Any:
        match given:
            case {"widgets": _}:
                return given
            case {"data_sources": [*sources]}:
                return {"widgets": [_as_wanted(one) for one in sources]}
            case {"widget_uuids": [*uuids]}:
                return {"widgets": [{"id": uuid} for uuid in uuids]}
            case {"widget_uuid": uuid}:
                return {"widgets": [{"id": uuid}]}
        return given


def _as_wanted(source: Any) -> Any:
    match source:
        case {"widget_uuid": str(uuid)}:
            return {"id": uuid, "params": source.get("input_args") or {}}
        case {"origin": origin, "id": id}:
            return {"id": f"{origin}/{id}", "params": source.get("input_args") or {}}
    return source


_WHEN = (
    "Gets the current data of one or more widgets of the user's dashboard. Use it whenever the "
    "answer depends on what a widget shows"
)
TOOL = ToolSchema(
    name=GET_WIDGET_DATA,
    description=f"{_WHEN}, and ask for all you need in one call.",
    parameters=schema_of(GetWidgetData),
)
_ONE_AT_A_TIME = replace(
    TOOL,
    description=f"{_WHEN}. The client gives the data of one widget at a time, and of more than one "
    "the first: call it again for each of the others.",
)


def tool_in(generation: Generation) -> ToolSchema:
    """The tool as a model is told of it."""
    return _ONE_AT_A_TIME if generation is Generation.ONE else TOOL


@dataclass(frozen=True, slots=True)
class DataWish:
    """A widget that the model wants the data of, and the call in which it says so."""

    call: ToolCall
    wanted: WantedWidget
    widget: Widget
    source: DataSource


def read_wishes(call: ToolCall, *, widgets: NamedWidgets) -> tuple[DataWish, ...]:
    """What one call of `get_widget_data` wants.

    Raises:
        ToolMistake: The arguments are wrong or name a widget that is not offered; the text tells
            the model what would be right.
    """
    return tuple(
        _wish(call, wanted, widgets=widgets)
        for wanted in read_arguments(GetWidgetData, call).widgets
    )


def data_call(
    wishes: Sequence[DataWish], *, plan: DataPlan, query: Query
) -> tuple[DataCall, tuple[ToolCall, ...]]:
    """The client function call for what the model wants, and the calls for what it leaves over.

    A leg makes one call, and a call is for one function: what is on the dashboard goes first, as
    much of it as may be asked for at once. Generation 1 asks for one widget a leg.

    Raises:
        ToolMistake: All of it is there already.
    """
    new = _distinct(one for one in wishes if _identity(one) not in plan.had)
    if not new:
        named = listed(dict.fromkeys(quoted(one.wanted.id) for one in wishes))
        raise ToolMistake(f"The data of {named} is already above; answer from it.")
    extra = _extra_refs(query) if query.generation is Generation.THREE else frozenset()
    own = [one for one in new if one.widget.ref not in extra]
    function = GET_WIDGET_DATA if own else GET_EXTRA_WIDGET_DATA
    now = own or new
    if query.generation is Generation.ONE:
        now = now[:1]
    sources = at_once(one.source for one in now)
    asked = {id(source) for source in sources}
    later = [one for one in new if id(one.source) not in asked]
    return DataCall(function=function, sources=sources), _calls_for(later)


def _wish(call: ToolCall, wanted: WantedWidget, *, widgets: NamedWidgets) -> DataWish:
    widget = widgets.find(wanted.id, params=wanted.params)
    source = source_for(widget, params=wanted.params)
    check_arguments(call.name, source.to_json())
    return DataWish(call, wanted, widget, source)


def _extra_refs(query: Query) -> frozenset[str]:
    own = {widget.ref for widget in (*query.widgets.primary, *query.widgets.secondary)}
    return frozenset(widget.ref for widget in query.widgets.extra) - own


def _calls_for(wishes: Sequence[DataWish]) -> tuple[ToolCall, ...]:
    widgets: dict[ToolCall, list[Json]] = {}
    for one in wishes:
        widgets.setdefault(one.call, []).append(one.wanted.model_dump(exclude_defaults=True))
    return tuple(
        replace(call, arguments=json.dumps({"widgets": wanted})) for call, wanted in widgets.items()
    )


def _distinct(wishes: Iterable[DataWish]) -> list[DataWish]:
    found: dict[Identity, DataWish] = {}
    for wish in wishes:
        found.setdefault(_identity(wish), wish)
    return [*found.values()]


def _identity(wish: DataWish) -> Identity:
    return identity(wish.source, widget=wish.widget)
