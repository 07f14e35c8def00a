"""Search index: one text per turn, of its question and its answers."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from django.db.models import TextField
from django.db.models.functions import Left

from copilot_admin.models import NodeKind, NodeRole, Run
from copilot_admin.storage.search_text import normalize
from copilot_admin.storage.sql import execute, fetch_row

# Of a turn that is searched; the index needs about as much space as the text.
MAX_CHARACTERS = 16_000

_APPEND = f"""
UPDATE copilot_admin_turntext SET text = SUBSTR(text || %(text)s, 1, {MAX_CHARACTERS})
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
    """Add an answer to the text of its turn, which begins with the question.

    Args:
        turn_id: Key of the turn.
        conversation_id: Key of its conversation.
        answer: The text.
        is_first: The turn has no answer in the index yet.
    """
    added = _fold(answer)
    if added and not is_first and execute(_APPEND, turn_id=turn_id, text=f"\n{added}"):
        return
    row = fetch_row(_QUESTION, turn_id=turn_id)
    text = joined(row["text"] if row else "", answer)
    if not text or execute(_INSERT, turn_id=turn_id, conversation_id=conversation_id, text=text):
        return
    if added:  # otherwise the row existed, or another process was faster
        execute(_APPEND, turn_id=turn_id, text=f"\n{added}")


def joined(*texts: str) -> str:
    """Join the texts of a turn for the search; phrases don't match across their ends."""
    folded = map(_fold, texts)
    return "\n".join(filter(None, folded))[:MAX_CHARACTERS]


def _fold(text: str) -> str:
    return normalize(text[:MAX_CHARACTERS])[:MAX_CHARACTERS]


def answers_of(turn_ids: Collection[int]) -> Mapping[int, list[str]]:
    """Return the searched beginnings of the answers of turns, in the order of their runs."""
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
        # Text may precede a call; the message above that is the question.
        if kind == NodeKind.CALL and (role, kind_above) == (NodeRole.AI, NodeKind.TEXT):
            said = text_above if above != leaf else ""
        answers[turn].append(own or said or "")
    return answers


def beginning_of(column: str) -> Left:
    """Return an expression for the searched beginning of a text column."""
    return Left(column, MAX_CHARACTERS, output_field=TextField())
