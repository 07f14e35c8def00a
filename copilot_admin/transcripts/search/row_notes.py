"""What a row of the transcript list says beside its figures: why a thumb, which error."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max, Q

from copilot_admin.models import Conversation, Feedback, Outcome, Run

MOST_JUDGEMENTS = 500  # of a page; a conversation may have thousands
MOST_REASONS = 3  # of a row
LONGEST_COMMENT = 80  # characters that a row shows


@dataclass(frozen=True, slots=True)
class Reason:
    """Why somebody judged an answer."""

    is_good: bool
    text: str


def reasons_of(rows: Iterable[Conversation]) -> Mapping[int, Sequence[Reason]]:
    """The reasons of thumbs, newest first, those down before those up."""
    judged = [row.pk for row in rows if row.n_down or row.n_up]
    if not judged:
        return {}
    feedback = Feedback.objects.filter(turn__conversation__in=judged).order_by("value", "-id")
    values = feedback.values_list("turn__conversation_id", "value", "tags", "comment")
    reasons: dict[int, list[Reason]] = defaultdict(list)
    for pk, value, tags, comment in values[:MOST_JUDGEMENTS]:
        texts = [*(str(tag) for tag in tags), *([_shortened(comment)] if comment else [])]
        reasons[pk] += [Reason(value > 0, text) for text in texts]
    return {pk: list(dict.fromkeys(some))[:MOST_REASONS] for pk, some in reasons.items()}


def errors_of(rows: Iterable[Conversation]) -> Mapping[int, Sequence[str]]:
    """The kinds of errors in conversations, the latest first."""
    failed = [row.pk for row in rows if row.has_error or row.last_outcome != Outcome.COMPLETED]
    if not failed:
        return {}
    runs = Run.objects.filter(~Q(error_code=""), conversation__in=failed)
    kinds = runs.values("conversation_id", "error_code").annotate(latest=Max("started_at"))
    errors: dict[int, list[str]] = defaultdict(list)
    for row in kinds.order_by("-latest"):
        errors[row["conversation_id"]].append(row["error_code"])
    return errors


def _shortened(comment: str) -> str:
    line = " ".join(comment.split())
    return line if len(line) <= LONGEST_COMMENT else f"{line[:LONGEST_COMMENT]}…"
