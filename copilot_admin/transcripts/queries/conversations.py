"""Read a conversation as turns, in the order of the tree."""

from collections.abc import Collection, Mapping
from uuid import UUID

from copilot_admin.models import Conversation, Feedback, FeedbackSource, Run
from copilot_admin.transcripts.queries.extent import WHOLE, Extent
from copilot_admin.transcripts.queries.rows import StoredRows, read_rows, read_rows_of
from copilot_admin.transcripts.queries.runs import message_view, run_view
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace, read_tree, read_trees, state_of
from copilot_admin.transcripts.queries.views import (
    ConversationView,
    FeedbackView,
    MessageView,
    TurnView,
)
from copilot_admin.transcripts.store.requests import COLUMNS, load_request
from protocol.json import Json


def read_conversation(conversation: Conversation) -> ConversationView:
    """Reads a whole conversation; the number of queries does not grow with its length."""
    tree = read_tree(conversation)
    rows = read_rows(conversation, tree)
    turns = tuple(_turn_view(place, rows) for place in tree.places)
    told = {message.node_id for turn in turns for message in turn.history}
    rest = [
        node
        for node in rows.nodes.values()
        if node.from_history and node.pk not in tree.asked and node.pk not in told
    ]
    return ConversationView(
        id=conversation.pk,
        turns=turns,
        history=tuple(message_view(node, rows) for node in rest),
    )


def read_turns(
    conversation: Conversation, tree: Tree, turns: Collection[int], *, extent: Extent = WHOLE
) -> Mapping[int, TurnView]:
    """Reads some turns of a conversation; what the others hold costs nothing.

    Args:
        conversation: Which.
        tree: How it hangs together.
        turns: Ids; those that are not of the conversation are left out.
        extent: How much of them is wanted.
    """
    return _views(tree, read_rows(conversation, tree, turns=turns, extent=extent), turns)


class Together:
    """Several conversations read at once, with as many queries as one takes.

    Args:
        conversations: Ids; all their texts are in memory.
    """

    def __init__(self, conversations: Collection[int]) -> None:
        self.trees = read_trees(conversations)
        self._rows = read_rows_of(conversations)

    def turns(self, conversation: int, turns: Collection[int]) -> Mapping[int, TurnView]:
        """Some turns of one of them; see `read_turns`.

        Raises:
            KeyError: The conversation is no longer whole: it was deleted meanwhile.
        """
        tree = self.trees[conversation]
        return _views(tree, self._rows.with_contents(tree, turns), turns)


def _views(tree: Tree, rows: StoredRows, turns: Collection[int]) -> Mapping[int, TurnView]:
    return {
        place.turn.pk: _turn_view(place, rows) for place in tree.places if place.turn.pk in turns
    }


def read_messages(
    conversation: Conversation, tree: Tree, nodes: Collection[int]
) -> tuple[MessageView, ...]:
    """Reads single messages of a conversation, in the order stored."""
    if not nodes:
        return ()
    rows = read_rows(conversation, tree, turns=(), nodes=nodes)
    return tuple(message_view(node, rows) for node in rows.nodes.values())


def read_request(run_id: UUID) -> Json:
    """The request of a run, without its messages and without secrets; None: not kept."""
    keys = Run.objects.filter(pk=run_id).values_list(*COLUMNS).first()
    return load_request(*keys) if keys else None


def _turn_view(place: TurnPlace, rows: StoredRows) -> TurnView:
    turn = place.turn
    question = rows.nodes.get(turn.human_node_id) if turn.human_node_id is not None else None
    return TurnView(
        id=turn.pk,
        history=tuple(message_view(rows.nodes[one], rows) for one in place.history),
        question=message_view(question, rows) if question else None,
        state=state_of(turn),
        parent_id=place.parent_id,
        level=place.level,
        branch=place.branch,
        branches=place.branches,
        started_at=turn.started_at,
        ttft_ms=turn.ttft_ms,
        ms=turn.ms,
        tokens=turn.tokens,
        cost=turn.cost,
        n_unpriced=turn.n_unpriced,
        cost_is_estimated=turn.cost_is_estimated,
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
