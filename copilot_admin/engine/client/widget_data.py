"""Decides which widgets the client is asked for, and says it as a client function call."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import json
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from copilot_admin.engine.tools.tool_arguments import ToolMistake, read_arguments, schema_of
from copilot_admin.engine.values.engine_input import Recollection
from copilot_admin.engine.values.model_call import ToolCall, ToolSchema
from copilot_admin.engine.values.spec import CopilotSpec, WidgetDataMode
from copilot_admin.engine.values.turn import client_calls, fetched_in_turn
from copilot_admin.engine.values.uploads import FEATURE, is_uploaded
from protocol.functions import GET_WIDGET_DATA, DataSource
from protocol.generations import Generation
from protocol.json import Json
from protocol.messages import HumanMessage
from protocol.query import Query
from protocol.widgets import Widget

GET_EXTRA_WIDGET_DATA = "get_extra_widget_data"
# Each call is a round trip through the user's browser; nobody waits for a fifth.
MAX_CLIENT_CALLS = 4
_IDS_IN_A_SENTENCE = 20
_NEVER_ASKED = "tab_"  # ids of dashboard tabs: the client answers `not_found` to them

Identity: TypeAlias = tuple[str, str]  # the same widget with the same arguments: the same data


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCall:
    """A client function that returns data of widgets, and the widgets to name to it."""

    function: str
    sources: tuple[DataSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan:
    """What to do about widget data in this leg.

    Attributes:
        fetch: To be asked of the client before the model is asked.
        offered: Widgets that the model may ask for through `get_widget_data`.
        refusal: Why no more data can be had in this turn; empty while it can.
        missing: Names of the widgets that should have been fetched and cannot be.
        had: Widgets and arguments whose data is already in this turn.
    """

    fetch: DataCall | None = None
    offered: tuple[Widget, ...] = ()
    had: frozenset[Identity] = frozenset()
    refusal: str = ""
    missing: tuple[str, ...] = ()


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

    widgets: Annotated[list[WantedWidget], Field(min_length=1, description="What to get.")]

    @model_validator(mode="before")
    @classmethod
    def _as_workspace_names_them(cls, given: Any) -> Any:
        """Models that have read of Workspace name widgets as its own function does."""
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


TOOL = ToolSchema(
    name=GET_WIDGET_DATA,
    description=(
        "Gets the current data of one or more widgets of the user's dashboard. Use it whenever "
        "the answer depends on what a widget shows, and ask for all you need in one call."
    ),
    parameters=schema_of(GetWidgetData),
)


def plan_data(spec: CopilotSpec, *, query: Query, recollection: Recollection) -> DataPlan:
    """Decides what of the offered widgets is fetched now, offered to the model, or refused."""
    if spec.widget_data is WidgetDataMode.OFF:
        return DataPlan(refusal=_refusal(query, recollection))
    fetched = fetched_in_turn(query)
    had = frozenset(_identity(one.source, widget=one.widget) for one in fetched)
    sent_along, takes_files = _sent_along(query), spec.has(FEATURE)
    askable = [
        widget
        for widget in query.widgets.all()
        if _may_be_asked(widget)
        and widget.uuid not in sent_along
        and (takes_files or not is_uploaded(widget))
    ]
    missing = [one for one in askable if _identity(source_for(one), widget=one) not in had]
    # A widget with parameters can be asked again, for other values of them.
    new = {id(widget) for widget in missing}
    offered = tuple(one for one in askable if id(one) in new or one.params)
    wanted = _to_fetch(spec, query, missing)
    refusal = _refusal(query, recollection)
    if refusal or not wanted:
        names = tuple(map(name_of, wanted))
        return DataPlan(offered=offered, had=had, refusal=refusal, missing=names)
    batch = wanted[:1] if query.generation is Generation.ONE else wanted
    call = DataCall(function=GET_WIDGET_DATA, sources=tuple(map(source_for, batch)))
    return DataPlan(fetch=call, offered=offered, had=had)


def read_call(calls: Iterable[ToolCall], *, plan: DataPlan, query: Query) -> DataCall:
    """Turns the model's calls of `get_widget_data` into one client function call.

    Raises:
        ToolMistake: The arguments are wrong or name a widget that is not offered; the text tells
            the model what would be right.
    """
    wanted = [one for call in calls for one in read_arguments(GetWidgetData, call).widgets]
    pairs = [_wanted_source(one, plan=plan, query=query) for one in wanted]
    extra = {widget.ref for widget in query.widgets.extra}
    # One call a leg, and one function a call: what is on the dashboard goes first.
    own = [source for widget, source in pairs if widget.ref not in extra]
    only_extra = not own and query.generation is Generation.THREE
    sources = _distinct(own or [source for _, source in pairs])
    return DataCall(
        function=GET_EXTRA_WIDGET_DATA if only_extra else GET_WIDGET_DATA,
        sources=sources[:1] if query.generation is Generation.ONE else sources,
    )


def source_for(widget: Widget, *, params: Mapping[str, Json] | None = None) -> DataSource:
    """The source that asks for a widget, with the dashboard's arguments unless others are given."""
    return DataSource(
        widget_uuid=widget.uuid,
        origin=widget.origin,
        id=widget.widget_id,
        input_args={**widget.input_args(), **(params or {})},
    )


