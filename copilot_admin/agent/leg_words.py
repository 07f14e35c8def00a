"""What a leg says: what stands before its first words, thoughts, warnings, and what it owes."""

from collections.abc import Iterable, Iterator, Sequence

from copilot_admin.agent.client.widget_data import DataPlan
from copilot_admin.agent.reply import ReplyText
from copilot_admin.agent.steps import (
    steps_at_start,
    steps_before_call,
    steps_before_words,
)
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.agent.warning_events import warning_events
from protocol.events import Event, FunctionCall, MessageChunk, StatusLevel, StatusUpdate
from protocol.models import Generation, Query

THINKING = "Thinking about the question"


class LegWords:
    """What was said in a leg, and what is said next.

    Args:
        spec: Of the copilot.
        query: With what the server remembers.
        plan: What is done about widget data.
        problems: What the answer does without: files that could not be read, data that did not
            fit or was not asked for.
        max_bytes: Of the answer.

    Attributes:
        begun: Whether the client has words of this leg.
        thoughts: Since the last words; only where they are shown.
        owed: Refusals that nobody but the model was told of.
    """

    def __init__(
        self,
        spec: CopilotSpec,
        *,
        query: Query,
        plan: DataPlan,
        problems: Sequence[str],
        max_bytes: int,
    ) -> None:
        self.reply = ReplyText(max_bytes=max_bytes)
        self.begun = False
        self.thoughts: list[str] = []
        self.owed: list[str] = []
        self._spec = spec
        self._query = query
        self._plan = plan
        self._problems = problems
        self._opened = False

    def opening(self) -> Iterator[Event]:
        """What stands before the first words: once, and only in a leg that answers."""
        if self._opened:
            return
        self._opened = True
        begins = self._plan.budget.in_all == 0
        yield from steps_before_words(self._spec, query=self._query, begins=begins)
        for problem in self._problems:
            yield from self._told(problem)
        if self._plan.missing:
            yield from warning_events(self._plan.refusal)
            yield MessageChunk("\n\n")

    def say(self, text: str) -> Iterator[Event]:
        """The events that show a piece of text to the client."""
        yield from self.opening()
        if text and self.owed:
            yield from self._pay()
        if text:
            yield from self._show_thoughts()
            self.begun = True
            yield MessageChunk(text)

    def think(self, text: str) -> str:
        """Takes thoughts of the model, which are shown before what follows where that is wished.

        Returns:
            What may be kept of them.
        """
        kept = self.reply.think(text)
        if self._spec.reasoning_steps and self._spec.show_steps:
            self.thoughts.append(kept)
        return kept

    def end_thought(self) -> Iterator[Event]:
        """The step of a thought that no words follow: a tool, or the end."""
        if self.thoughts:
            yield from self.opening()
            yield from self._show_thoughts()

    def before_call(self, call: FunctionCall) -> Iterator[Event]:
        """What is shown before a call of the client: steps, and never words."""
        begins = self._plan.budget.in_all == 0 and not self._opened
        yield from steps_at_start(self._spec) if begins else ()
        yield from self._show_thoughts()
        yield from steps_before_call(call, self._spec, query=self._query, begins=False)
        for sentence in self.owed:
            yield StatusUpdate(message=sentence, level=StatusLevel.WARNING)

    def warn(self, sentence: str) -> Iterator[Event]:
        """The events that show a warning, apart from the text before it."""
        yield from self.say(self.reply.release())
        yield from self.say("\n\n" if self.reply.shown else "")
        yield from warning_events(sentence)

    def held_back(self) -> Iterator[Event]:
        """The events of words that were held back for a call that did not come."""
        text = self.reply.release()
        if text:
            yield from self.say(text)

    def let_out(self) -> Iterator[Event]:
        """All that is still to be said: words that were held back, and what is owed."""
        yield from self.held_back()
        if self.owed:
            yield from self._pay()

    def owe(self, sentences: Iterable[str]) -> None:
        """Keeps sentences for later: where a call may follow, words would be in its way."""
        self.owed += (one for one in sentences if one not in self.owed)

    def behind_words(self, events: Sequence[Event]) -> Iterator[Event]:
        """Events of a tool, behind whatever was held back."""
        if events:
            yield from self.say(self.reply.release())
            said = any(not isinstance(event, StatusUpdate) for event in events)
            self.reply.shown = self.reply.shown or said
            yield from events

    def _show_thoughts(self) -> Iterator[Event]:
        thought, self.thoughts = "".join(self.thoughts).strip(), []
        if thought:
            yield StatusUpdate(message=THINKING, details=({"Thought": thought},))

    def _told(self, problem: str) -> Iterator[Event]:
        if self._query.generation is Generation.ONE:
            yield MessageChunk(f"{problem}\n\n")
        else:
            yield StatusUpdate(message=problem, level=StatusLevel.WARNING)

    def _pay(self) -> Iterator[Event]:
        owed, self.owed = self.owed, []
        if self.begun:
            yield MessageChunk("\n\n")
        for sentence in owed:
            yield from warning_events(sentence)
            yield MessageChunk("\n\n")
