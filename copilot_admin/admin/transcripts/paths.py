"""Which turns of a branched conversation are read one after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from copilot_admin.transcripts.queries import TurnOutline

Children: TypeAlias = Mapping[int | None, Sequence[TurnOutline]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Siblings:
    """The versions of a question; `earlier` and `later` are turn ids, None at the ends."""

    place: int
    number: int
    earlier: int | None
    later: int | None


def chosen_path(turns: Sequence[TurnOutline], *, through: int | None = None) -> list[TurnOutline]:
    """One way from a first question to a last answer.

    Args:
        turns: All turns of the conversation.
        through: A turn on the way; an unknown one is ignored. After it, and without it, the
            newest version of each question is taken.
    """
    by_id = {turn.id: turn for turn in turns}
    path: list[TurnOutline] = []
    turn = by_id.get(through) if through is not None else None
    while turn is not None:
        path.insert(0, turn)
        turn = by_id.get(turn.parent_id) if turn.parent_id is not None else None
    children = children_of(turns)
    following = children.get(path[-1].id if path else None, ())
    while following:
        path.append(max(following, key=lambda turn: turn.id))
        following = children.get(path[-1].id, ())
    return path


def children_of(turns: Sequence[TurnOutline]) -> Children:
    """The turns that follow each turn, in the order in which they were asked."""
    children: dict[int | None, list[TurnOutline]] = {}
    for turn in turns:
        children.setdefault(turn.parent_id, []).append(turn)
    return children


def siblings_of(turn: TurnOutline, children: Children) -> Siblings | None:
    """The other versions of a turn's question; None when it was asked once."""
    versions = sorted(children.get(turn.parent_id, ()), key=lambda sibling: sibling.id)
    if len(versions) < 2:
        return None
    place = [version.id for version in versions].index(turn.id)
    return Siblings(
        place=place + 1,
        number=len(versions),
        earlier=versions[place - 1].id if place else None,
        later=versions[place + 1].id if place + 1 < len(versions) else None,
    )