def name_of(widget: Widget) -> str:
    """What people call the widget."""
    return widget.name or widget.widget_id or widget.ref


def _to_fetch(spec: CopilotSpec, query: Query, missing: Sequence[Widget]) -> list[Widget]:
    """The selected widgets that are fetched before the model is asked.

    Generation 1 asks for one widget a leg, so it goes on in the legs after the first; the others
    ask for all of them at once, at the human message and never again.
    """
    new_turn = isinstance(query.messages[-1], HumanMessage)
    first_generation = query.generation is Generation.ONE
    if spec.widget_data is not WidgetDataMode.FETCH or not (new_turn or first_generation):
        return []
    candidates = query.widgets.all() if first_generation else query.widgets.primary
    chosen = {id(widget) for widget in candidates}
    return [widget for widget in missing if id(widget) in chosen]


def _sent_along(query: Query) -> frozenset[str | None]:
    """Widgets whose data is in the context; only generation 1 sends it there."""
    if query.generation is not Generation.ONE:
        return frozenset()
    return frozenset(item.uuid for item in query.context if item.uuid)


def _refusal(query: Query, recollection: Recollection) -> str:
    if recollection.looped:
        return (
            "The dashboard sent the question again without the data it was asked for, so this "
            "answer does without it. Ask again in a new chat if it should not."
        )
    if max(client_calls(query), recollection.client_calls) >= MAX_CLIENT_CALLS:
        return (
            f"The dashboard was already asked for data {MAX_CLIENT_CALLS} times for this "
            "question, so this answer uses what there is. Ask again about fewer widgets."
        )
    return ""


def _may_be_asked(widget: Widget) -> bool:
    names = (widget.uuid or "", widget.widget_id)
    return any(names) and not any(name.startswith(_NEVER_ASKED) for name in names)


def _identity(source: DataSource, *, widget: Widget | None) -> Identity:
    where = widget.ref if widget else f"{source.origin}/{source.id}"
    return where, json.dumps(source.input_args, sort_keys=True)


def _wanted_source(
    wanted: WantedWidget, *, plan: DataPlan, query: Query
) -> tuple[Widget, DataSource]:
    widget = named_widget(wanted.id, params=wanted.params, query=query)
    source = source_for(widget, params=wanted.params)
    if _identity(source, widget=widget) in plan.had:
        raise ToolMistake(f"The data of {wanted.id!r} is already above; answer from it.")
    return widget, source


def named_widget(wanted: str, *, params: Mapping[str, Json], query: Query) -> Widget:
    """The widget that the model names, if it has these parameters.

    Raises:
        ToolMistake: No such widget may be asked for, or it has no such parameter.
    """
    known = [one for one in query.widgets.all() if _may_be_asked(one)]
    widget = _find(wanted, known)
    if widget is None:
        ids = ", ".join(one.ref for one in known[:_IDS_IN_A_SENTENCE])
        raise ToolMistake(f"There is no widget with the id {wanted!r}. Offered ids: {ids}.")
    has = {param.name for param in widget.params}
    unknown = sorted(set(params) - has)
    if unknown:
        names = ", ".join(sorted(has)) or "none"
        raise ToolMistake(
            f"The widget {wanted!r} has no parameter {unknown[0]!r}. Its parameters: {names}."
        )
    return widget


def _find(wanted: str, widgets: Sequence[Widget]) -> Widget | None:
    """The widget the model means: by its id, else by a name that only one widget has."""
    for widget in widgets:
        if widget.ref == wanted:
            return widget
    named = [
        one
        for one in widgets
        if wanted in (one.widget_id, one.name, f"{one.origin}/{one.widget_id}")
    ]
    return named[0] if len(named) == 1 else None


def _distinct(sources: Iterable[DataSource]) -> tuple[DataSource, ...]:
    seen: list[DataSource] = []
    for source in sources:
        if source not in seen:
            seen.append(source)
    return tuple(seen)
