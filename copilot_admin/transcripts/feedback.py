"""The judgement of a copilot's user: read from the request, and put to the turn it is about.

Workspace sends no id with it that a copilot of the user's own would know. What it is about is found
by the chat's id in the header, else by the words of the answer.
Source: the feedback endpoint of `agents.json`.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Literal

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Length
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
from copilot_admin.transcripts.store.seen import note_seen
from copilot_admin.transcripts.store.votes import count_feedback
from protocol.citations import strip_markers
from protocol.json import clean_text
from protocol.redaction import redact_text

MOST_TAGS = 20
LONGEST_TAG = 200  # characters
LONGEST_COMMENT = 4000
READ_OF_COMMENT = 5 * LONGEST_COMMENT  # characters that are read: 6 ms of the writer
LOOKED_THROUGH = 300  # newest answers among which one is looked for by its words
MOST_CHARACTERS = 4_000_000  # of those together: some 60 ms
_ANSWER = Coalesce("output_node__text", "answer_text")
_QUESTION = F("turn__human_node__text")


def _text(value: object) -> str:
    return clean_text(value) if isinstance(value, str) else ""


def _comment(value: object) -> str:
    return _text(value[:READ_OF_COMMENT] if isinstance(value, str) else value)


def _tags(value: object) -> list[str]:
    listed = value if isinstance(value, list) else []
    texts = (clean_text(one).strip()[:LONGEST_TAG] for one in listed if isinstance(one, str))
    return list(dict.fromkeys(filter(None, texts)))[:MOST_TAGS]


Text = Annotated[str, BeforeValidator(_text)]


class GivenFeedback(BaseModel):
    """What Workspace sends; of a field that is no text nothing is kept."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    vote: Literal["thumbs_up", "thumbs_down"]
    tags: Annotated[list[str], BeforeValidator(_tags)] = []
    user_comment: Annotated[str, BeforeValidator(_comment)] = ""
    ai_response: Text = ""
    user_prompt: Text = ""
    trace_id: Text = ""


@dataclass(frozen=True, slots=True)
class Words:
    """What of a judgement is compared: the client splits answers into bubbles and trims them."""

    answer: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """Who judges an answer of which copilot, in which chat if that is known.

    Attributes:
        user_id: Of the user, if somebody who is trusted names him: he judges his own answers only.
    """

    copilot_id: int
    principal: str
    logging: Logging
    trace_id: str
    user_id: str | None = None


def without_personal_data(judgement: GivenFeedback, rules: Rules) -> GivenFeedback:
    """A judgement with what rules name taken out of all its texts."""
    kept = redact_values([judgement.model_dump()], rules)
    return GivenFeedback.model_validate({**kept[0], "vote": judgement.vote})


def words_of(judgement: GivenFeedback) -> Words:
    """Its words without markers and blanks; of megabytes it takes too long for the writer's thread."""
    return Words(_bare(judgement.ai_response), _bare(judgement.user_prompt))


def record(judgement: GivenFeedback, *, judged: JudgedAnswer, words: Words | None = None) -> None:
    """Stores a judgement, instead of an earlier one of the same turn.

    Args:
        judgement: What somebody thinks of an answer.
        judged: Of which answer.
        words: Of the judgement, where they were made ready before.

    Raises:
        NotFound: No answer of this copilot is known that it could be about.
    """
    if judged.logging is Logging.NOTHING:
        return
    run = _run_of(judgement, judged, words or words_of(judgement))
    if run is None or run.turn is None:
        raise NotFound("No answer like this is known, so there is nothing to judge.")
    keep(judgement, turn=run.turn, with_comment=judged.logging is Logging.EVERYTHING)


def keep(judgement: GivenFeedback, *, turn: Turn, with_comment: bool = True) -> None:
    """Puts a judgement to a turn, instead of an earlier one, and counts its conversation anew."""
    comment = redact_text(judgement.user_comment)[:LONGEST_COMMENT] if with_comment else ""
    with transaction.atomic():
        feedback, _ = Feedback.objects.update_or_create(
            turn=turn,
            source=FeedbackSource.END_USER,
            defaults={
                "value": 1 if judgement.vote == "thumbs_up" else -1,
                "tags": judgement.tags,
                "comment": comment,
                "created_at": timezone.now(),  # given again, it is given now
            },
        )
        count_feedback(feedback)
    note_seen(SeenKind.REASON, judgement.tags)
    _count(turn.conversation_id)


def _run_of(judgement: GivenFeedback, judged: JudgedAnswer, words: Words) -> Run | None:
    runs = Run.objects.filter(
        copilot_id=judged.copilot_id, principal=judged.principal, turn__isnull=False
    )
    if judged.user_id is None:
        runs = runs.filter(user__isnull=True)
    else:
        runs = runs.filter(user__identifier=judged.user_id)
    runs = runs.order_by("-started_at")
    trace_id = judged.trace_id or judgement.trace_id
    in_chat = runs.filter(conversation__trace_id=trace_id) if trace_id else runs.none()
    newest = in_chat.first()
    if newest is None:
        return _saying(words.answer, runs, _ANSWER)
    return (
        _saying(words.answer, in_chat, _ANSWER)
        or _saying(words.question, in_chat, _QUESTION)
        or newest
    )


def _saying(wanted: str, runs: QuerySet[Run], text: Combinable) -> Run | None:
    if not wanted:
        return None
    sizes = runs.annotate(size=Length(text)).values_list("pk", "size")[:LOOKED_THROUGH]
    long_enough = [(pk, size) for pk, size in sizes if (size or 0) >= len(wanted)]
    read = list(accumulate(size for _, size in long_enough))
    keys = [pk for pk, _ in long_enough[: bisect_right(read, MOST_CHARACTERS)]]
    said = dict(runs.filter(pk__in=keys).annotate(said=text).values_list("pk", "said"))
    found = next((pk for pk in keys if _bare(said.get(pk, "")) == wanted), None)
    return None if found is None else runs.filter(pk=found).first()


def _bare(text: str) -> str:
    return "".join(strip_markers(text).split())


def _count(conversation_id: int) -> None:
    votes = Feedback.objects.filter(turn__conversation_id=conversation_id).aggregate(
        up=Count("pk", filter=Q(value__gt=0)), down=Count("pk", filter=Q(value__lt=0))
    )
    Conversation.objects.filter(pk=conversation_id).update(n_up=votes["up"], n_down=votes["down"])
