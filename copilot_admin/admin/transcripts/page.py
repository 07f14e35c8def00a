"""A conversation as its page shows it: the chosen path, turn by turn, answer by answer."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from copilot_admin.admin.blocks.blocks import answered, blocks_of
from copilot_admin.admin.blocks.contents import ALONE, ON_THE_PAGE, DataExcerpt, Room
from copilot_admin.admin.blocks.kinds import Answered, ArtifactBlock, Block
from copilot_admin.admin.transcripts.attempts import Attempt, attempts_of
from copilot_admin.admin.transcripts.paths import (
    Children,
    Siblings,
    children_of,
    chosen_path,
    siblings_of,
)
from copilot_admin.admin.transcripts.said_once import without_sentence
from copilot_admin.models import Outcome, TurnState
from copilot_admin.reading import MessageView, OutlineView, RunView, TurnOutline, TurnView
from copilot_admin.review.reviews import TurnReview

# Formatting a million characters takes 0.5 s for prose and up to 10 s for texts of marks alone.
MOST_FORMATTED_PER_PAGE = 60_000
MOST_AT_ONCE = 40_000  # characters; a window shows 3,000
TURNS_AT_ONCE = 6
BEFORE_THE_NAMED = 1  # a turn to see what went before the one that a link leads to
MOST_HISTORY = 20  # foreign messages before a question
MOST_PARTS = 200  # turns and placeholders; of longer conversations a link leads to the others
# Characters of one thing: enough for what is shown of it, and unpacked within a millisecond.
HEAD_OF_BIG_THINGS = 64_000
NO_REVIEWS: Mapping[int, TurnReview] = {}


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

    @property
    def text(self) -> str:
        """All that was said in it."""
        return "\n".join(leg.run.answer for leg in self.legs)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPart:
    """A turn on the page.

    Attributes:
        outline: What is known of it without its texts.
        turn: None for a placeholder: it is fetched when it comes into view.
        number: Place on the path, from 1.
        siblings: Other versions of its question.
        answers: Attempts at an answer; the last is the one that counts.
        review: What reviewers said of it; None where that is not shown.
    """

    outline: TurnOutline
    turn: TurnView | None
    number: int
    siblings: Siblings | None
    answers: tuple[AttemptFacts, ...]
    review: TurnReview | None

    @property
    def is_live(self) -> bool:
        """Whether it may change by itself."""
        is_open = self.outline.state in (TurnState.OPEN, TurnState.AWAITING_RESULT)
        return is_open or self.outline.is_running

    @property
    def recent_history(self) -> tuple[MessageView, ...]:
        """The foreign messages right before the question; the others have a page of their own."""
        return self.turn.history[-MOST_HISTORY:] if self.turn else ()

    @property
    def is_edited(self) -> bool:
        """Whether its question was asked in several versions."""
        return self.outline.branches > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """What is shown of a conversation.

    Attributes:
        hidden_turns: Turns on other branches.
        earlier: Turns before the first part that have not even a placeholder, `later` those
            after the last one.
        history: Messages after the last turn that nothing follows.
    """

    parts: tuple[TurnPart, ...]
    history: tuple[MessageView, ...]
    hidden_turns: int
    earlier: Sequence[TurnOutline]
    later: Sequence[TurnOutline]

    @property
    def nearest_earlier(self) -> TurnOutline | None:
        """The turn right before the first part."""
        return self.earlier[-1] if self.earlier else None

    @property
    def is_live(self) -> bool:
        """Whether anything on it may change by itself."""
        return any(part.is_live for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which turns a page has, and which of them it shows at once.

    Attributes:
        path: All turns to be read one after the other.
        start: Place of the first part on the path, from 0; `end` is the place after the last.
        shown: Ids of the turns that are not left for later.
    """

    outline: OutlineView
    path: Sequence[TurnOutline]
    start: int
    end: int
    shown: frozenset[int]


