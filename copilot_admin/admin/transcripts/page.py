"""A conversation as its page shows it: the chosen path, turn by turn, answer by answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass

from copilot_admin.admin.blocks.blocks import answered, blocks_of
from copilot_admin.admin.blocks.contents import ALONE, ON_THE_PAGE, DataExcerpt
from copilot_admin.admin.blocks.kinds import Answered, Block
from copilot_admin.admin.transcripts.attempts import Attempt, attempts_of
from copilot_admin.admin.transcripts.paths import (
    Children,
    Siblings,
    children_of,
    chosen_path,
    siblings_of,
)
from copilot_admin.models import Outcome, TurnState
from copilot_admin.reading import ConversationView, MessageView, RunView, TurnView

# Formatting a million characters takes 0.5 s for prose and up to 10 s for texts of marks alone.
MOST_FORMATTED_PER_PAGE = 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LegFacts:
    """One request of an attempt.

    Attributes:
        received: Function results that came with it and belong to no call that is shown.
    """

    run: RunView
    received: tuple[Answered, ...]
    blocks: tuple[Block, ...]

    @property
    def ended_badly(self) -> bool:
        """Whether there is something to say about how it ended."""
        return self.run.outcome not in (Outcome.COMPLETED, Outcome.RUNNING)

    @property
    def is_running(self) -> bool:
        """Whether its answer is being written."""
        return self.run.outcome == Outcome.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFacts:
    """One attempt at an answer; `number` counts from 1."""

    number: int
    legs: tuple[LegFacts, ...]

    @property
    def last(self) -> RunView:
        """The last run of the attempt."""
        return self.legs[-1].run


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPart:
    """A turn on the page.

    Attributes:
        number: Place on the path, from 1.
        siblings: Other versions of its question.
        answers: Attempts at an answer; the last is the one that counts.
        is_live: It is being answered, or the client is fetching data for it.
    """

    turn: TurnView
    number: int
    siblings: Siblings | None
    answers: tuple[AttemptFacts, ...]
    is_live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """What is shown of a conversation.

    Attributes:
        hidden_turns: Turns on other branches.
        history: Messages after the last turn that nothing follows.
    """

    parts: tuple[TurnPart, ...]
    history: tuple[MessageView, ...]
    hidden_turns: int

    @property
    def is_live(self) -> bool:
        """Whether anything on it may change by itself."""
        return any(part.is_live for part in self.parts)


def page_of(
    view: ConversationView, *, through: int | None = None, all_branches: bool = False
) -> ConversationPage:
    """Decides what the page of a conversation shows.

    Args:
        view: The conversation.
        through: A turn that has to be on it.
        all_branches: Show every turn, depth first.
    """
    turns = view.turns if all_branches else chosen_path(view.turns, through=through)
    children = children_of(view.turns)
    formatted = _within_budget(turns)
    return ConversationPage(
        parts=tuple(
            _part(turn, children, number=number, formatted=turn.id in formatted)
            for number, turn in enumerate(turns, start=1)
        ),
        history=view.history,
        hidden_turns=len(view.turns) - len(turns),
    )


def part_of(view: ConversationView, turn_id: int) -> TurnPart | None:
    """One turn as its page shows it; None when the conversation has no such turn."""
    path = chosen_path(view.turns, through=turn_id)
    children = children_of(view.turns)
    for number, turn in enumerate(path, start=1):
        if turn.id == turn_id:
            return _part(turn, children, number=number, formatted=True)
    return None


def content_by_key(view: ConversationView, key: str) -> DataExcerpt | None:
    """All of a piece of data that a page shows the beginning of."""
    for turn in view.turns:
        for run in turn.runs:
            if not _may_hold(run, key):
                continue
            parts = [*blocks_of(run, room=ALONE, formatted=False)]
            received = [answered(message, room=ALONE) for message in run.received]
            for content in _contents((parts, received)):
                if content.key == key:
                    return content
    return None


def _part(turn: TurnView, children: Children, *, number: int, formatted: bool) -> TurnPart:
    return TurnPart(
        turn=turn,
        number=number,
        siblings=siblings_of(turn, children),
        answers=tuple(
            _answer(attempt, number=place, formatted=formatted)
            for place, attempt in enumerate(attempts_of(turn.runs), start=1)
        ),
        is_live=turn.state in (TurnState.OPEN, TurnState.AWAITING_RESULT)
        or any(run.outcome == Outcome.RUNNING for run in turn.runs),
    )


def _answer(attempt: Attempt, *, number: int, formatted: bool) -> AttemptFacts:
    called: set[int] = set()
    legs = []
    for run in attempt:
        others = [message for message in run.received if message.node_id not in called]
        called |= {result.node_id for result in run.call.results} if run.call else set()
        legs.append(
            LegFacts(
                run=run,
                received=tuple(answered(message) for message in others),
                blocks=tuple(blocks_of(run, room=ON_THE_PAGE, formatted=formatted)),
            )
        )
    return AttemptFacts(number=number, legs=tuple(legs))


def _within_budget(turns: Sequence[TurnView]) -> set[int]:
    """The turns whose text is formatted: the newest ones, as far as the budget goes."""
    left, chosen = MOST_FORMATTED_PER_PAGE, set()
    for turn in reversed(turns):
        left -= sum(len(run.answer) for run in turn.runs)
        if left < 0:
            break
        chosen.add(turn.id)
    return chosen


def _may_hold(run: RunView, key: str) -> bool:
    if key.startswith("r"):
        return key.startswith(f"r{run.id.hex}-")
    messages = [*run.received, *(run.call.results if run.call else ())]
    return any(key.startswith(f"n{message.node_id}-") for message in messages)


def _contents(value: object) -> Iterator[DataExcerpt]:
    if isinstance(value, DataExcerpt):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _contents(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _contents(getattr(value, field.name))
