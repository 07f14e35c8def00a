"""Turns that a page of a conversation shows: the path through edited questions, and a window of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from copilot_admin.models import Conversation, Run
from copilot_admin.transcripts.queries import Tree, TurnPlace

MAX_TURNS_AT_ONCE = 6  # a window shows one or two
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

    tree: Tree
    path: Sequence[TurnPlace]
    start: int
    end: int
    shown: frozenset[int]


def plan_page(tree: Tree, *, through: int | None = None) -> PagePlan:
    """Choose the turns of a page.

    Args:
        tree: Of the conversation.
        through: A turn that must be on the page.
    """
    path = choose_path(tree, through=through)
    named = next((place for place, turn in enumerate(path) if turn.id == through), 0)
    start = max(0, min(named - MAX_PARTS // 2, len(path) - MAX_PARTS))
    first = max(named - 1, 0)
    return PagePlan(
        tree=tree,
        path=path,
        start=start,
        end=min(start + MAX_PARTS, len(path)),
        shown=frozenset(turn.id for turn in path[first : first + MAX_TURNS_AT_ONCE]),
    )


def choose_path(tree: Tree, *, through: int | None = None) -> list[TurnPlace]:
    """Return the turns from a first question to a last answer.

    Args:
        tree: Of the conversation.
        through: A turn on the path; after it the newest version of each question is taken.
    """
    newest = {place.parent_id: place for place in tree.places}  # the last one of each
    path = tree.path_to(through)
    while place := newest.get(path[-1].id if path else None):
        path.append(place)
    return path


def find_siblings(turn: TurnPlace, tree: Tree) -> Siblings | None:
    """Return the versions of a turn's question; None if it was never edited."""
    if turn.branches < 2:
        return None
    versions = [one.id for one in tree.places if one.parent_id == turn.parent_id]
    ids = [None, *versions, None]
    return Siblings(
        place=turn.branch,
        number=turn.branches,
        earlier=ids[turn.branch - 1],
        later=ids[turn.branch + 1],
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
