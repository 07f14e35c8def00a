"""What was used of a budget, from what is kept: no restart gives a new one.

Of the server and of copilots it stands in the rollups, of keys and users in their runs. Which address
asked is kept nowhere, so a budget of an address begins anew with its counter.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Count, F, Q, QuerySet, Sum

from copilot_admin.limits.demand import Budget
from copilot_admin.limits.rules import LimitMeasure, nano
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.limits.windows import LimitWindow
from copilot_admin.models import DailyTotal, HourlyUsage, Outcome, Run
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.models.limits import LimitScope

_IN_ROLLUPS = frozenset({LimitScope.SERVER, LimitScope.COPILOT})


@dataclass(frozen=True, slots=True)
class _Found:
    """What somebody took within a window."""

    tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    runs: int = 0

    def __add__(self, other: "_Found") -> "_Found":
        return _Found(
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.runs + other.runs,
        )


def spent(budgets: Iterable[Budget]) -> Mapping[Budget, tuple[int, int]]:
    """What was used of each, and how many answers nobody knows the cost of; reads the database.

    Budgets of one subject and window are told of by the same rows, which are read once.
    """
    found_in = cache(_found_in)
    used = {}
    for budget in budgets:
        if not budget.is_lasting:
            used[budget] = (0, 0)
            continue
        rule = budget.rule
        # A trial is a run of its builder already; only rollups have none, and it is no request.
        with_trials = rule.subject.scope in _IN_ROLLUPS and not rule.counts_requests
        found = found_in(rule.subject, budget.window, with_trials=with_trials)
        used[budget] = (_number(rule.kind.measure, found), found.unpriced)
    return used


def _found_in(subject: LimitSubject, window: LimitWindow, *, with_trials: bool) -> _Found:
    match subject.scope:
        case scope if scope in _IN_ROLLUPS:
            found = _sum_of_rollups(window, subject)
            return found + _sum_of_runs(_trials(window, subject)) if with_trials else found
        case LimitScope.KEY:
            return _sum_of_runs(_runs(window).filter(principal=f"key:{subject.id}"))
        case LimitScope.USER:
            return _sum_of_runs(_runs(window).filter(user__identifier=subject.id))
        case _:
            return _Found()


def _sum_of_rollups(window: LimitWindow, subject: LimitSubject) -> _Found:
    begins, ends = window.begins, window.ends
    rows: QuerySet[Any]
    if begins.hour or begins.minute or ends.hour or ends.minute:
        first = begins.replace(minute=0)  # of zones with half hours a little more than the day
        rows = HourlyUsage.objects.filter(hour__gte=first, hour__lt=ends)
    else:
        rows = DailyTotal.objects.filter(day__gte=begins.date(), day__lt=ends.date())
    if subject.scope is LimitScope.COPILOT:
        rows = rows.filter(copilot_id=int(subject.id))
    found = rows.aggregate(
        tokens=Sum("tokens", default=0),
        cost=Sum("cost", default=Decimal(0)),
        unpriced=Sum("unpriced", default=0),
        runs=Sum(F("runs") - F("refused"), default=0),
    )
    return _Found(**found)


def _runs(window: LimitWindow) -> QuerySet[Run]:
    return Run.objects.filter(started_at__gte=window.begins, started_at__lt=window.ends)


def _trials(window: LimitWindow, subject: LimitSubject) -> QuerySet[Run]:
    """Runs of builders, which are in no rollup; found by their names, of which there is an index."""
    builders = get_user_model().objects.values_list("pk", flat=True)
    runs = _runs(window).filter(principal__in=[f"{PLAYGROUND}{pk}" for pk in builders])
    return runs.filter(copilot_id=int(subject.id)) if subject.scope is LimitScope.COPILOT else runs


def _sum_of_runs(runs: QuerySet[Run]) -> _Found:
    has_no_cost = Q(cost=None) & ~Q(outcome=Outcome.RUNNING)
    found = runs.exclude(outcome=Outcome.REFUSED).aggregate(
        tokens=Sum(F("input_tokens") + F("output_tokens"), default=0),
        unpriced=Count("pk", filter=has_no_cost),
        runs=Count("pk"),
        cost=Sum("cost", default=Decimal(0)),  # last: it hides the column of its name
    )
    return _Found(**found)


def _number(measure: LimitMeasure, found: _Found) -> int:
    match measure:
        case LimitMeasure.TOKENS:
            return found.tokens
        case LimitMeasure.USD:
            return nano(found.cost)
        case _:
            return found.runs
