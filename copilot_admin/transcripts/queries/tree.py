"""The tree of a conversation: the order of its questions, and the messages between them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from django.db.models import Value
from django.db.models.functions import Coalesce, Left
from django.utils import timezone

from copilot_admin.models import Conversation, Node, Turn, TurnState
from copilot_admin.transcripts.store.transcript_store import ABANDONED_AFTER

HEAD_LENGTH = 200  # characters of a question that are read with the tree


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


class Tree:
    """The turns of a conversation and the relations of its messages, without their texts.

    `places` has the turns depth first, `asked` the turn of each question. Messages that are only
    known from history are `foreign`.
    """

    def __init__(self, conversation: Conversation) -> None:
        head = Left(Coalesce("human_node__text", Value("")), HEAD_LENGTH)
        rows = Turn.objects.filter(conversation=conversation).defer("search_text").order_by("id")
        nodes = Node.objects.filter(conversation=conversation).order_by("id")
        links = list(nodes.values_list("pk", "parent_id", "from_history"))
        turns: list[Turn] = list(rows.annotate(head=head))
        self.parents = {pk: parent for pk, parent, _ in links}
        self.foreign = {pk for pk, _, from_history in links if from_history}
        self.asked = {turn.human_node_id: turn.pk for turn in turns if turn.human_node_id}
        self.places = self._place(turns)

    def above(self, node_id: int | None) -> Iterator[int]:
        while node_id is not None and (node_id := self.parents.get(node_id)) is not None:
            yield node_id

    def turn_above(self, node_id: int) -> int | None:
        """Return the turn that a message belongs to; None before the first question."""
        nodes = (node_id, *self.above(node_id))
        return next((self.asked[one] for one in nodes if one in self.asked), None)

    def path_to(self, turn_id: int | None) -> list[TurnPlace]:
        """Return the turns from the first question to one; empty if there is no such turn."""
        by_id = {place.id: place for place in self.places}
        path: list[TurnPlace] = []
        while turn_id is not None and (place := by_id.get(turn_id)):
            path.insert(0, place)
            turn_id = place.parent_id
        return path

    def _place(self, turns: Sequence[Turn]) -> list[TurnPlace]:
        asked = self.asked

        def is_foreign(node: int) -> bool:
            return node in self.foreign and node not in asked

        parents = {turn.pk: self._turn_before(turn) for turn in turns}
        siblings: Counter[int | None] = Counter(parents.values())
        levels: dict[int | None, int] = {None: -1}
        below: dict[int | None, list[TurnPlace]] = defaultdict(list)
        for turn in turns:  # a turn is stored after the one it follows
            parent_id = parents[turn.pk]
            levels[turn.pk] = levels.get(parent_id, -1) + 1
            below[parent_id].append(
                TurnPlace(
                    turn=turn,
                    parent_id=parent_id,
                    level=levels[turn.pk],
                    branch=len(below[parent_id]) + 1,
                    branches=siblings[parent_id],
                    history=tuple(takewhile(is_foreign, self.above(turn.human_node_id)))[::-1],
                )
            )
        ordered, waiting = [], below[None][::-1]
        while waiting:
            ordered.append(place := waiting.pop())
            waiting += below[place.id][::-1]
        return ordered

    def _turn_before(self, turn: Turn) -> int | None:
        above = self.above(turn.human_node_id)
        return next((self.asked[one] for one in above if one in self.asked), None)