def plan_of(
    outline: OutlineView, *, through: int | None = None, all_branches: bool = False
) -> Plan:
    """Decides what the page of a conversation shows, before anything of it is read.

    Args:
        outline: The conversation.
        through: A turn that has to be on it; the page begins there, and at the start without it.
        all_branches: Show every turn, depth first.
    """
    path = outline.turns if all_branches else chosen_path(outline.turns, through=through)
    named = next((place for place, turn in enumerate(path) if turn.id == through), 0)
    start = max(0, min(named - MOST_PARTS // 2, len(path) - MOST_PARTS))
    return Plan(
        outline=outline,
        path=path,
        start=start,
        end=min(start + MOST_PARTS, len(path)),
        shown=frozenset(shown_at_once(path[max(named - BEFORE_THE_NAMED, 0) :])),
    )


def shown_at_once(turns: Sequence[TurnOutline]) -> Iterator[int]:
    """The first of some turns: as many as fill a window, fewer when they are long, but one."""
    left = MOST_AT_ONCE
    for turn in turns[:TURNS_AT_ONCE]:
        yield turn.id
        left -= turn.size
        if left < 0:
            return


def page_of(
    plan: Plan,
    turns: Mapping[int, TurnView],
    *,
    history: tuple[MessageView, ...] = (),
    reviews: Mapping[int, TurnReview] = NO_REVIEWS,
) -> ConversationPage:
    """The page, with those of its turns that have been read."""
    children = children_of(plan.outline.turns)
    formatted = _within_budget(turns.values())
    return ConversationPage(
        parts=tuple(
            _part(
                plan.path[place],
                turns.get(plan.path[place].id),
                children,
                number=place + 1,
                formatted=formatted,
                review=reviews.get(plan.path[place].id),
            )
            for place in range(plan.start, plan.end)
        ),
        history=history,
        hidden_turns=len(plan.outline.turns) - len(plan.path),
        earlier=plan.path[: plan.start],
        later=plan.path[plan.end :],
    )


def parts_of(
    outline: OutlineView,
    turns: Mapping[int, TurnView],
    *,
    all_branches: bool = False,
    reviews: Mapping[int, TurnReview] = NO_REVIEWS,
) -> tuple[TurnPart, ...]:
    """Some turns, each as its page shows it."""
    children = children_of(outline.turns)
    formatted = _within_budget(turns.values())
    return tuple(
        _part(
            turn,
            turns[turn.id],
            children,
            number=(place if all_branches else turn.level) + 1,
            formatted=formatted,
            review=reviews.get(turn.id),
        )
        for place, turn in enumerate(outline.turns)
        if turn.id in turns
    )


def content_by_key(turn: TurnView, key: str, *, first: int = 0) -> DataExcerpt | None:
    """All of a piece of data that a page shows the beginning of; a table from one row on."""
    room = replace(ALONE, first=first)
    for content in _contents(_alone(turn, key, room)):
        if content.key == key:
            return content
    return None


def artifact_by_key(turn: TurnView, key: str) -> ArtifactBlock | None:
    """An artifact that a page shows without its chart."""
    blocks = (block for run in turn.runs if _may_hold(run, key) for block in blocks_of(run))
    return next((one for one in blocks if isinstance(one, ArtifactBlock) and one.key == key), None)


def _alone(turn: TurnView, key: str, room: Room) -> Iterator[object]:
    for run in turn.runs:
        if _may_hold(run, key):
            yield tuple(blocks_of(run, room=room, formatted=False))
            yield tuple(answered(message, room=room) for message in run.received)


def _part(
    outline: TurnOutline,
    turn: TurnView | None,
    children: Children,
    *,
    number: int,
    formatted: Collection[int],
    review: TurnReview | None,
) -> TurnPart:
    attempts = attempts_of(turn.runs) if turn else ()
    return TurnPart(
        outline=outline,
        turn=turn,
        number=number,
        siblings=siblings_of(outline, children) if turn else None,
        answers=tuple(
            _answer(attempt, number=place, formatted=outline.id in formatted)
            for place, attempt in enumerate(attempts, start=1)
        ),
        review=review,
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
                blocks=tuple(
                    without_sentence(
                        blocks_of(run, room=ON_THE_PAGE, formatted=formatted), run.error
                    )
                ),
            )
        )
    return AttemptFacts(number=number, legs=tuple(legs))


def _within_budget(turns: Iterable[TurnView]) -> set[int]:
    """The turns whose text is formatted: the first ones, as far as the budget goes."""
    left, chosen = MOST_FORMATTED_PER_PAGE, set()
    for turn in turns:
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
    elif isinstance(value, list | tuple | Iterator):
        for one in value:
            yield from _contents(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _contents(getattr(value, field.name))
