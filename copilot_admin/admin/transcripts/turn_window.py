"""Window of turns that a page shows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.contents import FULL_LIMITS, DataExcerpt, DisplayLimits
from copilot_admin.admin.blocks.kinds import Block, StepsBlock, TextBlock
from copilot_admin.admin.blocks.results import build_results
from copilot_admin.admin.transcripts.paths import chosen_path
from copilot_admin.transcripts.queries import OutlineView, RunView, TurnOutline, TurnView

MOST_AT_ONCE = 40_000  # characters; a window shows 3,000
TURNS_AT_ONCE = 6
BEFORE_THE_NAMED = 1  # a turn to see what went before the one that a link leads to
MOST_PARTS = 200  # turns and placeholders; of longer conversations a link leads to the others


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlan:
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
) -> PagePlan:
    """Decides what the page of a conversation shows, before anything of it is read.

    Args:
        outline: The conversation.
        through: A turn that has to be on it; the page begins there, and at the start without it.
        all_branches: Show every turn, depth first.
    """
    path = outline.turns if all_branches else chosen_path(outline.turns, through=through)
    named = next((place for place, turn in enumerate(path) if turn.id == through), 0)
    start = max(0, min(named - MOST_PARTS // 2, len(path) - MOST_PARTS))
    return PagePlan(
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


def content_by_key(turn: TurnView, key: str, *, first: int = 0) -> DataExcerpt | None:
    """All of a piece of data that a page shows the beginning of; a table from one row on."""
    room = replace(FULL_LIMITS, first=first)
    for content in _contents(_alone(turn, key, room)):
        if content.key == key:
            return content
    return None


def _alone(turn: TurnView, key: str, room: DisplayLimits) -> Iterator[object]:
    for run in turn.runs:
        if _may_hold(run, key):
            yield tuple(build_blocks(run, limits=room, formatted=False))
            yield tuple(build_results(run.received, limits=room))


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


def without_sentence(blocks: Iterable[Block], sentence: str) -> Iterator[Block]:
    """The blocks of a run without what only repeats why it failed.

    Args:
        blocks: In their order.
        sentence: What the user was told; empty where nothing went wrong.
    """
    if not sentence:
        yield from blocks
        return
    shown = [_without(block, sentence) for block in blocks]
    yield from (block for block in shown if block is not None)


def _without(block: Block, sentence: str) -> Block | None:
    if isinstance(block, StepsBlock):
        rest = tuple(
            step for step in block.steps if not (step.is_warning and step.message == sentence)
        )
        return StepsBlock(rest) if rest else None
    if isinstance(block, TextBlock) and block.text.rstrip().endswith(sentence):
        text = block.text.rstrip().removesuffix(sentence).rstrip()
        return replace(block, text=text) if text else None
    return block
