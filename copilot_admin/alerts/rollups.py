"""Sums of rollups for rules: one statement each, however much was asked."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from django.db.models import Q, Sum

from copilot_admin.alerts.scope import AlertScope
from copilot_admin.models import DailyTotal, HourlyUsage
from copilot_admin.transcripts.search.periods import Span

Number = int | Decimal


def sums_of_hours(scope: AlertScope, span: Span, *names: str) -> Mapping[str, Number]:
    """What was counted in some hours, by the names of the columns."""
    rows = HourlyUsage.objects.filter(_within(span), scope.condition).order_by()
    return _summed(rows.aggregate(**{f"sum_{name}": Sum(name) for name in names}), names)


def sums_of_days(scope: AlertScope, span: Span, *names: str) -> Mapping[str, Number]:
    """What was counted on whole days, by the names of the columns."""
    days = Q(day__gte=span.first.date(), day__lt=span.end.date())
    rows = DailyTotal.objects.filter(days, scope.condition).order_by()
    return _summed(rows.aggregate(**{f"sum_{name}": Sum(name) for name in names}), names)


def most_failing(scope: AlertScope, span: Span, *, most: int) -> list[int]:
    """Copilots that were asked: those with the most errors, then the busiest; none without an error."""
    rows = HourlyUsage.objects.filter(_within(span), scope.condition).order_by()
    sums = rows.values_list("copilot").annotate(bad=Sum("errors"), asked=Sum("runs"))
    found = list(sums.order_by("-bad", "-asked", "copilot")[:most])
    return [pk for pk, _bad, _asked in found] if found and found[0][1] else []


def _within(span: Span) -> Q:
    return Q(hour__gte=span.first, hour__lt=span.end)


def _summed(row: Mapping[str, Number | None], names: Iterable[str]) -> Mapping[str, Number]:
    return {name: row[f"sum_{name}"] or 0 for name in names}
