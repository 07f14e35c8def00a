"""State of one step: from a request of the client to the answer, or to a client call."""

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import chain, count
from typing import assert_never
from uuid import NAMESPACE_URL, uuid5

from copilot_admin.agent.artifacts import ArtifactNames, find_artifact_names, picture_artifact
from copilot_admin.agent.citations import cite_web_sources, cite_widgets, collect_citations
from copilot_admin.agent.client.widget_data import DataPlan, data_was_read
from copilot_admin.agent.client_functions.registry import function_named
from copilot_admin.agent.client_tools import ClientTools
from copilot_admin.agent.llm.finish_reasons import (
    EMPTY_ANSWER,
    ONLY_THOUGHTS,
    OWN_LIMIT,
    is_out_of_length,
    truncation,
)
from copilot_admin.agent.prompt.conversation import model_messages
from copilot_admin.agent.response_writer import GAP, ResponseWriter
from copilot_admin.agent.server_tools import ServerTools, ToolOutput
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool import Mistakes, ToolMistake, ToolResult, repeatable
from copilot_admin.agent.values.answer_request import (
    AnswerRequest,
    CalledAfterData,
    ComponentCalled,
    FallbackUsed,
    Send,
    ToolExchange,
)
from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    PictureDelta,
    ReasoningDelta,
    RunNote,
    TextDelta,
    ToolCall,
    Usage,
    WebSources,
)
from copilot_admin.agent.values.spec import CitationMode, StepPlace
from copilot_admin.agent.values.tracing import trace_tool
from protocol.events import Event, FunctionCall

MAX_ROUNDS = 8  # a table, a chart, a few mistakes; a model that needs more is in a loop
PICTURE_LEFT_OUT = "\n\n(The model made a picture that can't be shown here.)\n\n"


