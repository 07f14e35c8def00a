"""One leg of a turn: from a request to the answer, or to the call that the client carries out."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import assert_never
from uuid import NAMESPACE_URL, uuid5

from copilot_admin.engine.ask import Ask, ComponentCalled, Exchange, Output, ServerTool, Thought
from copilot_admin.engine.citations import cited_widgets
from copilot_admin.engine.client_call import client_call_event, data_call_event
from copilot_admin.engine.client_functions.registry import Offer, Situation, offers_in
from copilot_admin.engine.conversation import model_messages
from copilot_admin.engine.endings import EMPTY_ANSWER, TOO_LONG, truncation
from copilot_admin.engine.model_call import (
    Delta,
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    Usage,
)
from copilot_admin.engine.models import choose_model
from copilot_admin.engine.reply import Reply
from copilot_admin.engine.server_tools import Cited, ServerTools, Step
from copilot_admin.engine.spec import CitationMode, StepPlace
from copilot_admin.engine.steps import steps_at
from copilot_admin.engine.tool_arguments import ToolMistake, repeatable
from copilot_admin.engine.tools.registry import ToolResult
from copilot_admin.engine.warnings import warning_events
from copilot_admin.engine.widget_data import TOOL, DataPlan, read_call
from protocol.events import (
    Citation,
    CitationCollection,
    Event,
    FunctionCall,
    MessageChunk,
    StatusLevel,
    StatusUpdate,
)
from protocol.query import Query

MAX_ROUNDS = 8  # a table, a chart, a few mistakes; a model that needs more goes in circles
THINKING = "Thinking about the question"
MAX_MISTAKES = 2  # a model that is told what is wrong and does it again will do it a third time


class Leg:
    """What has happened in a leg, and what follows from it."""

    def __init__(
        self,
        ask: Ask,
        *,
        query: Query,
        plan: DataPlan,
        tools: ServerTools,
        problems: Sequence[str] = (),
    ) -> None:
        self.reply = Reply(max_bytes=ask.max_answer_bytes)
        self.done = False
        self._calls: list[ToolCall] = []
        self._finish = Finish(None)
        self._ask = ask
        self._query = query
        self._plan = plan
        self._problems = problems  # sentences about files that could not be read
        self._tools = tools
        self._tools_offered = True
        self._cited: list[Citation] = []  # by components
        self._exchanges: list[Exchange] = []  # for a leg after this one
        self._data_offered = bool(plan.offered)
        situation = Situation(spec=ask.spec, query=query, widgets=plan.offered)
        self._offers = offers_in(situation, taken={TOOL.name, *tools.names})
        self._answers: dict[str, str] = {}  # what the model is told of a client call, by its id
        self._opened = False
        self._thoughts: list[str] = []  # since the last words; only where they are shown
        self._round = 0
        self._mistake = ""  # the first one of this round
        self._mistakes = 0  # rounds with a mistake
        self._made = 0
        self._id = uuid5(NAMESPACE_URL, f"{ask.trace_id} {ask.now.isoformat()}")
        self.model, _ = choose_model(ask.spec, query)
        self._messages = model_messages(ask, query, offered=plan.offered)

    def next_call(self) -> ModelCall:
        """Begins a round; the last one offers no tools, so that it ends in an answer."""
        self._round += 1
        self._calls = []
        self._finish = Finish(None)
        if self._round >= MAX_ROUNDS or self._mistakes >= MAX_MISTAKES:
            self._tools_offered, self._data_offered, self._offers = False, False, {}
        self.reply.begin_round(hold=self._may_call_client)
        data_tool = (TOOL,) if self._data_offered else ()
        return ModelCall(
            model=self.model,
            messages=self._messages,
            tools=(
                *data_tool,
                *(offer.schema for offer in self._offers.values()),
                *(self._tools.schemas if self._tools_offered else ()),
            ),
            parameters=self._ask.spec.parameters,
        )

    def take_up(self, calls: Sequence[ToolCall]) -> None:
        """Begins with what the model called together with what the client has just carried out."""
        self._calls = list(calls)
        self._finish = Finish("tool_calls")

    @property
    def data_messages(self) -> Sequence[str]:
        """The Data messages that the model is shown."""
        return tuple(message.text for message in self._messages if message.is_data)

    def opening(self) -> Iterator[Event]:
        """What stands before the first words: once, and only in a leg that answers."""
        if self._opened:
            return
        self._opened = True
        yield from steps_at(StepPlace.START, spec=self._ask.spec)
        for problem in self._problems:
            yield StatusUpdate(message=problem, level=StatusLevel.WARNING)
        if self._plan.missing:
            yield from warning_events(self._plan.refusal)
            yield MessageChunk("\n\n")

    def say(self, text: str) -> Iterator[Event]:
        """The events that show some text."""
        yield from self.opening()
        if text and self._thoughts:
            thought = "".join(self._thoughts).strip()
            self._thoughts = []
            yield StatusUpdate(message=THINKING, details=({"Thought": thought},))
        if text:
            yield MessageChunk(text)

    def warn(self, sentence: str) -> Iterator[Event]:
        """The events that show a warning, apart from the text before it."""
        yield from self.say(self.reply.release())
        yield from self.say("\n\n" if self.reply.shown else "")
        yield from warning_events(sentence)

    def outputs(self, delta: Delta) -> Sequence[Output]:
        """What a delta of the model means to the client and the transcript; often one event."""
        match delta:
            case TextDelta(text):
                sendable = self.reply.take(text)
                if self._opened and sendable and not self._thoughts:
                    return (MessageChunk(sendable),)
                return tuple(self.say(sendable)) if sendable else ()
            case ReasoningDelta(text):
                if self._ask.spec.reasoning_steps and self._ask.spec.show_steps:
                    self._thoughts.append(text)
                return (Thought(text),)
            case Usage():
                return (delta,)
            case ToolCall():
                self._calls.append(delta)
            case Finish():
                self._finish = delta
            case _:
                assert_never(delta)
        return ()

    def held_back(self) -> Iterator[Event]:
        """The events of words that were held back for a call that did not come."""
        text = self.reply.release()
        if text:
            yield from self.say(text)

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
        """The function call that the client shall carry out, if the model asked for one rightly.

        One call ends the leg: widget data first, then whatever the model named first; the next
        leg takes up the others. What cannot be carried out is answered by `carry_out`, like any
        other tool.
        """
        data_calls = [call for call in self.calls if self._is_data_call(call)]
        if data_calls:
            try:
                self._check_client()
                wanted = read_call(data_calls, plan=self._plan, query=self._query)
                return data_call_event(
                    wanted,
                    ask=self._ask,
                    query=self._query,
                    exchanges=self._exchanges,
                    waiting=self._besides(data_calls),
                )
            except _Refused as refused:
                self._answers |= {call.id: refused.text for call in data_calls}
            except ToolMistake as mistake:
                told = self._learn(mistake)
                self._answers |= {call.id: told for call in data_calls}
        for call in self.calls:
            offer = self._offers.get(call.name)
            if offer is not None and (event := self._call_for(offer, call)) is not None:
                return event
        return None

    def _call_for(self, offer: Offer, call: ToolCall) -> FunctionCall | None:
        if offer.arguments is None:
            return None  # it is answered here
        try:
            self._check_client()
            arguments = offer.arguments(call)
        except _Refused as refused:
            self._answers[call.id] = refused.text
            return None
        except ToolMistake as mistake:
            self._answers[call.id] = self._learn(mistake)
            return None
        return client_call_event(
            offer.function,
            arguments,
            remembered=arguments,
            ask=self._ask,
            query=self._query,
            exchanges=self._exchanges,
            waiting=self._besides([call]),
        )

    def _besides(self, made: Sequence[ToolCall]) -> Sequence[ToolCall]:
        return [call for call in self.calls if call not in made]

    def _check_client(self) -> None:
        """Raises `_Refused` when the client cannot be asked for anything more in this turn."""
        if self._plan.refusal:
            raise _Refused(f"{self._plan.refusal} Answer with what you have.")

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
            result = ToolResult(self._learn(mistake))
            if not recorded:
                yield ServerTool(call.name, call.arguments, result.text)
            yield result

    async def _steps_of(self, call: ToolCall) -> AsyncGenerator[Step, None]:
        told = self._told_here(call)
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
        if call.id in self._answers:
            return self._answers[call.id]
        offer = self._offers.get(call.name)
        if offer is not None and offer.answer is not None:
            return offer.answer(call)
        names = self._tools.names if self._tools_offered else ()
        if call.name in names:
            return None
        data_tool = (TOOL.name,) if self._data_offered else ()
        listed = ", ".join((*names, *data_tool, *self._offers))
        mistake = ToolMistake(f"There is no tool called {call.name!r}.")
        return f"{self._learn(mistake)} Tools: {listed or 'none'}."

    def _shown(self, step: Step) -> Iterator[Output | ToolResult]:
        """What a step shows, behind whatever was held back."""
        match step:
            case Cited(citations):
                self._cited += citations
            case ToolResult(events=events):
                yield from self._behind_words(events)
                yield step
            case Usage() | ServerTool() | ComponentCalled():
                yield step
            case _:
                yield from self._behind_words((step,))

    def _behind_words(self, events: Sequence[Event]) -> Iterator[Event]:
        if events:
            yield from self.say(self.reply.release())
            said = any(not isinstance(event, StatusUpdate) for event in events)
            self.reply.shown = self.reply.shown or said
            yield from events

    def end_round(self, results: Sequence[ToolResult]) -> Iterator[Event]:
        """Tells the model the results, and the user what went wrong for good."""
        said = ModelMessage(
            role=ModelRole.ASSISTANT,
            text="".join(self.reply.round_text),
            tool_calls=tuple(map(repeatable, self.calls)),
        )
        answers = (
            ModelMessage(role=ModelRole.TOOL, text=result.text, tool_call_id=call.id)
            for call, result in zip(self.calls, results, strict=True)
        )
        self._messages = (*self._messages, said, *answers)
        self._exchanges += (
            Exchange(call.name, repeatable(call).arguments, result.text)
            for call, result in zip(self.calls, results, strict=True)
            if call.name in self._tools.names
        )
        yield from self._explanations()

    def closing(self) -> Iterator[Output]:
        """Everything after the last words: warnings, citations, end steps and the finish."""
        yield from self.held_back()
        finish = TOO_LONG if self.reply.full else self._finish
        cut = truncation(finish)
        if cut is not None:
            yield from self.warn(cut)
        elif not self.reply.shown:
            yield from self.warn(EMPTY_ANSWER)
        if self._ask.spec.citations is not CitationMode.OFF:
            with_boxes = self._ask.spec.citations is CitationMode.DOCUMENTS
            answer = "".join(self.reply.round_text) if with_boxes else ""
            cited = cited_widgets(self._query, answer_id=self._id, answer=answer)
            citations = (*(cited.citations if cited else ()), *self._cited)
            yield from (CitationCollection(citations),) if citations else ()
        if cut is None:  # a step such as "Answering complete!" would be a lie
            yield from steps_at(StepPlace.END, spec=self._ask.spec)
        yield finish

    @property
    def _may_call_client(self) -> bool:
        """Whether this round may still end in a client function call."""
        offered = self._data_offered or bool(self._offers)
        return offered and not self._plan.refusal

    def _is_data_call(self, call: ToolCall) -> bool:
        return self._data_offered and call.name == TOOL.name

    def _learn(self, mistake: ToolMistake) -> str:
        """Remembers what the model did wrong in this round, and returns what it is told."""
        self._mistake = self._mistake or mistake.public
        return mistake.public

    def _explanations(self) -> Iterator[Event]:
        if self._answers and self._plan.refusal:
            self._data_offered, self._offers = False, {}
            yield from self.warn(self._plan.refusal)
        self._answers = {}
        if self._mistake:
            self._mistakes += 1
            if self._mistakes == MAX_MISTAKES:
                yield from self.warn(
                    "The model used its tools wrongly more than once, so it answers without them. "
                    f"The last problem: {self._mistake}"
                )
            self._mistake = ""


class _Refused(Exception):
    """The client is not asked for anything more in this turn."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
