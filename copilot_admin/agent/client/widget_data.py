"""Data of widgets: the decision to fetch, offer or reject it in a step."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
import json
from typing import TypeAlias

from copilot_admin.agent.client.client_state import NO_MEMORY, client_call_event, read_memory
from copilot_admin.agent.client.limits import CallBudget, fit_in_one_call
from copilot_admin.agent.values.answer_request import (
    AnswerRequest,
    Memory,
    StoredTurn,
    ToolExchange,
)
from copilot_admin.agent.values.spec import CopilotSpec, WidgetDataMode
from copilot_admin.agent.values.turn import (
    UPLOAD_FEATURE,
    data_results,
    fetched_in_turn,
    is_uploaded,
    messages_of_turn,
)
from protocol.events import FunctionCall
from protocol.functions import GET_WIDGET_DATA, DataSource, get_widget_data_call
from protocol.json import Json
from protocol.models import AiMessage, Generation, HumanMessage, Query, ResultMessage, Widget

GET_EXTRA_WIDGET_DATA = "get_extra_widget_data"
_NEVER_ASKED = "tab_"  # ids of dashboard tabs: the client can't fetch their data

Identity: TypeAlias = tuple[str, str]  # the same widget with the same arguments: the same data


@dataclass(frozen=True, slots=True)
class DataCall:
    """A client function that returns data of widgets, and its widgets."""

    function: str
    sources: tuple[DataSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan:
    """Decision about widget data in a step."""

    budget: CallBudget
    fetch: DataCall | None = None  # before the model is called
    offered: tuple[Widget, ...] = ()  # the model may request them
    had: frozenset[Identity] = frozenset()  # data that is already in this turn
    missing: tuple[str, ...] = ()  # names of widgets that should have been fetched and can't be

    @property
    def refusal(self) -> str:
        """Return the reason why no more data is fetched in this turn, or an empty text."""
        return self.budget.refusal(GET_WIDGET_DATA, label="")


def data_call_event(
    call: DataCall, *, request: AnswerRequest, memory: Memory = NO_MEMORY
) -> FunctionCall:
    """Return the call that fetches data of widgets."""
    named: list[Json] = [{"origin": one.origin, "widget_id": one.id} for one in call.sources]
    return client_call_event(
        call.function,
        get_widget_data_call(call.sources),
        remembered={"data_sources": named},
        request=request,
        memory=memory,
    )


def plan_data(spec: CopilotSpec, *, query: Query, stored_turn: StoredTurn) -> DataPlan:
    """Decide which widgets to fetch now and which to offer to the model."""
    budget = CallBudget(spec, query=query, stored_turn=stored_turn)
    if spec.widget_data is WidgetDataMode.OFF:
        return DataPlan(budget=budget)
    fetched = fetched_in_turn(query)
    had = frozenset(identity(one.source, widget=one.widget) for one in fetched)
    is_first_generation = query.generation is Generation.ONE
    # Only generation 1 sends data of widgets in the context.
    sent_along = {item.uuid for item in query.context if item.uuid and is_first_generation}
    takes_files = spec.has(UPLOAD_FEATURE)
    askable = [
        widget
        for widget in query.widgets.all()
        if is_fetchable(widget)
        and widget.uuid not in sent_along
        and (takes_files or not is_uploaded(widget))
    ]
    missing = distinct_widgets(askable, without=had)
    # A widget with parameters can be requested again with other values.
    new = {id(widget) for widget in missing}
    offered = tuple(one for one in askable if id(one) in new or one.params)
    plan = DataPlan(budget=budget, offered=offered, had=had)
    # Generation 1 fetches one widget in each step, so it continues in later steps. The others fetch
    # the selected widgets in one call, at the human message.
    chosen = {id(one) for one in query.widgets.all() if is_first_generation}
    if isinstance(query.messages[-1], HumanMessage):
        chosen |= {id(one) for one in query.widgets.primary}
    wanted = [one for one in missing if id(one) in chosen]
    if spec.widget_data is not WidgetDataMode.FETCH or not wanted:
        return plan
    if plan.refusal:
        return replace(plan, missing=tuple(map(name_of, wanted)))
    sources = fit_in_one_call(map(source_for, wanted))
    call = DataCall(GET_WIDGET_DATA, sources[:1] if is_first_generation else sources)
    return replace(plan, fetch=call if sources else None)


def source_for(widget: Widget, *, params: Mapping[str, Json] | None = None) -> DataSource:
    """Return the source of a widget, with the dashboard's arguments overridden by `params`."""
    return DataSource(
        widget_uuid=widget.uuid,
        origin=widget.origin,
        id=widget.widget_id,
        input_args={**widget.input_args(), **(params or {})},
    )


def name_of(widget: Widget) -> str:
    """Return the name of a widget for people."""
    return widget.name or widget.widget_id or widget.ref


def distinct_widgets(
    widgets: Iterable[Widget], *, without: frozenset[Identity] = frozenset()
) -> list[Widget]:
    """Return the widgets without repetitions; a selected one may be on the dashboard as well."""
    found: dict[Identity, Widget] = {}
    for widget in widgets:
        found.setdefault(identity(source_for(widget), widget=widget), widget)
    return [widget for same, widget in found.items() if same not in without]


def is_fetchable(widget: Widget) -> bool:
    names = (widget.uuid or "", widget.widget_id)
    return any(names) and not any(name.startswith(_NEVER_ASKED) for name in names)


def identity(source: DataSource, *, widget: Widget | None) -> Identity:
    """Return the identity of a source's data: the widget and its arguments."""
    where = widget.ref if widget else f"{source.origin}/{source.id}"
    return where, json.dumps(source.input_args, sort_keys=True)


def data_was_read(
    request: AnswerRequest,
    *,
    exchanges: Iterable[ToolExchange],
    components: Collection[str],
    taken_up: bool,
) -> bool:
    """Return true if data was received in this turn before the model wrote its call.

    Data is returned by widgets, tools of the client, components and other agents, or is part of the
    question. `components` are the tools that return data. `taken_up` means that the call was written
    in the previous step, together with the one that the client has just answered.
    """
    query = request.query
    agents = {one.agent_id for one in messages_of_turn(query) if isinstance(one, AiMessage)}
    if query.context or (not taken_up and agents - {None, request.spec.slug}):
        return True
    last = query.messages[-1]
    if taken_up and isinstance(last, ResultMessage):
        memory = read_memory(last.extra_state, request=request)
        exchanges = memory.exchanges if memory else ()
    earlier = data_results(query, before_last=taken_up)
    return earlier > 0 or any(one.name in components for one in exchanges)
