"""One leg of a turn: from a request to the answer, or to the call that the client carries out."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from functools import cached_property, partial
from itertools import chain
from typing import assert_never
from uuid import NAMESPACE_URL, UUID, uuid5

from copilot_admin.agent.artifact_names import ArtifactNames, names_in
from copilot_admin.agent.citations import cited_widgets, collected, web_citations
from copilot_admin.agent.client.widget_data import DataPlan, data_was_read, describe_left_over
from copilot_admin.agent.client_functions.registry import function_named
from copilot_admin.agent.client_tools import ClientTools
from copilot_admin.agent.concurrency import is_large, is_long, run_in_thread_if
from copilot_admin.agent.leg_words import LegWords
from copilot_admin.agent.llm.finish_reasons import (
    EMPTY_ANSWER,
    ONLY_THOUGHTS,
    OWN_LIMIT,
    is_out_of_length,
    truncation,
)
from copilot_admin.agent.pictures import NO_PICTURE, picture_artifact
from copilot_admin.agent.prompt.conversation import model_messages
from copilot_admin.agent.server_tools import Cited, ServerTools, ToolOutput
from copilot_admin.agent.steps import steps_at_end
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool import ToolResult
from copilot_admin.agent.tools.tool_arguments import Mistakes, ToolMistake, repeatable
from copilot_admin.agent.values.answer_request import (
    AnswerRequest,
    CalledAfterData,
    ComponentCalled,
    Output,
    Reasoning,
    ServerTool,
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
    TextDelta,
    ToolCall,
    Usage,
    WebSources,
)
from copilot_admin.agent.values.spec import CitationMode
from copilot_admin.agent.values.turn import messages_of_turn
from protocol.events import (
    Citation,
    Event,
    FunctionCall,
    MessageChunk,
)
from protocol.models import Query

MAX_ROUNDS = 8  # a table, a chart, a few mistakes; a model that needs more goes in circles


class Leg:
    """What has happened in a leg, and what follows from it."""

    def __init__(
        self,
        request: AnswerRequest,
        *,
        query: Query,
        plan: DataPlan,
        tools: ServerTools,
        model: str,
        problems: Sequence[str] = (),
        is_heavy: bool = False,
    ) -> None:
        self.done = False
        self.is_heavy = is_heavy  # what is made of the request takes so long that others would wait
        self._calls: list[ToolCall] = []
        self._finish = Finish(None)
        self._request = request
        self._query = query
        self._tools = tools
        self._tools_offered = True
        self._cited: list[Citation] = []  # by components
        self._exchanges: list[ToolExchange] = []  # for a leg after this one
        self._names = ArtifactNames(names_in(query))
        self._mistakes = Mistakes()
        self._client = ClientTools(
            request, query=query, plan=plan, taken=tools.names, mistakes=self._mistakes
        )
        self._taken_up = False  # what is called was written in the leg before
        self._thought = False
        self._round = 0
        self._made = 0
        self.model = model
        cuts: list[str] = []
        self._messages = model_messages(
            request,
            query,
            offered=plan.offered,
            left_over=plan.left_over,
            names=self._client.names_in_history,
            cuts=cuts,
        )
        self.words = _words(request, query, plan, problems=problems, cuts=cuts)
        self.reply = self.words.reply

    def next_call(self) -> ModelCall:
        """Begins a round; the last one offers no tools, so that it ends in an answer."""
        self._round += 1
        self._taken_up = False
        self._calls = []
        self._finish = Finish(None)
        if self._round >= MAX_ROUNDS or self._mistakes.too_many:
            self._tools_offered = False
            self._client.withdraw()
        self.reply.begin_round(hold=self._client.may_be_called)
        return ModelCall(
            model=self.model,
            messages=self._messages,
            tools=(
                *self._client.schemas,
                *(self._tools.schemas if self._tools_offered else ()),
            ),
            parameters=self._request.spec.parameters,
            user=self._request.upstream_user,
        )

    def take_up(self, calls: Sequence[ToolCall]) -> None:
        """Begins with what the model called together with what the client has just carried out."""
        self._calls = list(calls)
        self._taken_up = True
        self._finish = Finish("tool_calls")

    @cached_property
    def _id(self) -> UUID:
        asked = self._request
        return uuid5(NAMESPACE_URL, f"{asked.trace_id} {asked.now.isoformat()}")

    @property
    def data_messages(self) -> Sequence[str]:
        """The Data messages that the model is shown."""
        return tuple(message.text for message in self._messages if message.is_data)

    def outputs(self, delta: Delta) -> Sequence[Output]:
        """What a delta of the model means to the client and the transcript; often one event."""
        match delta:
            case TextDelta(text):
                sendable = self.reply.take(text)
                words = self.words
                if words.begun and sendable and not (words.thoughts or words.owed):
                    return (MessageChunk(sendable),)
                return tuple(words.say(sendable)) if sendable else ()
            case ReasoningDelta(text):
                self._thought = True
                return (Reasoning(self.words.think(text)),)
            case PictureDelta(url):
                return self._show_picture(url)
            case WebSources(sources):
                self._cited += web_citations(sources, answer_id=self._id)
            case Usage():
                return (delta,)
            case ToolCall():
                self._calls.append(delta)
            case Finish():
                self._finish = delta
            case _:
                assert_never(delta)
        return ()

    def _show_picture(self, url: str) -> Sequence[Output]:
        self._made += 1
        picture = picture_artifact(url, id=uuid5(self._id, f"artifact {self._made}"))
        if picture is None:
            return self.outputs(TextDelta(NO_PICTURE))
        return tuple(self.words.behind_words([self._names.named(picture)]))

    @property
    def said(self) -> Sequence[ModelMessage]:
        """The conversation with the model, its last answer included."""
        text = "".join(self.reply.round_text)
        return (*self._messages, ModelMessage(role=ModelRole.ASSISTANT, text=text))

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The tools the model wants; none if its answer was cut, since they may be cut as well."""
        cut = self.reply.full or truncation(self._finish) is not None
        return () if cut or self._round >= MAX_ROUNDS else self._calls

    def client_call(self) -> FunctionCall | None:
        """The function call that the client shall carry out, if the model asked for one rightly."""
        call = self._client.call_for(self.calls, exchanges=self._exchanges)
        return self._names.carried_by(call) if call is not None else None

    def after_data(self, call: FunctionCall) -> Iterator[CalledAfterData]:
        """The fact that a call which does something came after data, where it did."""
        function = function_named(call.function)
        if function is None or function.only_reads:
            return
        if data_was_read(
            self._request,
            self._query,
            exchanges=self._exchanges,
            components=self._tools.component_names,
            taken_up=self._taken_up,
        ):
            yield CalledAfterData(call.function)

    async def carry_out(self, call: ToolCall) -> AsyncGenerator[Output | ToolResult, None]:
        """Runs a tool on the server: its events, and last its result, which is for the model.

        A failure is a result too: its text says what went wrong.
        """
        recorded = False
        try:
            async with aclosing(self._steps_of(call)) as steps:
                async for step in steps:
                    recorded = recorded or isinstance(step, ComponentCalled)
                    for output in self._shown(step):
                        yield output
        except ToolMistake as mistake:
            result = ToolResult(self._mistakes.learn(mistake), failed=True)
            if not recorded:
                yield ServerTool(call.name, call.arguments, result.text)
            yield result

    async def _steps_of(self, call: ToolCall) -> AsyncGenerator[ToolOutput, None]:
        heavy = is_large(self._request) or is_long(call)
        told = await run_in_thread_if(heavy, partial(self._told_here, call))
        if told is not None:
            yield ServerTool(call.name, call.arguments, told)
            yield ToolResult(told)
            return
        self._made += 1
        id = uuid5(self._id, f"artifact {self._made}")
        async with aclosing(self._tools.carry_out(call, id=id)) as steps:
            async for step in steps:
                yield step

    def _told_here(self, call: ToolCall) -> str | None:
        """What the model is told of a call that nothing is run for.

        Raises:
            ToolMistake: A tool that is answered here was called wrongly.
        """
        told = self._client.told(call)
        if told is not None:
            return told
        names = self._tools.names if self._tools_offered else ()
        if call.name in names:
            return None
        tools = join_names((*names, *self._client.names)) or "none"
        mistake = ToolMistake(f"There is no tool called {quote(call.name)}.")
        return f"{self._mistakes.learn(mistake)} Tools: {tools}."

    def _shown(self, step: ToolOutput) -> Iterator[Output | ToolResult]:
        match step:
            case Cited(citations):
                self._cited += citations
            case ToolResult(events=events):
                yield from self.words.behind_words([*map(self._names.named, events)])
                yield step
            case Event():
                yield from self.words.behind_words([self._names.named(step)])
            case _:  # a fact for the transcript
                yield step

    def end_round(self, results: Sequence[ToolResult]) -> Iterator[Event]:
        """Tells the model the results, and the user what went wrong for good."""
        calls = tuple(map(repeatable, self.calls))
        said = ModelMessage(
            role=ModelRole.ASSISTANT, text="".join(self.reply.round_text), tool_calls=calls
        )
        answers = (
            ModelMessage(role=ModelRole.TOOL, text=result.text, tool_call_id=call.id)
            for call, result in zip(self.calls, results, strict=True)
        )
        self._messages = (*self._messages, said, *answers)
        self._exchanges += (
            ToolExchange(call.name, repeated.arguments, result.text, call.extras)
            for call, repeated, result in zip(self.calls, calls, results, strict=True)
            if call.name in self._tools.names
        )
        yield from self._explanations()

    def closing(self) -> Iterator[Output]:
        """Everything after the last words: warnings, citations, end steps and the finish."""
        yield from self.words.let_out()
        yield from self.words.end_thought()
        finish = OWN_LIMIT if self.reply.full else self._finish
        cut = truncation(finish)
        if self._thought and not self.reply.shown and is_out_of_length(finish):
            cut = ONLY_THOUGHTS
        if cut is not None:
            yield from self.words.warn(cut)
        elif not self.reply.shown:
            yield from self.words.warn(EMPTY_ANSWER)
        if self._request.spec.citations is not CitationMode.OFF:
            yield from collected(chain(self._cited_data(), self._cited))
        if cut is None:  # a step such as "Answering complete!" would be a lie
            yield from steps_at_end(self._request.spec)
        yield finish

    def _cited_data(self) -> Iterator[Citation]:
        if not messages_of_turn(self._query):
            return
        with_boxes = self._request.spec.citations is CitationMode.DOCUMENTS
        answer = "".join(self.reply.round_text) if with_boxes else ""
        yield from cited_widgets(self._query, answer_id=self._id, answer=answer)

    def _explanations(self) -> Iterator[Event]:
        refused = self._client.end_round()
        if self._client.may_be_called:
            self.words.owe(refused)
            refused = ()
        for sentence in (*refused, self._mistakes.end_round()):
            if sentence:
                yield from self.words.warn(sentence)
                yield MessageChunk("\n\n")  # the answer goes on in a paragraph of its own


def _words(
    request: AnswerRequest,
    query: Query,
    plan: DataPlan,
    *,
    problems: Sequence[str],
    cuts: Sequence[str],
) -> LegWords:
    left_over = (describe_left_over(plan.left_over),) if plan.left_over else ()
    return LegWords(
        request.spec,
        query=query,
        plan=plan,
        problems=(*problems, *left_over, *cuts),
        max_bytes=request.max_answer_bytes,
    )
