"""Turns that a page of a conversation shows: the path through edited questions, and a window of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from copilot_admin.models import Conversation, Run
from copilot_admin.transcripts.queries import OutlineView, Tree, TurnOutline

Children: TypeAlias = Mapping[int | None, Sequence[TurnOutline]]

MAX_CHARACTERS = 40_000  # of the turns that a page has at once; a window shows 3,000
MAX_TURNS_AT_ONCE = 6
MAX_PARTS = 200  # turns and placeholders; longer conversations have links to the others


@dataclass(frozen=True, slots=True, kw_only=True)
class Siblings:
    """Versions of an edited question; `earlier` and `later` are turn ids, None at the ends."""

    place: int
    number: int
    earlier: int | None
    later: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlan:
    """Turns of a page.

    Attributes:
        path: All turns to be read one after the other.
        start: Place of the first part on the path, from 0; `end` is the place after the last.
        shown: Ids of the turns that the page has at once; the others are placeholders.
    """

    outline: OutlineView
    path: Sequence[TurnOutline]
    start: int
    end: int
    shown: frozenset[int]


def plan_page(outline: OutlineView, *, through: int | None = None) -> PagePlan:
    """Choose the turns of a page.

    Args:
        outline: Of the conversation.
        through: A turn that must be on the page.
    """
    path = choose_path(outline.turns, through=through)
    named = next((place for place, turn in enumerate(path) if turn.id == through), 0)
    start = max(0, min(named - MAX_PARTS // 2, len(path) - MAX_PARTS))
    return PagePlan(
        outline=outline,
        path=path,
        start=start,
        end=min(start + MAX_PARTS, len(path)),
        shown=frozenset(_fill_window(path[max(named - 1, 0) :])),
    )


def choose_path(turns: Sequence[TurnOutline], *, through: int | None = None) -> list[TurnOutline]:
    """Return the turns from a first question to a last answer.

    Args:
        turns: All turns of the conversation.
        through: A turn on the path; after it the newest version of each question is taken.
    """
    by_id = {turn.id: turn for turn in turns}
    path: list[TurnOutline] = []
    turn = by_id.get(through) if through is not None else None
    while turn is not None:
        path.insert(0, turn)
        turn = by_id.get(turn.parent_id) if turn.parent_id is not None else None
    children = group_by_parent(turns)
    following = children.get(path[-1].id if path else None, ())
    while following:
        path.append(max(following, key=lambda turn: turn.id))
        following = children.get(path[-1].id, ())
    return path


def group_by_parent(turns: Sequence[TurnOutline]) -> Children:
    children: dict[int | None, list[TurnOutline]] = {}
    for turn in turns:
        children.setdefault(turn.parent_id, []).append(turn)
    return children


def find_siblings(turn: TurnOutline, children: Children) -> Siblings | None:
    """Return the versions of a turn's question; None if it was never edited."""
    ids = sorted(sibling.id for sibling in children.get(turn.parent_id, ()))
    if len(ids) < 2:
        return None
    place = ids.index(turn.id)
    return Siblings(
        place=place + 1,
        number=len(ids),
        earlier=ids[place - 1] if place else None,
        later=ids[place + 1] if place + 1 < len(ids) else None,
    )


def find_turn_of_key(conversation: Conversation, tree: Tree, key: str) -> int | None:
    """Return the turn of a piece of data; None if the conversation has no such piece.

    Args:
        conversation: The conversation.
        tree: Its tree.
        key: `r<run>-...` for output of a run, `n<message>-...` for a result.
    """
    name = key.partition("-")[0]
    kind, rest = name[:1], name[1:]
    if kind == "n" and rest.isascii() and rest.isdecimal() and len(rest) <= 18:
        return tree.turn_above(int(rest))
    if kind != "r":
        return None
    try:
        run = UUID(hex=rest)
    except ValueError:
        return None
    turns = Run.objects.filter(conversation=conversation, pk=run).values_list("turn_id", flat=True)
    return turns.first()


def _fill_window(turns: Sequence[TurnOutline]) -> Iterator[int]:
    left = MAX_CHARACTERS
    for turn in turns[:MAX_TURNS_AT_ONCE]:
        yield turn.id
        left -= turn.size
        if left < 0:
            return
