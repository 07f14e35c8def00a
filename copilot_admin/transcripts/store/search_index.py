"""Write what a search looks through: one text per turn, of its question and its answers."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from django.db.models import TextField
from django.db.models.functions import Left

from copilot_admin.models import NodeKind, NodeRole, Run, Turn, TurnText
from copilot_admin.storage.folding import fold
from copilot_admin.storage.selects import Select
from copilot_admin.storage.statements import Insert, Update

# Signs of a turn that are searched; the index takes about as much room as the text.
MOST = 16_000

_ADD = Update(TurnText, where=("turn_id",), append={"text": MOST})
_INSERT = Insert(TurnText, returning=("turn_id",), or_ignore=True)
_QUESTION = Select(Turn, "human_node__text", where=("id",))


def index_answer(turn_id: int, conversation_id: int, answer: str, *, is_first: bool) -> None:
    """Adds an answer to what is searched of its turn, which begins with the question.

    Args:
        turn_id: Of the turn.
        conversation_id: Of its conversation.
        answer: Its text.
        is_first: The turn has no other yet, so that nothing of it is there.
    """
    added = searched_text(answer)
    if added and not is_first and _ADD(turn_id=turn_id, text=f"\n{added}"):
        return
    row = _QUESTION(id=turn_id)
    text = joined((row and row[0]) or "", answer)
    if not text or _INSERT(turn_id=turn_id, conversation_id=conversation_id, text=text):
        return
    if added:
        _ADD(turn_id=turn_id, text=f"\n{added}")  # it was there, or another process was faster


def joined(*texts: str) -> str:
    """The texts of a turn as one that is searched; no phrase goes over the end of one."""
    folded = (searched_text(text) for text in texts)
    return "\n".join(filter(None, folded))[:MOST]


def searched_text(text: str) -> str:
    """A text folded, as far as it is searched."""
    return fold(text[:MOST])[:MOST]


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
