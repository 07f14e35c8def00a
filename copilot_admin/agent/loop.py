"""The agent loop: answers one query with a model and its tools.

A turn is a question and everything until its answer. A step of it answers one request of the
client: it ends in an answer, or in one function call that the client carries out before it sends
the next request. Within a step the model is called again after each round of server tools.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from copilot_admin.agent.client.client_state import restore_state, waiting_calls
from copilot_admin.agent.client.widget_data import data_call_event, plan_data
from copilot_admin.agent.client_functions.agent_tasks import agents_answered
from copilot_admin.agent.components.inputs import system_inputs
from copilot_admin.agent.files.reading import with_files_read
from copilot_admin.agent.files.selection import file_rules
from copilot_admin.agent.image_filter import ImageFilter
from copilot_admin.agent.llm.finish_reasons import truncation
from copilot_admin.agent.llm.model_choice import choose_model, suggest_questions, wants_suggestions
from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.response_writer import ResponseWriter
from copilot_admin.agent.server_tools import ServerTools
from copilot_admin.agent.step import Step
from copilot_admin.agent.values.answer_request import (
    AnswerRequest,
    DataSeen,
    FallbackUsed,
    FileRead,
    Output,
    Send,
    StoredTurn,
)
from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    ModelTarget,
    estimated_usage,
)
from copilot_admin.agent.values.turn import may_call_client
from copilot_admin.errors import RunError
from protocol.models import ResultMessage


async def answer(request: AnswerRequest, send: Send) -> None:
    """Send events for the client and facts for the transcript, without remote images.

    The order is start steps, text and artifacts, citations, end steps. Start steps are sent with
    the first text or with the client's call. So a step that ends in a call only sends status
    updates before it, and one that fails before its first text sends nothing. The last output is a
    Finish or a FunctionCall.

    Raises:
        RunError: The answer failed; its partial output has been sent.
    """
    filtered = ImageFilter(send, sources=request.spec.html_sources)
    try:
        await _answer(request, filtered.add)
    except RunError:
        filtered.flush()
        raise
    filtered.flush()


async def _answer(request: AnswerRequest, send: Send) -> None:
    stored_turn = await _load_stored_turn(request)
    request = restore_state(request, stored_turn)
    query = request.query
    waiting = waiting_calls(request)
    if agents_answered(query) and not waiting:
        send(Finish("stop"))
        return

    plan = plan_data(request.spec, query=query, stored_turn=stored_turn)
    if plan.fetch is not None:
        data_call = data_call_event(plan.fetch, request=request)
        ResponseWriter(request, send, plan=plan, problems=()).write_before_call(data_call)
        send(data_call)
        return

    query, files = await with_files_read(query, fetch=request.fetch, rules=file_rules(request.spec))
    model, _ = choose_model(request.spec, query)
    tools = ServerTools(request.spec, inputs=system_inputs(request, query, model=model))
    request = replace(request, query=query)
    problems = tuple(dict.fromkeys(filter(None, map(_describe_missing, files))))
    step = Step(request, send, plan=plan, tools=tools, problems=problems)
    facts: list[Output] = [*files, *map(DataSeen, step.data_messages)]
    for fact in facts:
        send(fact)
    step.resume(waiting)
    targets = ModelTargets(request, model=model)
    needs_model = not waiting
    while True:
        if needs_model:
            await _ask_model(step, targets, send)
        call = step.client_call()
        if call is not None:
            step.end_in_call(call)
            return
        if not step.calls:
            break
        await step.run_tools()
        needs_model = True

    finish = await step.end()
    if step.writer.has_content and truncation(finish) is None and wants_suggestions(request):
        await suggest_questions(request, step.messages, send, target=targets.current)
    send(finish)


async def _load_stored_turn(request: AnswerRequest) -> StoredTurn:
    query = request.query
    if not may_call_client(query) and not isinstance(query.messages[-1], ResultMessage):
        return StoredTurn()  # the answer doesn't depend on it
    return await request.load_stored_turn()


def _describe_missing(file: FileRead) -> str:
    if file.is_known:
        return ""
    is_cut = bool(file.note) and file.pages is not None
    return file.fault or (f"Of the file {file.name!r} {file.note}." if is_cut else "")


async def _ask_model(step: Step, targets: "ModelTargets", send: Send) -> None:
    call = step.next_model_call(model=targets.current.model)
    try:
        async with aclosing(targets.stream(call)) as deltas:
            async for delta in deltas:
                step.add(delta)
                if step.writer.is_full:  # the stream ends before its usage
                    send(estimated_usage(call, written=len(step.writer.round_text)))
                    break
    except RunError:
        step.writer.flush_preamble()
        raise


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

    @property
    def current(self) -> ModelTarget:
        return self._left[0]

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
