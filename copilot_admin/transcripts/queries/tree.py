"""The tree of a conversation: the order of its questions, and the messages between them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile

from django.db.models import Value
from django.db.models.functions import Coalesce, Left
from django.utils import timezone

from copilot_admin.models import Conversation, Node, Turn, TurnState
from copilot_admin.transcripts.store.transcript_store import ABANDONED_AFTER

HEAD_LENGTH = 200  # characters of a question that are read with the tree


@dataclass(frozen=True, slots=True)
class Tree:
    """The turns and the relations of messages, without their texts; places are depth first.

    `asked` has the turn of each question. Messages that are only known from history are `foreign`.
    """

    turns: list[Turn]
    parents: Mapping[int, int | None]
    foreign: Collection[int]
    asked: Mapping[int, int]
    places: list["TurnPlace"] = field(default_factory=list)

    def above(self, node_id: int | None) -> Iterator[int]:
        while node_id is not None and (node_id := self.parents.get(node_id)) is not None:
            yield node_id

    def turn_above(self, node_id: int) -> int | None:
        """Return the turn that a message belongs to; None before the first question."""
        nodes = (node_id, *self.above(node_id))
        return next((self.asked[one] for one in nodes if one in self.asked), None)

    def path_to(self, turn_id: int | None) -> list["TurnPlace"]:
        """Return the turns from the first question to one; empty if there is no such turn."""
        by_id = {place.id: place for place in self.places}
        path: list[TurnPlace] = []
        while turn_id is not None and (place := by_id.get(turn_id)):
            path.insert(0, place)
            turn_id = place.parent_id
        return path


@dataclass(frozen=True, slots=True)
class TurnPlace:
    """A turn and its place in the tree; `history` are foreign messages before its question.

    `branch` counts from 1 among the `branches` at this point of the conversation.
    """

    turn: Turn
    parent_id: int | None
    level: int
    branch: int
    branches: int
    history: tuple[int, ...]

    @property
    def id(self) -> int:
        return self.turn.pk

    @property
    def head(self) -> str:
        head: str = self.turn.head  # type: ignore[attr-defined]  # annotated
        return head

    @property
    def state(self) -> str:
        """The state of the turn, which a periodic task may not have updated yet."""
        turn = self.turn
        since = turn.waiting_since if turn.state == TurnState.AWAITING_RESULT else None
        if since is not None and timezone.now() - since >= ABANDONED_AFTER:
            return TurnState.ABANDONED.value
        return turn.state


def read_tree(conversation: Conversation) -> Tree:
    head = Left(Coalesce("human_node__text", Value("")), HEAD_LENGTH)
    turns = Turn.objects.filter(conversation=conversation).defer("search_text").order_by("id")
    links = Node.objects.filter(conversation=conversation).order_by("id")
    rows = list(links.values_list("pk", "parent_id", "from_history"))
    listed: list[Turn] = list(turns.annotate(head=head))
    tree = Tree(
        turns=listed,
        parents={pk: parent for pk, parent, _ in rows},
        foreign={pk for pk, _, from_history in rows if from_history},
        asked={turn.human_node_id: turn.pk for turn in listed if turn.human_node_id is not None},
    )
    return replace(tree, places=_places(tree))


def _places(tree: Tree) -> list[TurnPlace]:
    asked = tree.asked

    def is_foreign(node: int) -> bool:
        return node in tree.foreign and node not in asked

    parents = {
        turn.pk: next((asked[one] for one in tree.above(turn.human_node_id) if one in asked), None)
        for turn in tree.turns
    }
    siblings: Counter[int | None] = Counter(parents.values())
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
                branches=siblings[parent_id],
                history=tuple(takewhile(is_foreign, tree.above(turn.human_node_id)))[::-1],
            )
        )
    ordered, waiting = [], below[None][::-1]
    while waiting:
        ordered.append(place := waiting.pop())
        waiting += below[place.id][::-1]
    return ordered
