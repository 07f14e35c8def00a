"""Questions of the last seven days per copilot, from the daily rollups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Sum
from django.utils import timezone

from copilot_admin.models import DailyTotal

DAYS = 7  # today included


@dataclass(frozen=True, slots=True)
class WeeklyUsage:
    """Questions of seven days, and failed requests among them."""

    questions: int = 0
    errors: int = 0


def load_weekly_usage(ids: Sequence[int] | None = None) -> Mapping[int, WeeklyUsage]:
    """Return usage by copilot id; copilots without questions are missing. One query."""
    since = timezone.now().date() - timedelta(days=DAYS - 1)
    rows = DailyTotal.objects.filter(day__gte=since)
    if ids is not None:
        rows = rows.filter(copilot__in=ids)
    sums = rows.values_list("copilot").annotate(questions=Sum("questions"), failed=Sum("errors"))
    return {copilot: WeeklyUsage(questions, failed) for copilot, questions, failed in sums}
