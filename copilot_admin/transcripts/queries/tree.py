"""The tree of a conversation: which question follows which, and what stands between them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from django.utils import timezone

from copilot_admin.models import Conversation, Node, Turn, TurnState
from copilot_admin.transcripts.store.reaping import ABANDONED_AFTER


@dataclass(frozen=True, slots=True)
class Tree:
    """The turns, and how the messages hang together; no text of any of them.

    Attributes:
        parents: Of each message the one that it follows, in the order stored.
        foreign: Messages that only ever came as history.
        asked: The turn of each question.
        places: Where the turns stand, depth first: every turn after the one that it follows.
    """

    turns: list[Turn]
    parents: Mapping[int, int | None]
    foreign: Collection[int]
    asked: Mapping[int, int]
    places: list["TurnPlace"] = field(default_factory=list)

    def above(self, node_id: int | None) -> Iterator[int]:
        """The messages that a message follows, the nearest first."""
        while node_id is not None and (node_id := self.parents.get(node_id)) is not None:
            yield node_id

    def turn_above(self, node_id: int) -> int | None:
        """The turn that a message belongs to; None before the first question."""
        return next(
            (self.asked[one] for one in self._with_above(node_id) if one in self.asked), None
        )

    def _with_above(self, node_id: int) -> Iterator[int]:
        yield node_id
        yield from self.above(node_id)


@dataclass(frozen=True, slots=True)
class TurnPlace:
    """A turn, the turn above it, and the foreign messages between them."""

    turn: Turn
    parent_id: int | None
    level: int
    branch: int
    branches: int
    history: tuple[int, ...]


class _Link(NamedTuple):
    """How a message hangs in its conversation."""

    pk: int
    parent_id: int | None
    from_history: bool


def read_tree(conversation: Conversation) -> Tree:
    """Reads how a conversation hangs together, with two queries."""
    return read_trees([conversation.pk])[conversation.pk]


def read_trees(conversations: Collection[int]) -> Mapping[int, Tree]:
    """Reads how several conversations hang together, with the same two queries."""
    turns: dict[int, list[Turn]] = {one: [] for one in conversations}
    nodes: dict[int, list[_Link]] = {one: [] for one in conversations}
    asked = Turn.objects.filter(conversation__in=conversations).defer("search_text")
    for turn in asked.order_by("id"):
        turns[turn.conversation_id].append(turn)
    links = Node.objects.filter(conversation__in=conversations).order_by("id")
    for of, pk, parent_id, from_history in links.values_list(
        "conversation_id", "pk", "parent_id", "from_history"
    ):
        nodes[of].append(_Link(pk, parent_id, from_history))
    return {one: _tree(turns[one], nodes[one]) for one in conversations}


def _tree(listed: list[Turn], rows: Sequence[_Link]) -> Tree:
    tree = Tree(
        turns=listed,
        parents={pk: parent for pk, parent, _ in rows},
        foreign={pk for pk, _, from_history in rows if from_history},
        asked={turn.human_node_id: turn.pk for turn in listed if turn.human_node_id is not None},
    )
    return replace(tree, places=_places(tree))


def _places(tree: Tree) -> list[TurnPlace]:
    parents = {turn.pk: _parent_of(turn, tree) for turn in tree.turns}
    siblings: dict[int | None, list[Turn]] = defaultdict(list)
    for turn in tree.turns:
        siblings[parents[turn.pk]].append(turn)
    levels: dict[int | None, int] = {None: -1}
    below: dict[int | None, list[TurnPlace]] = defaultdict(list)
    for turn in tree.turns:  # a turn is stored after the one it follows
        parent_id = parents[turn.pk]
        levels[turn.pk] = levels.get(parent_id, -1) + 1
        below[parent_id].append(
            TurnPlace(
                turn=turn,
                parent_id=parent_id,
                level=levels[turn.pk],
                branch=len(below[parent_id]) + 1,
                branches=len(siblings[parent_id]),
                history=_history(turn, tree),
            )
        )
    return list(_in_tree_order(below))


def state_of(turn: Turn) -> str:
    """Turns are given up when the house is kept; a reader may come before that."""
    since = turn.waiting_since if turn.state == TurnState.AWAITING_RESULT else None
    if since is not None and timezone.now() - since >= ABANDONED_AFTER:
        return TurnState.ABANDONED.value
    return turn.state


def _parent_of(turn: Turn, tree: Tree) -> int | None:
    above = tree.above(turn.human_node_id)
    return next((tree.asked[one] for one in above if one in tree.asked), None)


def _history(turn: Turn, tree: Tree) -> tuple[int, ...]:
    history: list[int] = []
    for one in tree.above(turn.human_node_id):
        if one not in tree.foreign or one in tree.asked:
            break
        history.append(one)
    return tuple(reversed(history))


def _in_tree_order(below: Mapping[int | None, list[TurnPlace]]) -> Iterator[TurnPlace]:
    waiting = list(reversed(below.get(None, ())))
    while waiting:
        place = waiting.pop()
        yield place
        waiting.extend(reversed(below.get(place.turn.pk, ())))
