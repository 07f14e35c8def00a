"""A conversation as its page shows it: a path through edited questions, turn by turn."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from uuid import UUID

from copilot_admin.admin.blocks.blocks import build_blocks, build_results
from copilot_admin.admin.blocks.kinds import (
    FULL_LIMITS,
    PAGE_LIMITS,
    Block,
    CallResult,
    DataExcerpt,
    StepsBlock,
    TextBlock,
)
from copilot_admin.admin.common.base import number_in
from copilot_admin.models import Conversation, Node, Outcome, Run, TurnState
from copilot_admin.transcripts.queries.reading import (
    Attempt,
    Extent,
    RunView,
    TurnView,
    attempts_of,
)
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace

MAX_TURNS_AT_ONCE = 6  # a window shows one or two
# Formatting a million characters takes 0.5 s for prose and up to 10 s for texts of marks alone.
MAX_FORMATTED = 60_000  # characters of a page
MAX_HISTORY = 20  # foreign messages before a question
EXTENT = Extent(events=300, runs=100)


def plan_page(tree: Tree, *, through: int | None = None) -> tuple[list[TurnPlace], frozenset[int]]:
    """Return the turns of a page, which has `through`, and ids of those that are no placeholders."""
    path = choose_path(tree, through=through)
    named = next((place for place, turn in enumerate(path) if turn.id == through), 0)
    first = max(named - 1, 0)
    return path, frozenset(turn.id for turn in path[first : first + MAX_TURNS_AT_ONCE])


def choose_path(tree: Tree, *, through: int | None = None) -> list[TurnPlace]:
    """Return the turns down to `through`, and after it the newest version of each question."""
    newest = {place.parent_id: place for place in tree.places}  # the last one of each
    path = tree.path_to(through)
    while place := newest.get(path[-1].id if path else None):
        path.append(place)
    return path


def find_turn_of_key(conversation: Conversation, tree: Tree, key: str) -> int | None:
    """Return the turn of a piece of data: `r<run>-...` for output, `n<message>-...` for a result."""
    name = key.partition("-")[0]
    if name.startswith("n"):
        return tree.turn_above(number_in(name[1:]))
    try:
        run = UUID(hex=name.removeprefix("r"))
    except ValueError:
        return None
    turns = Run.objects.filter(conversation=conversation, pk=run).values_list("turn_id", flat=True)
    return turns.first()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """One request of an answer."""

    run: RunView
    received: tuple[CallResult, ...]  # with it, of no call that is shown
    unshown: int  # further results
    blocks: tuple[Block, ...]

    @property
    def has_problem(self) -> bool:
        outcome = self.run.row.outcome
        return bool(self.run.row.error) or outcome not in (Outcome.COMPLETED, Outcome.RUNNING)

    @property
    def is_running(self) -> bool:
        return self.run.row.outcome == Outcome.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPart:
    """A turn on the page; a placeholder has neither turn nor answers."""

    place: TurnPlace
    turn: TurnView | None
    siblings: tuple[int | None, int | None] | None  # versions of an edited question around it
    answers: tuple[Sequence[RunPart], ...]  # attempts; the last one counts

    @property
    def number(self) -> int:
        return self.place.level + 1

    @property
    def outcomes(self) -> list[str]:
        return [run.row.outcome for run in self.turn.runs] if self.turn else []

    @property
    def is_live(self) -> bool:
        is_open = self.place.state in (TurnState.OPEN, TurnState.AWAITING_RESULT)
        return is_open or Outcome.RUNNING in self.outcomes

    @property
    def has_error(self) -> bool:
        """True if an answer ended otherwise than completed."""
        return any(one not in (Outcome.RUNNING, Outcome.COMPLETED) for one in self.outcomes)

    @property
    def recent_history(self) -> tuple[Node, ...]:
        return self.turn.history[-MAX_HISTORY:] if self.turn else ()

    @property
    def max_runs(self) -> int:
        """Number of requests if there are more than are shown, else 0."""
        return len(self.outcomes) if len(self.outcomes) == EXTENT.runs else 0


def build_parts(
    tree: Tree,
    turns: Mapping[int, TurnView],
    places: Sequence[TurnPlace] | None = None,
) -> list[TurnPart]:
    """Return turns as the page shows them; places without a turn that was read are placeholders."""
    formatted = _choose_formatted(turns.values())
    return [
        TurnPart(
            place=place,
            turn=turns.get(place.id),
            siblings=_find_siblings(place, tree),
            answers=tuple(
                _build_answer(attempt, formatted=place.id in formatted)
                for attempt in attempts_of(turns[place.id].runs)
            )
            if place.id in turns
            else (),
        )
        for place in (places or [view.place for view in turns.values()])
    ]


def _find_siblings(place: TurnPlace, tree: Tree) -> tuple[int | None, int | None] | None:
    if place.branches < 2:
        return None
    ids = [None, *(one.id for one in tree.places if one.parent_id == place.parent_id), None]
    return ids[place.branch - 1], ids[place.branch + 1]


def _build_answer(attempt: Attempt, *, formatted: bool) -> Sequence[RunPart]:
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
                blocks=tuple(_dedupe_error_text(blocks, run.row.error)),
            )
        )
    return parts


def _choose_formatted(turns: Iterable[TurnView]) -> Collection[int]:
    left, chosen = MAX_FORMATTED, set()
    for turn in turns:
        left -= sum(len(run.answer) for run in turn.runs)
        if left < 0:
            break
        chosen.add(turn.id)
    return chosen


def _dedupe_error_text(blocks: Iterable[Block], error: str) -> Iterator[Block]:
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
        results = [*run.received, *(run.call.results if run.call else ())]
        holders = [f"r{run.id.hex}-", *(f"n{message.pk}-" for message in results)]
        if not key.startswith(tuple(holders)):
            continue
        blocks = build_blocks(run, limits=limits, formatted=False)
        received = build_results(run.received, limits=limits)
        for content in _walk_contents([*blocks, *received]):
            if content.key == key:
                return content
    return None


def _walk_contents(value: object) -> Iterator[DataExcerpt]:
    if isinstance(value, DataExcerpt):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _walk_contents(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _walk_contents(getattr(value, field.name))
