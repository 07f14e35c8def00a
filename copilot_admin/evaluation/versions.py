"""Versions of a copilot with their changes and usage."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.publishing import document_today
from copilot_admin.evaluation.differences import in_a_line
from copilot_admin.models import Copilot, CopilotVersion, DailyTotal, Feedback, FeedbackSource, Run
from copilot_admin.models.conversations import PLAYGROUND

PAGE = 25  # versions; each is compared with the previous one


def version_page(copilot: Copilot, *, below: int | None = None) -> dict[str, Any]:
    """Load a page of versions, newest first; `older` is the number below which the next starts."""
    found = _with_providers(copilot).order_by("-number")
    if below is not None:
        found = found.filter(number__lt=below)
    read = list(found[: PAGE + 1])
    shown = read[:PAGE]
    figures = count_usage(copilot, shown)
    rows = [
        {
            "version": version,
            "is_live": version.pk == copilot.live_id,
            "is_first": before is None,
            "changed": in_a_line(find_changes(document_today(before), document_today(version)))
            if before
            else "",
            "figures": figures[version.pk],
        }
        for version, before in zip(shown, [*read[1:], None], strict=False)
    ]
    return {"rows": rows, "older": shown[-1].number if len(read) > PAGE else None}


def version_of(copilot: Copilot, number: int) -> CopilotVersion | None:
    return _with_providers(copilot).filter(number=number).first()


def count_usage(copilot: Copilot, versions: Sequence[CopilotVersion]) -> dict[int, dict[str, int]]:
    """Count conversations, thumbs and errors of versions by id, in a constant number of queries."""
    runs = Run.objects.filter(copilot_version__in=versions).order_by()
    runs = runs.exclude(principal__startswith=PLAYGROUND)  # builders' tests of the connection
    conversations = dict(
        runs.values_list("copilot_version").annotate(Count("conversation", distinct=True))
    )
    rated = Feedback.objects.filter(
        source=FeedbackSource.END_USER, turn__runs__copilot_version__in=versions
    ).exclude(turn__conversation__principal__startswith=PLAYGROUND)
    thumbs = {
        pk: {"up": up, "down": down}
        for pk, up, down in rated.order_by()
        .values_list("turn__runs__copilot_version")
        .annotate(
            up=Count("id", filter=Q(value__gt=0), distinct=True),
            down=Count("id", filter=Q(value__lt=0), distinct=True),
        )
    }
    failed = DailyTotal.objects.filter(
        copilot=copilot, version__in=[version.number for version in versions]
    )
    errors = dict(failed.order_by().values_list("version").annotate(Sum("errors")))
    return {
        version.pk: {
            "conversations": conversations.get(version.pk, 0),
            **thumbs.get(version.pk, {"up": 0, "down": 0}),
            "errors": errors.get(version.number, 0),
        }
        for version in versions
    }


def _with_providers(copilot: Copilot) -> QuerySet[CopilotVersion]:
    return copilot.versions.select_related("provider", "published_by")
