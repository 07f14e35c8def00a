"""Read a conversation as turns, in the order of the tree."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from copilot_admin.journal.reaping import ABANDONED_AFTER
from copilot_admin.models import (
    Conversation,
    Feedback,
    FeedbackSource,
    Node,
    Run,
    Turn,
    TurnState,
)
from copilot_admin.reading.rows import Rows, read_rows
from copilot_admin.reading.runs import message_view, run_view
from copilot_admin.reading.views import ConversationView, FeedbackView, TurnView
from copilot_admin.storage import blobs
from protocol.json import Json


def read_conversation(
    conversation: Conversation, *, contents_of: int | None = None
) -> ConversationView:
    """Reads a whole conversation; the number of queries does not grow with its length.

    Args:
        conversation: Which.
        contents_of: A turn. Big contents of all other turns are then left out, which makes a
            page that follows one answer cheap however much the conversation holds.
    """
    rows = read_rows(conversation, contents_of=contents_of)
    places = _places(rows)
    turns = tuple(_turn_view(place, rows) for place in _in_tree_order(places))
    told = {message.node_id for turn in turns for message in turn.history}
    rest = [node for node in _foreign(rows) if node.pk not in told]
    return ConversationView(
        id=conversation.pk,
        turns=turns,
        history=tuple(message_view(node, rows) for node in rest),
    )


def read_request(run_id: UUID) -> Json:
    """The request of a run, without its messages and without secrets; None: not kept."""
    sha = Run.objects.filter(pk=run_id).values_list("env_id", flat=True).first()
    return blobs.load([sha]).get(sha) if sha else None


@dataclass(frozen=True, slots=True)
class _Place:
    """A turn, the turn above it, and the foreign messages between them."""

    turn: Turn
    parent_id: int | None
    level: int
    branch: int
    branches: int
    history: tuple[Node, ...]


def _places(rows: Rows) -> dict[int | None, list[_Place]]:
    """The turns by the turn that they follow."""
    turn_of = {turn.human_node_id: turn for turn in rows.turns if turn.human_node_id is not None}
    parents = {turn.pk: _parent_of(turn, turn_of, rows) for turn in rows.turns}
    siblings: dict[int | None, list[Turn]] = defaultdict(list)
    for turn in rows.turns:
        siblings[parents[turn.pk]].append(turn)
    levels: dict[int | None, int] = {None: -1}
    places: dict[int | None, list[_Place]] = defaultdict(list)
    for turn in rows.turns:  # a turn is stored after the one it follows
        parent_id = parents[turn.pk]
        levels[turn.pk] = levels.get(parent_id, -1) + 1
        beside = siblings[parent_id]
        places[parent_id].append(
            _Place(
                turn=turn,
                parent_id=parent_id,
                level=levels[turn.pk],
                branch=beside.index(turn) + 1,
                branches=len(beside),
                history=_history(turn, turn_of, rows),
            )
        )
    return places


def _above(turn: Turn, rows: Rows) -> Iterator[Node]:
    node = rows.nodes.get(turn.human_node_id) if turn.human_node_id is not None else None
    while node is not None and (node := rows.parent(node)) is not None:
        yield node


def _parent_of(turn: Turn, turn_of: dict[int, Turn], rows: Rows) -> int | None:
    return next((turn_of[node.pk].pk for node in _above(turn, rows) if node.pk in turn_of), None)


def _history(turn: Turn, turn_of: dict[int, Turn], rows: Rows) -> tuple[Node, ...]:
    history: list[Node] = []
    for node in _above(turn, rows):
        if not node.from_history or node.pk in turn_of:
            break
        history.append(node)
    return tuple(reversed(history))


def _foreign(rows: Rows) -> Iterator[Node]:
    """Texts that only ever came as history, without the questions that became turns since."""
    asked = {turn.human_node_id for turn in rows.turns}
    for node in rows.nodes.values():
        if node.from_history and node.pk not in asked:
            yield node


def _in_tree_order(places: dict[int | None, list[_Place]]) -> Iterator[_Place]:
    waiting = list(reversed(places[None]))
    while waiting:
        place = waiting.pop()
        yield place
        waiting.extend(reversed(places[place.turn.pk]))


def _turn_view(place: _Place, rows: Rows) -> TurnView:
    turn = place.turn
    question = rows.nodes.get(turn.human_node_id) if turn.human_node_id is not None else None
    return TurnView(
        id=turn.pk,
        history=tuple(message_view(node, rows) for node in place.history),
        question=message_view(question, rows) if question else None,
        state=_state(turn),
        parent_id=place.parent_id,
        level=place.level,
        branch=place.branch,
        branches=place.branches,
        started_at=turn.started_at,
        ttft_ms=turn.ttft_ms,
        ms=turn.ms,
        tokens=turn.tokens,
        runs=tuple(run_view(run, rows) for run in rows.runs[turn.pk]),
        feedback=tuple(map(_feedback_view, rows.feedback[turn.pk])),
    )


def _feedback_view(feedback: Feedback) -> FeedbackView:
    return FeedbackView(
        is_good=feedback.value > 0,
        tags=tuple(feedback.tags),
        comment=feedback.comment,
        by_user=feedback.source == FeedbackSource.END_USER,
        at=feedback.created_at,
    )


def _state(turn: Turn) -> str:
    """Turns are given up when the house is kept; a reader may come before that."""
    since = turn.waiting_since if turn.state == TurnState.AWAITING_RESULT else None
    if since is not None and timezone.now() - since >= ABANDONED_AFTER:
        return TurnState.ABANDONED.value
    return turn.state