class Step:
    """Conversation with the model in one step, and the outputs of its answers.

    The request has the state of earlier steps restored, and the files of its query read. `problems`
    are sentences about files that could not be read.
    """

    def __init__(
        self,
        request: AnswerRequest,
        send: Send,
        *,
        plan: DataPlan,
        tools: ServerTools,
        problems: Sequence[str] = (),
    ) -> None:
        self._request = request
        self._send = send
        self._tools = tools
        self._tools_offered = True
        self._mistakes = Mistakes()
        self._client = ClientTools(request, plan=plan, taken=tools.names, mistakes=self._mistakes)
        cuts: list[str] = []
        names = self._client.names_in_history
        self._messages = model_messages(request, offered=plan.offered, names=names, cuts=cuts)
        self.writer = ResponseWriter(request, send, plan=plan, problems=(*problems, *cuts))
        self._round = 0
        self._calls: list[ToolCall] = []
        self._finish = Finish(None)
        self._is_resumed = False
        self._has_reasoning = False
        self._exchanges: list[ToolExchange] = []  # for the next step
        self._artifact_names = ArtifactNames(find_artifact_names(request.query))
        self._id = uuid5(NAMESPACE_URL, f"{request.trace_id} {request.now.isoformat()}")
        self._artifact_ids = (uuid5(self._id, f"artifact {number}") for number in count(1))

    @property
    def data_messages(self) -> Sequence[str]:
        return tuple(message.text for message in self._messages if message.is_data)

    @property
    def messages(self) -> Sequence[ModelMessage]:
        """The conversation with the model, including its last answer."""
        last = ModelMessage(role=ModelRole.ASSISTANT, text=self.writer.round_text)
        return (*self._messages, last)

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The tool calls of this round; empty if the answer was cut, since they may be cut too."""
        is_cut = self.writer.is_full or truncation(self._finish) is not None
        return () if is_cut or self._round >= MAX_ROUNDS else self._calls

    def next_model_call(self, *, model: str) -> ModelCall:
        """Begin a round; the last one offers no tools, so that it ends in an answer."""
        self._round += 1
        self._is_resumed = False
        self._calls = []
        self._finish = Finish(None)
        if self._round >= MAX_ROUNDS or self._mistakes.too_many:
            self._tools_offered = False
            self._client.withdraw()
        self.writer.begin_round(hold=self._client.may_be_called)
        return ModelCall(
            model=model,
            messages=self._messages,
            tools=(*self._client.schemas, *(self._tools.schemas if self._tools_offered else ())),
            parameters=self._request.spec.parameters,
            user=self._request.upstream_user,
        )

    def resume(self, calls: Sequence[ToolCall]) -> None:
        """Begin with calls that the model made together with the client's call."""
        self._calls = list(calls)
        self._is_resumed = True
        self._finish = Finish("tool_calls")

    def add(self, delta: Delta | FallbackUsed) -> None:
        """Process a delta of the model; send its outputs for the client and the transcript."""
        match delta:
            case TextDelta(text):
                self.writer.add_text(text)
            case ReasoningDelta(text):
                self._has_reasoning = True
                self._send(ReasoningDelta(self.writer.add_reasoning(text)))
            case PictureDelta(url):
                picture = picture_artifact(url, id=next(self._artifact_ids))
                if picture is None:
                    self.writer.add_text(PICTURE_LEFT_OUT)
                else:
                    self.writer.write_after_text([self._artifact_names.rename(picture)])
            case WebSources(sources):
                self._tools.citations += cite_web_sources(sources, answer_id=self._id)
            case Usage() | RunNote() | FallbackUsed():
                self._send(delta)
            case ToolCall():
                self._calls.append(delta)
            case Finish():
                self._finish = delta
            case _:
                assert_never(delta)

    def client_call(self) -> FunctionCall | None:
        """Return the function call for the client, if the model made a valid one."""
        call = self._client.call_for(self.calls, exchanges=self._exchanges)
        return self._artifact_names.carry(call) if call is not None else None

    def end_in_call(self, call: FunctionCall) -> None:
        function = function_named(call.function)
        if (function is not None and not function.only_reads) and data_was_read(
            self._request,
            exchanges=self._exchanges,
            components=self._tools.component_names,
            taken_up=self._is_resumed,
        ):
            self._send(CalledAfterData(call.function))
        self.writer.write_before_call(call)
        self._send(call)

    async def run_tools(self) -> None:
        """Run the server tools of this round and pass their results to the model."""
        self.writer.flush_reasoning()
        results: list[ToolResult] = []
        for call in self.calls:
            with trace_tool(call, self._request.tracer) as trace:
                result = await self._run_tool(call)
                trace.result, trace.failed = result.text, result.failed
            results.append(result)
        self._end_round(results)

    async def _run_tool(self, call: ToolCall) -> ToolResult:
        """Return the result of a server tool, which may report a failure."""
        is_component_recorded = False

        def show(output: ToolOutput) -> None:
            nonlocal is_component_recorded
            if isinstance(output, Event):
                self.writer.write_after_text([self._artifact_names.rename(output)])
                return
            is_component_recorded = is_component_recorded or isinstance(output, ComponentCalled)
            self._send(output)

        try:
            answered = self._answer_without_tool(call)
            if answered is not None:
                self._send(ToolExchange(call.name, call.arguments, answered))
                return ToolResult(answered)
            id = next(self._artifact_ids)
            result = await self._tools.carry_out(call, id=id, show=show)
        except ToolMistake as mistake:
            result = ToolResult(self._mistakes.learn(mistake), failed=True)
            if not is_component_recorded:
                self._send(ToolExchange(call.name, call.arguments, result.text))
            return result
        self.writer.write_after_text([*map(self._artifact_names.rename, result.events)])
        return result

    def _answer_without_tool(self, call: ToolCall) -> str | None:
        answer = self._client.answer_for(call)
        if answer is not None:
            return answer
        names = self._tools.names if self._tools_offered else ()
        if call.name in names:
            return None
        tools = join_names((*names, *(one.name for one in self._client.schemas))) or "none"
        mistake = ToolMistake(f"There is no tool called {quote(call.name)}.")
        return f"{self._mistakes.learn(mistake)} Tools: {tools}."

    def _end_round(self, results: Sequence[ToolResult]) -> None:
        """Pass the results to the model, and failures that can't be retried to the user."""
        calls = tuple(map(repeatable, self.calls))
        with_calls = ModelMessage(
            role=ModelRole.ASSISTANT, text=self.writer.round_text, tool_calls=calls
        )
        answers = (
            ModelMessage(role=ModelRole.TOOL, text=result.text, tool_call_id=call.id)
            for call, result in zip(self.calls, results, strict=True)
        )
        self._messages = (*self._messages, with_calls, *answers)
        self._exchanges += (
            ToolExchange(call.name, repeated.arguments, result.text, call.extras)
            for call, repeated, result in zip(self.calls, calls, results, strict=True)
            if call.name in self._tools.names
        )
        refused = self._client.end_round()
        if self._client.may_be_called:
            self.writer.defer_warnings(refused)
            refused = ()
        for sentence in (*refused, self._mistakes.end_round()):
            if sentence:
                self.writer.warn(sentence)
                self._send(GAP)

    async def end(self) -> Finish:
        """Send everything after the last text but the finish: warnings, citations, end steps."""
        self.writer.flush()
        finish = OWN_LIMIT if self.writer.is_full else self._finish
        problem = truncation(finish)
        is_whole = problem is None
        if not self.writer.has_content:
            if self._has_reasoning and is_out_of_length(finish):
                problem, is_whole = ONLY_THOUGHTS, False
            problem = problem or EMPTY_ANSWER
        if problem is not None:
            self.writer.warn(problem)
        for event in await self._collect_citations():
            self._send(event)
        if is_whole:  # a status such as "Answering complete!" would be false
            self.writer.write_steps(StepPlace.END)
        return finish

    async def _collect_citations(self) -> Sequence[Event]:
        mode = self._request.spec.citations
        if mode is CitationMode.OFF:
            return ()
        has_boxes = mode is CitationMode.DOCUMENTS
        answer = self.writer.round_text if has_boxes else ""
        widgets = cite_widgets(self._request.query, answer_id=self._id, answer=answer)
        collect = partial(tuple, collect_citations(chain(widgets, self._tools.citations)))
        # The search for quotes in documents of 4,000,000 characters needs two seconds.
        return await asyncio.to_thread(collect) if has_boxes else collect()
