"""Write what a search looks through: one text per turn, of its question and its answers."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from django.db.models import TextField
from django.db.models.functions import Left

from copilot_admin.models import NodeKind, NodeRole, Run
from copilot_admin.storage.search_text import normalize
from copilot_admin.storage.sql import execute, fetch_row

# Signs of a turn that are searched; the index takes about as much room as the text.
MOST = 16_000

_APPEND = f"""
UPDATE copilot_admin_turntext SET text = SUBSTR(text || %(text)s, 1, {MOST})
WHERE turn_id = %(turn_id)s
"""  # noqa: S608  # a number
_INSERT = """
INSERT INTO copilot_admin_turntext (turn_id, conversation_id, text)
VALUES (%(turn_id)s, %(conversation_id)s, %(text)s) ON CONFLICT DO NOTHING
"""
_QUESTION = """
SELECT question.text FROM copilot_admin_turn turn
JOIN copilot_admin_node question ON question.id = turn.human_node_id WHERE turn.id = %(turn_id)s
"""


def index_answer(turn_id: int, conversation_id: int, answer: str, *, is_first: bool) -> None:
    """Adds an answer to what is searched of its turn, which begins with the question.

    Args:
        turn_id: Of the turn.
        conversation_id: Of its conversation.
        answer: Its text.
        is_first: The turn has no other yet, so that nothing of it is there.
    """
    added = searched_text(answer)
    if added and not is_first and execute(_APPEND, turn_id=turn_id, text=f"\n{added}"):
        return
    row = fetch_row(_QUESTION, turn_id=turn_id)
    text = joined(row["text"] if row else "", answer)
    if not text or execute(_INSERT, turn_id=turn_id, conversation_id=conversation_id, text=text):
        return
    if added:  # it was there, or another process was faster
        execute(_APPEND, turn_id=turn_id, text=f"\n{added}")


def joined(*texts: str) -> str:
    """The texts of a turn as one that is searched; no phrase goes over the end of one."""
    folded = (searched_text(text) for text in texts)
    return "\n".join(filter(None, folded))[:MOST]


def searched_text(text: str) -> str:
    """A text folded, as far as it is searched."""
    return normalize(text[:MOST])[:MOST]


def answers_of(turn_ids: Collection[int]) -> Mapping[int, list[str]]:
    """What was said in the answers of turns, as far as it is searched; in the order of the runs."""
    runs = Run.objects.filter(turn__in=turn_ids).order_by("started_at", "id")
    rows = runs.values_list(
        "turn_id",
        "input_leaf_id",
        "output_node__kind",
        "output_node__parent_id",
        "output_node__parent__role",
        "output_node__parent__kind",
        beginning_of("answer_text"),
        beginning_of("output_node__text"),
        beginning_of("output_node__parent__text"),
    )
    answers: dict[int, list[str]] = defaultdict(list)
    for turn, leaf, kind, above, role, kind_above, own, text, text_above in rows:
        said = text if kind == NodeKind.TEXT else ""
        # Text may stand before a call; the message above that is the question.
        if kind == NodeKind.CALL and (role, kind_above) == (NodeRole.AI, NodeKind.TEXT):
            said = text_above if above != leaf else ""
        answers[turn].append(own or said or "")
    return answers


def beginning_of(column: str) -> Left:
    """The beginning of a text, which may have megabytes."""
    return Left(column, MOST, output_field=TextField())
