"""How often copilots were asked lately, from the rollups of days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Sum
from django.utils import timezone

from copilot_admin.models import DailyTotal

DAYS = 7  # that "this week" is, today included


@dataclass(frozen=True, slots=True)
class WeekUse:
    """Questions of seven days, and how many of them failed."""

    questions: int = 0
    errors: int = 0


def use_of_the_week(ids: Sequence[int] | None = None) -> Mapping[int, WeekUse]:
    """The use of some copilots, or of all, by id; one query. One that nobody asked is not in it."""
    since = timezone.now().date() - timedelta(days=DAYS - 1)
    rows = DailyTotal.objects.filter(day__gte=since)
    if ids is not None:
        rows = rows.filter(copilot__in=ids)
    sums = rows.values_list("copilot").annotate(questions=Sum("questions"), failed=Sum("errors"))
    return {copilot: WeekUse(questions, failed) for copilot, questions, failed in sums}
