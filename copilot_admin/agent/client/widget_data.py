"""Widget data that was asked for, and how a turn continues with it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import json
from typing import TypeAlias

from copilot_admin.agent.client.call_budget import WIDGET_DATA_WORDS, CallBudget, call_budget
from copilot_admin.agent.client.call_size import at_once
from copilot_admin.agent.client.memory import memory_in
from copilot_admin.agent.values.engine_input import EngineInput, Exchange, Recollection
from copilot_admin.agent.values.records import FEATURE, is_uploaded
from copilot_admin.agent.values.spec import CopilotSpec, WidgetDataMode
from copilot_admin.agent.values.turn import data_results, fetched_in_turn, messages_of_turn
from protocol.functions import GET_WIDGET_DATA, DataSource
from protocol.json import Json
from protocol.models import AiMessage, Generation, HumanMessage, Query, ResultMessage, Widget

GET_EXTRA_WIDGET_DATA = "get_extra_widget_data"
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
        budget: What is left of the calls that the question may make.
        missing: Names of the widgets that should have been fetched and cannot be.
        left_over: How many selected widgets were not asked for, since they are too many at once.
        had: Widgets and arguments whose data is already in this turn.
    """

    fetch: DataCall | None = None
    offered: tuple[Widget, ...] = ()
    had: frozenset[Identity] = frozenset()
    budget: CallBudget
    missing: tuple[str, ...] = ()
    left_over: int = 0

    @property
    def refusal(self) -> str:
        """Why no more data can be had in this turn; empty while it can."""
        return self.budget.refusal(GET_WIDGET_DATA, WIDGET_DATA_WORDS)


def plan_data(spec: CopilotSpec, *, query: Query, recollection: Recollection) -> DataPlan:
    """Decides what of the offered widgets is fetched now, offered to the model, or refused."""
    budget = call_budget(spec, query=query, recollection=recollection)
    if spec.widget_data is WidgetDataMode.OFF:
        return DataPlan(budget=budget)
    fetched = fetched_in_turn(query)
    had = frozenset(identity(one.source, widget=one.widget) for one in fetched)
    if not query.widgets:
        return DataPlan(budget=budget, had=had)
    sent_along, takes_files = _sent_along(query), spec.has(FEATURE)
    askable = [
        widget
        for widget in query.widgets.all()
        if may_be_asked(widget)
        and widget.uuid not in sent_along
        and (takes_files or not is_uploaded(widget))
    ]
    missing = _each_once(askable, without=had)
    # A widget with parameters can be asked again, for other values of them.
    new = {id(widget) for widget in missing}
    offered = tuple(one for one in askable if id(one) in new or one.params)
    wanted = _to_fetch(spec, query, missing)
    left_over = _left_over(spec, query, askable, had=had)
    plan = DataPlan(budget=budget, offered=offered, had=had, left_over=left_over)
    if plan.refusal or not wanted:
        return replace(plan, missing=tuple(map(name_of, wanted)))
    sources = at_once(map(source_for, wanted))
    if query.generation is Generation.ONE:
        sources = sources[:1]
    if not sources:  # each of them is too large
        return replace(plan, left_over=len(wanted))
    return replace(plan, fetch=DataCall(function=GET_WIDGET_DATA, sources=sources))


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
    ask for all of them at once, or as many as may be, at the human message and never again.
    """
    new_turn = isinstance(query.messages[-1], HumanMessage)
    first_generation = query.generation is Generation.ONE
    if spec.widget_data is not WidgetDataMode.FETCH or not (new_turn or first_generation):
        return []
    candidates = query.widgets.all() if first_generation else query.widgets.primary
    chosen = {id(widget) for widget in candidates}
    return [widget for widget in missing if id(widget) in chosen]


def _left_over(
    spec: CopilotSpec, query: Query, askable: Sequence[Widget], *, had: frozenset[Identity]
) -> int:
    """Of how many selected widgets no data came after the dashboard was asked for a part of them.

    A leg that follows does not know what the first one asked for, but what is too much at once.
    """
    fetched = bool(had) and spec.widget_data is WidgetDataMode.FETCH
    if not fetched or query.generation is Generation.ONE:
        return 0
    chosen = {id(widget) for widget in query.widgets.primary}
    selected = _each_once(one for one in askable if id(one) in chosen)
    if len(at_once(map(source_for, selected))) == len(selected):
        return 0
    return len(_each_once(selected, without=had))


def _each_once(
    widgets: Iterable[Widget], *, without: frozenset[Identity] = frozenset()
) -> list[Widget]:
    found: dict[Identity, Widget] = {}
    for widget in widgets:
        found.setdefault(identity(source_for(widget), widget=widget), widget)
    return [widget for same, widget in found.items() if same not in without]


def _sent_along(query: Query) -> frozenset[str | None]:
    """Widgets whose data is in the context; only generation 1 sends it there."""
    if query.generation is not Generation.ONE:
        return frozenset()
    return frozenset(item.uuid for item in query.context if item.uuid)


def may_be_asked(widget: Widget) -> bool:
    names = (widget.uuid or "", widget.widget_id)
    return any(names) and not any(name.startswith(_NEVER_ASKED) for name in names)


def identity(source: DataSource, *, widget: Widget | None) -> Identity:
    """What sets the data of a source apart: the widget, and what it was asked with."""
    where = widget.ref if widget else f"{source.origin}/{source.id}"
    return where, json.dumps(source.input_args, sort_keys=True)


def data_was_read(
    engine_input: EngineInput,
    query: Query,
    *,
    exchanges: Iterable[Exchange],
    components: Collection[str],
    taken_up: bool,
) -> bool:
    """Whether data came in this turn before the model wrote its call.

    Data is what the client returned of widgets and of tools that it ran, what components gave, what
    other agents answered, and what came with the question: files and the data of widgets.

    Args:
        engine_input: As the request came.
        query: With its files read.
        exchanges: What server tools gave in this leg.
        components: Names of those that give data.
        taken_up: The call was written in the leg before, with the one whose result has just come.
    """
    if query.context or (not taken_up and _others_answered(query, slug=engine_input.spec.slug)):
        return True
    last = query.messages[-1]
    if taken_up and isinstance(last, ResultMessage):
        memory = memory_in(last, engine_input=engine_input)
        exchanges = memory.exchanges if memory else ()
    earlier = data_results(query, before_last=taken_up)
    return earlier > 0 or any(one.name in components for one in exchanges)


def _others_answered(query: Query, *, slug: str) -> bool:
    said = (one for one in messages_of_turn(query) if isinstance(one, AiMessage))
    return any(one.agent_id not in (None, slug) for one in said)
