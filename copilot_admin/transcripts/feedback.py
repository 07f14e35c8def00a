"""Feedback of end users, parsed from requests and stored with its turn.

Workspace sends it without the id of the answer. The chat's trace id identifies the turn, else the
text of the answer. Source: the feedback endpoint of `agents.json`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from pydantic import BaseModel, BeforeValidator, ConfigDict

from copilot_admin.errors import NotFound
from copilot_admin.models import (
    Conversation,
    Feedback,
    FeedbackSource,
    Logging,
    Run,
    SeenKind,
    Turn,
)
from copilot_admin.redaction.redactor import redact_values
from copilot_admin.redaction.rules import Rules
from copilot_admin.transcripts.store.rollups import (
    count_feedback,
    note_seen,
)
from protocol.citations import strip_markers
from protocol.json import clean_text
from protocol.redaction import redact_text

MAX_TAGS = 20
MAX_TAG_CHARACTERS = 200
MAX_COMMENT_CHARACTERS = 4000
MAX_TEXT_CHARACTERS = 200_000  # of an answer or question; longer ones aren't recognised
MAX_COMPARED_RUNS = 20  # newest answers that are compared with the text


def _text(value: object) -> str:
    return clean_text(value[:MAX_TEXT_CHARACTERS]) if isinstance(value, str) else ""


def _tags(value: object) -> list[str]:
    listed = value if isinstance(value, list) else []
    texts = (clean_text(one).strip()[:MAX_TAG_CHARACTERS] for one in listed if isinstance(one, str))
    return list(dict.fromkeys(filter(None, texts)))[:MAX_TAGS]


Text = Annotated[str, BeforeValidator(_text)]


class SubmittedFeedback(BaseModel):
    """Feedback in the format of Workspace; fields of a wrong type count as missing."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    vote: Literal["thumbs_up", "thumbs_down"]
    tags: Annotated[list[str], BeforeValidator(_tags)] = []
    user_comment: Text = ""
    ai_response: Text = ""
    user_prompt: Text = ""
    trace_id: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """The caller of a copilot, and the chat if known; of a named end user only own answers match."""

    copilot_id: int
    principal: str
    logging: Logging
    trace_id: str
    user_id: str | None = None


def remove_personal_data(feedback: SubmittedFeedback, rules: Rules) -> SubmittedFeedback:
    kept = redact_values([feedback.model_dump()], rules)
    return SubmittedFeedback.model_validate({**kept[0], "vote": feedback.vote})


def store_feedback(feedback: SubmittedFeedback, *, judged: JudgedAnswer) -> None:
    """Store feedback in place of earlier feedback on the same turn; NotFound if no answer matches."""
    if judged.logging is Logging.NOTHING:
        return
    turn = _find_turn(feedback, judged)
    if turn is None:
        raise NotFound("No answer like this is known, so there is nothing to judge.")
    store_turn_feedback(feedback, turn=turn, with_comment=judged.logging is Logging.EVERYTHING)


def store_turn_feedback(
    feedback: SubmittedFeedback, *, turn: Turn, with_comment: bool = True
) -> None:
    """Store feedback on a turn in place of earlier feedback, and count its conversation again."""
    comment = redact_text(feedback.user_comment)[:MAX_COMMENT_CHARACTERS] if with_comment else ""
    with transaction.atomic():
        row, _ = Feedback.objects.update_or_create(
            turn=turn,
            source=FeedbackSource.END_USER,
            defaults={
                "value": 1 if feedback.vote == "thumbs_up" else -1,
                "tags": feedback.tags,
                "comment": comment,
                "created_at": timezone.now(),
            },
        )
        count_feedback(row)
    note_seen(SeenKind.REASON, feedback.tags)
    votes = Feedback.objects.filter(turn__conversation=turn.conversation_id).aggregate(
        n_up=Count("pk", filter=Q(value__gt=0)), n_down=Count("pk", filter=Q(value__lt=0))
    )
    Conversation.objects.filter(pk=turn.conversation_id).update(**votes)


def _find_turn(feedback: SubmittedFeedback, judged: JudgedAnswer) -> Turn | None:
    user = Q(user__isnull=True) if judged.user_id is None else Q(user__identifier=judged.user_id)
    runs = Run.objects.filter(
        user, copilot_id=judged.copilot_id, principal=judged.principal, turn__isnull=False
    ).order_by("-started_at")
    trace_id = judged.trace_id or feedback.trace_id
    in_chat = runs.filter(conversation__trace_id=trace_id)
    newest = in_chat.select_related("turn").first() if trace_id else None
    if newest is None:
        return _find_by_text(feedback, runs, questions=False)
    return _find_by_text(feedback, in_chat, questions=True) or newest.turn


def _find_by_text(
    feedback: SubmittedFeedback, runs: QuerySet[Run], *, questions: bool
) -> Turn | None:
    """Return the newest turn with the answer, or else with the question if that is enough."""
    rows = runs.select_related("output_node", "turn__human_node")[:MAX_COMPARED_RUNS]
    answer, question = _normalize(feedback.ai_response), _normalize(feedback.user_prompt)
    for run in rows:
        text = run.answer_text or (run.output_node.text if run.output_node else "")
        if answer and _normalize(text) == answer:
            return run.turn
    for run in rows if question and questions else ():
        asked = run.turn.human_node if run.turn else None
        if asked and _normalize(asked.text) == question:
            return run.turn
    return None


def _normalize(text: str) -> str:
    """Remove markers and spaces: clients split answers into bubbles and trim each."""
    return "".join(strip_markers(text).split())
