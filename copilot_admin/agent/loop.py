"""The agent loop: answers one query with a model and its tools.

A turn is a question and everything until its answer. A step of it answers one request of the
client: it ends in an answer, or in one function call that the client carries out before it sends
the next request. Within a step the model is called again after each round of server tools.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from copilot_admin.agent.client.client_state import (
    merge_carried_state,
    restore_client_state,
    waiting_calls,
)
from copilot_admin.agent.client.widget_data import data_call_event, plan_data
from copilot_admin.agent.client_functions.agent_tasks import agents_answered
from copilot_admin.agent.components.inputs import system_inputs
from copilot_admin.agent.files.reading import with_files_read
from copilot_admin.agent.files.selection import file_rules
from copilot_admin.agent.image_filter import ImageFilter
from copilot_admin.agent.llm.finish_reasons import truncation
from copilot_admin.agent.llm.model_choice import choose_model, suggest_questions, wants_suggestions
from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.response_writer import steps_before_call
from copilot_admin.agent.server_tools import ServerTools
from copilot_admin.agent.step import Step
from copilot_admin.agent.tools.tool import ToolResult
from copilot_admin.agent.values.answer_request import (
    AnswerRequest,
    DataSeen,
    FallbackUsed,
    FileRead,
    Output,
    StoredTurn,
)
from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    ModelTarget,
    ToolCall,
    estimated_usage,
)
from copilot_admin.agent.values.spec import CitationMode
from copilot_admin.agent.values.tracing import Tracer, trace_tool
from copilot_admin.agent.values.turn import may_call_client
from copilot_admin.errors import RunError
from protocol.models import ResultMessage


async def answer(request: AnswerRequest) -> AsyncGenerator[Output, None]:
    """Stream events for the client and facts for the transcript, without remote images.

    The order is start steps, text and artifacts, citations, end steps. Start steps are sent with
    the first text or with the client's call. So a step that ends in a call only sends status
    updates before it, and one that fails before its first text sends nothing. The last output is a
    Finish or a FunctionCall.

    Raises:
        RunError: The answer failed; its partial output has been yielded.
    """
    image_filter = ImageFilter(request.spec.html_sources)
    try:
        async with aclosing(_answer(request)) as outputs:
            async for output in outputs:
                for filtered in image_filter.take(output):
                    yield filtered
    except RunError:
        for filtered in image_filter.rest():
            yield filtered
        raise
    for filtered in image_filter.rest():
        yield filtered


async def _answer(request: AnswerRequest) -> AsyncGenerator[Output, None]:
    stored_turn = await _load_stored_turn(request)
    request = restore_client_state(request, stored_turn)
    query = merge_carried_state(request, stored_turn)
    waiting = waiting_calls(request)
    if agents_answered(query) and not waiting:
        yield Finish("stop")
        return

    plan = plan_data(request.spec, query=query, stored_turn=stored_turn)
    if plan.fetch is not None:
        data_call = data_call_event(plan.fetch, request=request, query=query)
        begins = plan.budget.in_all == 0
        for update in steps_before_call(data_call, request.spec, query=query, begins=begins):
            yield update
        yield data_call
        return

    query, files = await with_files_read(query, fetch=request.fetch, rules=file_rules(request.spec))
    model, _ = choose_model(request.spec, query)
    tools = ServerTools(request.spec, inputs=system_inputs(request, query, model=model))
    problems = tuple(dict.fromkeys(filter(None, map(_describe_missing, files))))
    step = Step(request, query=query, plan=plan, tools=tools, model=model, problems=problems)
    for file in files:
        yield file
    for text in step.data_messages:
        yield DataSeen(text)
    async with aclosing(_run_step(request, step, waiting=waiting)) as outputs:
        async for output in outputs:
            yield output


async def _load_stored_turn(request: AnswerRequest) -> StoredTurn:
    query = request.query
    if not may_call_client(query) and not isinstance(query.messages[-1], ResultMessage):
        return StoredTurn()  # the answer doesn't depend on it
    return await request.load_stored_turn()


async def _run_step(
    request: AnswerRequest, step: Step, *, waiting: Sequence[ToolCall]
) -> AsyncGenerator[Output, None]:
    targets = ModelTargets(request, model=step.model)
    step.resume(waiting)
    needs_model = not waiting
    while True:
        if needs_model:
            async with aclosing(_ask_model(step, targets)) as outputs:
                async for output in outputs:
                    yield output
        call = step.client_call()
        if call is not None:
            for output in step.end_in_call(call):
                yield output
            return
        if not step.calls:
            break
        async with aclosing(_run_tools(step, request.tracer)) as outputs:
            async for output in outputs:
                yield output
        needs_model = True

    async with aclosing(_end(targets.apply(request), step)) as outputs:
        async for output in outputs:
            yield output


def _describe_missing(file: FileRead) -> str:
    if file.is_known:
        return ""
    is_cut = bool(file.note) and file.pages is not None
    return file.fault or (f"Of the file {file.name!r} {file.note}." if is_cut else "")


async def _ask_model(step: Step, targets: "ModelTargets") -> AsyncGenerator[Output, None]:
    call = step.next_model_call()
    try:
        async with aclosing(targets.stream(call)) as deltas:
            async for delta in deltas:
                if isinstance(delta, FallbackUsed):
                    yield delta
                    step.model = delta.model
                    continue
                for output in step.outputs(delta):
                    yield output
                if step.text.is_full:  # the stream ends before its usage
                    yield estimated_usage(call, written=len(step.text.round_text))
                    break
    except RunError:
        for output in step.writer.flush_buffered():
            yield output
        raise


async def _run_tools(step: Step, tracer: Tracer) -> AsyncGenerator[Output, None]:
    results: list[ToolResult] = []
    for event in step.writer.flush_reasoning():
        yield event
    for call in step.calls:
        with trace_tool(call, tracer) as trace:
            async with aclosing(step.run_tool(call)) as outputs:
                async for output in outputs:
                    if isinstance(output, ToolResult):
                        results.append(output)
                        trace.result, trace.failed = output.text, output.failed
                    else:
                        yield output
    for event in step.end_round(results):
        yield event


async def _end(request: AnswerRequest, step: Step) -> AsyncGenerator[Output, None]:
    # The search for quotes in documents of 4,000,000 characters needs two seconds.
    collect = partial(tuple, step.closing())
    is_slow = request.spec.citations is CitationMode.DOCUMENTS
    for output in await asyncio.to_thread(collect) if is_slow else collect():
        is_whole = isinstance(output, Finish) and step.text.shown and truncation(output) is None
        if is_whole and wants_suggestions(request):
            suggested = suggest_questions(request, step.messages, model=step.model)
            async with aclosing(suggested) as last:
                async for suggestion in last:
                    yield suggestion
        yield output


class ModelTargets:
    """Models for one step, in order; those that failed are not called again."""

    def __init__(self, request: AnswerRequest, *, model: str) -> None:
        spec = request.spec.provider
        own = ModelTarget(model=model, spec=spec, provider=request.provider)
        others = (
            one for one in request.fallbacks if (one.spec.name, one.model) != (spec.name, model)
        )
        self._left = [own, *others]
        self._tracer = request.tracer

    def apply(self, request: AnswerRequest) -> AnswerRequest:
        target = self._left[0]
        spec = replace(request.spec, provider=target.spec)
        return replace(request, provider=target.provider, spec=spec)

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | FallbackUsed, None]:
        """Stream an answer of the first target that gives one; raise the `RunError` of the last."""
        while True:
            target = self._left[0]
            started = False
            stream = stream_model(
                target.provider,
                replace(call, model=target.model),
                timeouts=target.spec.timeouts,
                tracer=self._tracer,
            )
            try:
                async with aclosing(stream) as deltas:
                    async for delta in deltas:
                        started = True
                        yield delta
                return
            except RunError as error:
                if started or len(self._left) == 1:
                    raise
                self._left.pop(0)
                yield FallbackUsed(
                    failed_provider=target.spec.name,
                    failed_model=target.model,
                    error=error.detail or error.public,
                    provider=self._left[0].spec.name,
                    model=self._left[0].model,
                )
