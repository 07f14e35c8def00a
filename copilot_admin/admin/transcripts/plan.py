"""Which turns a page has, which of them it shows at once, and which come when they are wanted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from copilot_admin.admin.transcripts.paths import chosen_path
from copilot_admin.transcripts.queries import OutlineView, TurnOutline

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
