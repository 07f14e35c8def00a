"""Rollups as they are, and counted again from all runs, feedback and verdicts."""

from collections import Counter
from typing import Any

from copilot_admin.models import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    Feedback,
    HourlyUsage,
    Run,
    Verdict,
)
from copilot_admin.transcripts.store.rollups import (
    count_feedback,
    count_finished_runs,
    count_verdicts,
)

KEYS = ("day", "hour", "copilot_id", "version", "model", "code", "criterion_id", "principal")
ROLLUPS = (DailyTotal, DailyUsage, HourlyUsage, ErrorUsage, CriterionUsage, CallerDay)


def rollups() -> dict[str, dict[tuple[Any, ...], Any]]:
    """Return the numbers of the rollups when all is counted, without zeros."""
    while count_finished_runs():
        pass
    return {model.__name__: _rows(model) for model in ROLLUPS}


def _rows(model: Any) -> dict[tuple[Any, ...], Any]:
    counts = {}
    for row in model.objects.values():
        key = tuple(row[name] for name in KEYS if name in row)
        found = Counter({k: n for k, n in row.items() if n and k not in (*KEYS, "id")})
        if found:
            counts[key] = found
    return counts


def full_count() -> dict[str, dict[tuple[Any, ...], Any]]:
    for model in ROLLUPS:
        model.objects.all().delete()
    Run.objects.update(is_counted=False)
    Feedback.objects.update(counted=0)
    Verdict.objects.update(is_counted=False)
    while count_finished_runs():
        pass
    for feedback in Feedback.objects.all():
        count_feedback(feedback)
    count_verdicts(Verdict.objects.all())
    return rollups()
