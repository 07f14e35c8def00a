"""Answers one query: the loop between the model and its tools."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from copilot_admin.agent.client.client_state import (
    merge_carried_state,
    restore_client_state,
    waiting_calls,
)
from copilot_admin.agent.client.widget_data import DataCall, DataPlan, data_call_event, plan_data
from copilot_admin.agent.client_functions.agent_tasks import agents_answered
from copilot_admin.agent.components.system_inputs import system_inputs
from copilot_admin.agent.concurrency import is_large, is_long, run_in_thread_if
from copilot_admin.agent.fallback import ModelTargets
from copilot_admin.agent.files.reading import with_files_read
from copilot_admin.agent.files.selection import file_rules
from copilot_admin.agent.image_filter import ImageFilter
from copilot_admin.agent.llm.finish_reasons import truncation
from copilot_admin.agent.llm.model_choice import are_wanted, choose_model, suggestions
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.one_leg import Leg
from copilot_admin.agent.server_tools import ServerTools
from copilot_admin.agent.steps import steps_before_call
from copilot_admin.agent.tools.tool import ToolResult
from copilot_admin.agent.values.answer_request import (
    AnswerRequest,
    DataSeen,
    FallbackUsed,
    FileRead,
    Output,
    StoredTurn,
)
from copilot_admin.agent.values.model_call import Finish, ToolCall, estimated_usage
from copilot_admin.agent.values.tracing import trace_tool
from copilot_admin.agent.values.turn import is_heavy, may_call_client
from copilot_admin.errors import RunError
from protocol.events import Event, FunctionCall
from protocol.models import Query, ResultMessage

_PACE = Pace()


async def answer(request: AnswerRequest, *, pace: Pace = _PACE) -> AsyncGenerator[Output, None]:
    """Streams what the client is to receive, without images that load by themselves; see `_answer`.

    Raises:
        RunError: The answer failed; what there was of it has been yielded.
    """
    safe = ImageFilter(request.spec.html_sources)
    try:
        async with aclosing(_answer(request, pace=pace)) as outputs:
            async for output in outputs:
                for one in safe.take(output):
                    yield one
    except RunError:
        for one in safe.rest():
            yield one
        raise
    for one in safe.rest():
        yield one


async def _answer(request: AnswerRequest, *, pace: Pace) -> AsyncGenerator[Output, None]:
    """Streams what the client is to receive, and facts for the transcript between it.

    The order is start steps, text and artifacts, citations, end steps. The start steps come with
    the first words or with the first call of the client, so that a leg that ends in a call sends
    nothing but steps before it, and one that fails before its first words nothing at all. A leg
    that answers ends with its one Finish, a leg that asks the client for something with the
    FunctionCall. A leg in which other agents have answered already is only finished.

    Raises:
        RunError: The answer failed; what there was of it has been yielded.
    """
    stored_turn = await _recollected(request)
    begin = partial(_begun, request, stored_turn)
    begun = await run_in_thread_if(is_large(request), begin)
    request = begun.request
    for output in begun.outputs:
        yield output
    if begun.plan is None:
        return
    query, files = await with_files_read(
        begun.query, fetch=request.fetch, rules=file_rules(request.spec)
    )
    leg = await _leg(request, query, plan=begun.plan, files=files, pace=pace)
    given: Sequence[Output] = (*files, *map(DataSeen, leg.data_messages))
    for one in given:
        yield one
    leg.take_up(begun.waiting)
    targets = ModelTargets(request, model=leg.model, pace=pace)
    is_asked = not begun.waiting  # else the model has said already what it wants
    while not leg.done:
        if is_asked:
            async with aclosing(_asked(leg, targets)) as outputs:
                async for output in outputs:
                    yield output
        async with aclosing(await _after_round(targets.apply(request), leg, pace=pace)) as outputs:
            async for output in outputs:
                yield output
        is_asked = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """What is clear before files are read.

    Attributes:
        query: With what the server remembers.
        waiting: What the model called in the leg before and nothing was done about.
        plan: What to do about widget data; None where no model is asked.
        outputs: All of a leg that needs no model.
    """

    request: AnswerRequest
    query: Query
    waiting: tuple[ToolCall, ...]
    plan: DataPlan | None = None
    outputs: tuple[Output, ...] = ()


def _begun(request: AnswerRequest, stored_turn: StoredTurn) -> _Begun:
    request = restore_client_state(request, stored_turn)
    query = merge_carried_state(request, stored_turn)
    waiting = waiting_calls(request)
    begun = partial(_Begun, request=request, query=query, waiting=waiting)
    if agents_answered(query) and not waiting:
        return begun(outputs=(Finish("stop"),))
    plan = plan_data(request.spec, query=query, stored_turn=stored_turn)
    if plan.fetch is None:
        return begun(plan=plan)
    return begun(outputs=_fetching(request, query, plan=plan, wanted=plan.fetch))


def _fetching(
    request: AnswerRequest, query: Query, *, plan: DataPlan, wanted: DataCall
) -> tuple[Event, ...]:
    call = data_call_event(wanted, request=request, query=query)
    begins = plan.budget.in_all == 0
    steps = steps_before_call(call, request.spec, query=query, begins=begins)
    return (*steps, call)


async def _asked(leg: Leg, targets: ModelTargets) -> AsyncGenerator[Output, None]:
    call = leg.next_call()
    try:
        async with aclosing(targets.stream(call)) as deltas:
            async for delta in deltas:
                if isinstance(delta, FallbackUsed):
                    yield delta
                    leg.model = delta.model
                    continue
                for output in leg.outputs(delta):
                    yield output
                if leg.reply.full:  # so its tokens are never told
                    yield estimated_usage(call, written=sum(map(len, leg.reply.round_text)))
                    break
    except RunError:
        for output in leg.words.held_back():
            yield output
        raise


async def _leg(
    request: AnswerRequest,
    query: Query,
    *,
    plan: DataPlan,
    files: Sequence[FileRead],
    pace: Pace,
) -> Leg:
    problems = tuple(dict.fromkeys(filter(None, map(_lacks, files))))
    model, _ = choose_model(request.spec, query)
    heavy = is_large(request) or is_heavy(query)
    tools = ServerTools(
        request.spec,
        inputs=system_inputs(request, query, model=model, pace=pace),
        is_large=heavy,
    )
    begin = partial(
        Leg,
        request,
        query=query,
        plan=plan,
        tools=tools,
        model=model,
        problems=problems,
        is_heavy=heavy,
    )
    return await run_in_thread_if(heavy, begin)


def _lacks(file: FileRead) -> str:
    if file.is_known:
        return ""
    is_cut = bool(file.note) and file.pages is not None
    return file.fault or (f"Of the file {file.name!r} {file.note}." if is_cut else "")


async def _recollected(request: AnswerRequest) -> StoredTurn:
    query = request.query
    if not may_call_client(query) and not isinstance(query.messages[-1], ResultMessage):
        return StoredTurn()
    return await request.load_stored_turn()


async def _after_round(
    request: AnswerRequest, leg: Leg, *, pace: Pace
) -> AsyncGenerator[Output, None]:
    heavy = is_large(request) or any(map(is_long, leg.calls))
    function_call = await run_in_thread_if(heavy, leg.client_call)
    if function_call is None and leg.calls:
        return _carried_out(request, leg)
    leg.done = True
    if function_call is None:
        return _closing(request, leg, pace=pace)
    return _calling(leg, function_call)


async def _calling(leg: Leg, call: FunctionCall) -> AsyncGenerator[Output, None]:
    for fact in leg.after_data(call):
        yield fact
    for shown in leg.words.before_call(call):
        yield shown
    yield call


async def _carried_out(request: AnswerRequest, leg: Leg) -> AsyncGenerator[Output, None]:
    results: list[ToolResult] = []
    for event in leg.words.end_thought():
        yield event
    for call in leg.calls:
        with trace_tool(call, request.tracer) as span:
            async with aclosing(leg.carry_out(call)) as steps:
                async for step in steps:
                    if isinstance(step, ToolResult):
                        results.append(step)
                        span.result, span.failed = step.text, step.failed
                    else:
                        yield step
    for event in leg.end_round(results):
        yield event


async def _closing(request: AnswerRequest, leg: Leg, *, pace: Pace) -> AsyncGenerator[Output, None]:
    # Looking for what is quoted of documents of 4,000,000 characters takes two seconds.
    outputs = await run_in_thread_if(leg.is_heavy, partial(tuple, leg.closing()))
    for output in outputs:
        is_end = isinstance(output, Finish) and leg.reply.shown and truncation(output) is None
        if is_end and are_wanted(request):
            async with aclosing(suggestions(request, leg.said, model=leg.model, pace=pace)) as last:
                async for one in last:
                    yield one
        yield output
