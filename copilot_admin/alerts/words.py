"""What people said with a thumb, and what callers were told of errors: the newest few; untrusted."""

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from copilot_admin.alerts.plain import one_line
from copilot_admin.alerts.scope import AlertScope
from copilot_admin.models import Conversation, Outcome, Run
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.search.counted import complaints
from copilot_admin.transcripts.search.periods import Span

MOST = 5
LONGEST = 200
LOOKED_AT = 20  # conversations, by an index of those few that have such a thing
FAILED = (Outcome.FAILED, Outcome.CRASHED, Outcome.INTERRUPTED)


def reasons(scope: AlertScope, span: Span) -> tuple[str, ...]:
    """What was said with the newest thumbs down."""
    given = complaints(span).filter(scope.of_feedback).order_by("-created_at")
    judged = given.exclude(turn__conversation__principal__startswith=PLAYGROUND)
    rows = judged.values_list("tags", "comment")[:MOST]
    return few(": ".join(filter(None, (", ".join(map(str, tags)), text))) for tags, text in rows)


def errors(scope: AlertScope, span: Span) -> tuple[str, ...]:
    """What callers were told of the newest answers that failed."""
    failed = Run.objects.filter(
        conversation__in=_newest(scope, span, Q(has_error=True)),
        started_at__gte=span.first,
        outcome__in=FAILED,
    ).order_by("-started_at")
    return few(failed.values_list("error", flat=True)[: 4 * MOST])


def _newest(scope: AlertScope, span: Span, condition: Q) -> list[int]:
    rows: QuerySet[Conversation] = Conversation.objects.filter(
        condition, scope.condition, last_at__gte=span.first
    ).exclude(principal__startswith=PLAYGROUND)
    return list(rows.order_by("-last_at", "-id").values_list("pk", flat=True)[:LOOKED_AT])


def few(texts: Iterable[str]) -> tuple[str, ...]:
    """The first of some texts, each once and in one line."""
    lines = (one_line(text, most=LONGEST) for text in texts)
    return tuple(dict.fromkeys(line for line in lines if line))[:MOST]
