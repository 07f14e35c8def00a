"""A conversation as its page shows it: turn by turn, answer by answer."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.contents import FULL_LIMITS, PAGE_LIMITS, DataExcerpt, DisplayLimits
from copilot_admin.admin.blocks.kinds import Block, CallResult, StepsBlock, TextBlock
from copilot_admin.admin.blocks.results import build_results
from copilot_admin.admin.transcripts.turns import PagePlan, Siblings, find_siblings
from copilot_admin.models import Node, Outcome, TurnState
from copilot_admin.review.results import TurnReview
from copilot_admin.transcripts.queries import (
    Attempt,
    Extent,
    RunView,
    Tree,
    TurnPlace,
    TurnView,
    attempts_of,
)

# Formatting a million characters takes 0.5 s for prose and up to 10 s for texts of marks alone.
MAX_FORMATTED = 60_000  # characters of a page
MAX_HISTORY = 20  # foreign messages before a question
EXTENT = Extent(events=300, runs=100)
NO_REVIEWS: Mapping[int, TurnReview] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """One request of an answer.

    Attributes:
        received: Function results that came with it and belong to no call that is shown.
        unshown: Number of further results.
    """

    run: RunView
    received: tuple[CallResult, ...]
    unshown: int
    blocks: tuple[Block, ...]

    @property
    def has_problem(self) -> bool:
        outcome = self.run.row.outcome
        return bool(self.run.row.error) or outcome not in (Outcome.COMPLETED, Outcome.RUNNING)

    @property
    def is_running(self) -> bool:
        return self.run.row.outcome == Outcome.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """One attempt at an answer; `number` counts from 1."""

    number: int
    runs: tuple[RunPart, ...]

    @property
    def last(self) -> RunView:
        return self.runs[-1].run

    @property
    def text(self) -> str:
        return "\n".join(part.run.answer for part in self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPart:
    """A turn on the page.

    Attributes:
        turn: None for a placeholder.
        number: Place on the path, from 1.
        siblings: Versions of an edited question.
        answers: Attempts at an answer; the last one counts.
        review: Notes and verdicts; None for a placeholder.
    """

    place: TurnPlace
    turn: TurnView | None
    number: int
    siblings: Siblings | None
    answers: tuple[AnswerPart, ...]
    review: TurnReview | None

    @property
    def is_live(self) -> bool:
        outcomes = [run.row.outcome for run in self.turn.runs] if self.turn else []
        is_open = self.place.state in (TurnState.OPEN, TurnState.AWAITING_RESULT)
        return is_open or Outcome.RUNNING in outcomes

    @property
    def has_error(self) -> bool:
        """True if an answer ended otherwise than completed."""
        good = (Outcome.RUNNING, Outcome.COMPLETED)
        return self.turn is not None and any(run.row.outcome not in good for run in self.turn.runs)

    @property
    def recent_history(self) -> tuple[Node, ...]:
        return self.turn.history[-MAX_HISTORY:] if self.turn else ()

    @property
    def max_runs(self) -> int:
        """Number of requests if there are more than are shown, else 0."""
        is_cut = self.turn is not None and len(self.turn.runs) == EXTENT.runs
        return (EXTENT.runs or 0) if is_cut else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """Content of the page.

    Attributes:
        earlier: Turns before the first part, `later` those after the last one.
    """

    parts: tuple[TurnPart, ...]
    earlier: Sequence[TurnPlace]
    later: Sequence[TurnPlace]

    @property
    def is_live(self) -> bool:
        return any(part.is_live for part in self.parts)

    @property
    def newest(self) -> TurnPlace | None:
        return self.parts[-1].place if self.parts else None


def build_page(
    plan: PagePlan,
    turns: Mapping[int, TurnView],
    *,
    reviews: Mapping[int, TurnReview] = NO_REVIEWS,
) -> ConversationPage:
    """Return the page with those of its turns that have been read."""
    return ConversationPage(
        parts=build_parts(plan.tree, turns, plan.path[plan.start : plan.end], reviews=reviews),
        earlier=plan.path[: plan.start],
        later=plan.path[plan.end :],
    )


def build_parts(
    tree: Tree,
    turns: Mapping[int, TurnView],
    places: Sequence[TurnPlace] | None = None,
    *,
    reviews: Mapping[int, TurnReview] = NO_REVIEWS,
) -> tuple[TurnPart, ...]:
    """Return turns of a conversation as its page shows them.

    Args:
        tree: Of the conversation.
        turns: Turns that were read.
        places: Turns to return; others than those that were read become placeholders.
        reviews: By turn.
    """
    if places is None:
        places = [view.place for view in turns.values()]
    formatted = _choose_formatted(turns.values())
    return tuple(
        TurnPart(
            place=place,
            turn=turns.get(place.id),
            number=place.level + 1,
            siblings=find_siblings(place, tree),
            answers=_build_answers(turns[place.id], formatted) if place.id in turns else (),
            review=reviews.get(place.id),
        )
        for place in places
    )


def _build_answers(turn: TurnView, formatted: Collection[int]) -> tuple[AnswerPart, ...]:
    return tuple(
        _build_answer(attempt, number=number, formatted=turn.id in formatted)
        for number, attempt in enumerate(attempts_of(turn.runs), start=1)
    )


def _build_answer(attempt: Attempt, *, number: int, formatted: bool) -> AnswerPart:
    called: set[int] = set()
    parts = []
    for run in attempt:
        others = [message for message in run.received if message.pk not in called]
        called |= {result.pk for result in run.call.results} if run.call else set()
        received = tuple(build_results(others, limits=PAGE_LIMITS))
        blocks = build_blocks(run, limits=PAGE_LIMITS, formatted=formatted)
        parts.append(
            RunPart(
                run=run,
                received=received,
                unshown=len(others) - len(received),
                blocks=tuple(dedupe_error_text(blocks, run.row.error)),
            )
        )
    return AnswerPart(number=number, runs=tuple(parts))


def _choose_formatted(turns: Iterable[TurnView]) -> set[int]:
    left, chosen = MAX_FORMATTED, set()
    for turn in turns:
        left -= sum(len(run.answer) for run in turn.runs)
        if left < 0:
            break
        chosen.add(turn.id)
    return chosen


def dedupe_error_text(blocks: Iterable[Block], error: str) -> Iterator[Block]:
    """Yield the blocks of a run without the error text, which the page shows once below them."""
    for block in blocks:
        if error and isinstance(block, StepsBlock):
            steps = (one for one in block.steps if not (one.is_warning and one.message == error))
            if rest := tuple(steps):
                yield StepsBlock(rest)
        elif error and isinstance(block, TextBlock) and block.text.rstrip().endswith(error):
            if text := block.text.rstrip().removesuffix(error).rstrip():
                yield replace(block, text=text)
        else:
            yield block


def find_content(turn: TurnView, key: str, *, first: int = 0) -> DataExcerpt | None:
    """Return a whole piece of data of which the page shows a part; a table from one row on."""
    limits = replace(FULL_LIMITS, first=first)
    for run in turn.runs:
        if _may_hold(run, key):
            for content in _walk_contents(_read_alone(run, limits)):
                if content.key == key:
                    return content
    return None


def _read_alone(run: RunView, limits: DisplayLimits) -> list[object]:
    return [
        *build_blocks(run, limits=limits, formatted=False),
        *build_results(run.received, limits=limits),
    ]


def _may_hold(run: RunView, key: str) -> bool:
    if key.startswith("r"):
        return key.startswith(f"r{run.id.hex}-")
    messages = [*run.received, *(run.call.results if run.call else ())]
    return any(key.startswith(f"n{message.pk}-") for message in messages)


def _walk_contents(value: object) -> Iterator[DataExcerpt]:
    if isinstance(value, DataExcerpt):
        yield value
    elif isinstance(value, list | tuple | Iterator):
        for one in value:
            yield from _walk_contents(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _walk_contents(getattr(value, field.name))
