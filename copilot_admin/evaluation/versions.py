"""Versions of a copilot with their changes and usage."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet, Sum

from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.publishing import document_today
from copilot_admin.evaluation.differences import in_a_line
from copilot_admin.models import Copilot, CopilotVersion, DailyTotal

PAGE = 25  # versions; each is compared with the previous one
USAGE = ("conversations", "up", "down", "errors")


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
    """Return the counts of analytics of versions by id; one query."""
    rows = DailyTotal.objects.filter(copilot=copilot, version__in=[one.number for one in versions])
    sums = rows.order_by().values_list("version").annotate(*map(Sum, USAGE))
    counted = {number: counts for number, *counts in sums}
    none = [0] * len(USAGE)
    return {
        one.pk: dict(zip(USAGE, counted.get(one.number, none), strict=True)) for one in versions
    }


def _with_providers(copilot: Copilot) -> QuerySet[CopilotVersion]:
    return copilot.versions.select_related("provider", "published_by")
