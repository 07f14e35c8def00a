"""A conversation as its page shows it: the chosen path, turn by turn, answer by answer."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.contents import PAGE_LIMITS
from copilot_admin.admin.blocks.kinds import Block, CallResult
from copilot_admin.admin.blocks.results import build_results
from copilot_admin.admin.transcripts.paths import (
    Children,
    Siblings,
    children_of,
    siblings_of,
)
from copilot_admin.admin.transcripts.turn_window import PagePlan, without_sentence
from copilot_admin.models import Outcome, TurnState
from copilot_admin.review.reviews import TurnReview
from copilot_admin.transcripts.queries import (
    Attempt,
    Extent,
    MessageView,
    OutlineView,
    RunView,
    TurnOutline,
    TurnView,
    attempts_of,
)

# Formatting a million characters takes 0.5 s for prose and up to 10 s for texts of marks alone.
MOST_FORMATTED_PER_PAGE = 60_000
MOST_HISTORY = 20  # foreign messages before a question, or after the last turn
# More events of one request, or requests with one question, than that nobody reads in a row.
EXTENT = Extent(events=300, runs=100)
NO_REVIEWS: Mapping[int, TurnReview] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LegFacts:
    """One request of an attempt.

    Attributes:
        received: Function results that came with it and belong to no call that is shown.
        unshown: How many more came with it.
    """

    run: RunView
    received: tuple[CallResult, ...]
    unshown: int
    blocks: tuple[Block, ...]

    @property
    def ended_badly(self) -> bool:
        """Whether there is something to say about how it ended."""
        return self.run.row.outcome not in (Outcome.COMPLETED, Outcome.RUNNING)

    @property
    def is_running(self) -> bool:
        return self.run.row.outcome == Outcome.RUNNING


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
        """All that was answered in the attempt, leg by leg."""
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
        is_open = self.outline.state in (TurnState.OPEN, TurnState.AWAITING_RESULT)
        return is_open or self.outline.is_running

    @property
    def recent_history(self) -> tuple[MessageView, ...]:
        """The foreign messages right before the question; the others have a page of their own."""
        return self.turn.history[-MOST_HISTORY:] if self.turn else ()

    @property
    def most_requests(self) -> int:
        """How many of its requests are shown at most; 0 where all of them are."""
        is_cut = self.turn is not None and len(self.turn.runs) == EXTENT.runs
        return (EXTENT.runs or 0) if is_cut else 0

    @property
    def is_edited(self) -> bool:
        return self.outline.branches > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """What is shown of a conversation.

    Attributes:
        hidden_turns: Turns on other branches.
        earlier: Turns before the first part that have not even a placeholder, `later` those
            after the last one.
        history: The last messages after the last turn that nothing follows.
        unshown_history: How many more of them there are.
    """

    parts: tuple[TurnPart, ...]
    history: tuple[MessageView, ...]
    unshown_history: int
    hidden_turns: int
    earlier: Sequence[TurnOutline]
    later: Sequence[TurnOutline]

    @property
    def nearest_earlier(self) -> TurnOutline | None:
        """The turn right before the first part."""
        return self.earlier[-1] if self.earlier else None

    @property
    def is_live(self) -> bool:
        return any(part.is_live for part in self.parts)


def page_of(
    plan: PagePlan,
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
        unshown_history=len(plan.outline.rest) - len(history),
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
        received = tuple(build_results(others, limits=PAGE_LIMITS))
        legs.append(
            LegFacts(
                run=run,
                received=received,
                unshown=len(others) - len(received),
                blocks=tuple(
                    without_sentence(
                        build_blocks(run, limits=PAGE_LIMITS, formatted=formatted), run.row.error
                    )
                ),
            )
        )
    return AttemptFacts(number=number, legs=tuple(legs))


def _within_budget(turns: Iterable[TurnView]) -> set[int]:
    left, chosen = MOST_FORMATTED_PER_PAGE, set()
    for turn in turns:
        left -= sum(len(run.answer) for run in turn.runs)
        if left < 0:
            break
        chosen.add(turn.id)
    return chosen
