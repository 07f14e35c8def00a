"""What was used of a budget, from what is kept: no restart gives a new one.

Of the server and of copilots it stands in the rollups, of keys and users in their runs. Which address
asked is kept nowhere, so a budget of an address begins anew with its counter.
"""

from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet, Sum

from copilot_admin.limits.demand import Budget
from copilot_admin.limits.rules import Measure, nano
from copilot_admin.limits.subjects import Subject
from copilot_admin.models import DailyTotal, HourlyUsage, Outcome, Run
from copilot_admin.models.limits import Scope
from copilot_admin.models.transcripts import PLAYGROUND


def spent(budget: Budget) -> tuple[int, int]:
    """What was used, and how many answers nobody knows the cost of; reads the database."""
    if not budget.is_lasting:
        return 0, 0
    subject = budget.rule.subject
    match subject.scope:
        case Scope.SERVER | Scope.COPILOT:
            found = _sum_of_rollups(budget, subject)
            if not budget.rule.counts_requests:
                found = _added(found, _sum_of_runs(_trials(budget, subject)))
        case Scope.KEY:
            found = _sum_of_runs(_runs(budget).filter(principal=f"key:{subject.id}"))
        case Scope.USER:
            found = _sum_of_runs(_runs(budget).filter(user__identifier=subject.id))
        case _:
            return 0, 0
    return _number(budget, found), found["unpriced"]


def _sum_of_rollups(budget: Budget, subject: Subject) -> dict[str, Any]:
    begins, ends = budget.window.begins, budget.window.ends
    rows: QuerySet[Any]
    if begins.hour or begins.minute or ends.hour or ends.minute:
        first = begins.replace(minute=0)  # of zones with half hours a little more than the day
        rows = HourlyUsage.objects.filter(hour__gte=first, hour__lt=ends)
    else:
        rows = DailyTotal.objects.filter(day__gte=begins.date(), day__lt=ends.date())
    if subject.scope is Scope.COPILOT:
        rows = rows.filter(copilot_id=int(subject.id))
    found = rows.aggregate(
        tokens=Sum("tokens"), cost=Sum("cost"), unpriced=Sum("unpriced"),
        runs=Sum("runs"), refused=Sum("refused"),
    )  # fmt: skip
    found = {name: value or 0 for name, value in found.items()}
    return {**found, "runs": found["runs"] - found["refused"]}


def _runs(budget: Budget) -> QuerySet[Run]:
    window = budget.window
    return Run.objects.filter(started_at__gte=window.begins, started_at__lt=window.ends)


def _trials(budget: Budget, subject: Subject) -> QuerySet[Run]:
    """Runs of builders, which are in no rollup; found by their names, of which there is an index."""
    builders = get_user_model().objects.values_list("pk", flat=True)
    runs = _runs(budget).filter(principal__in=[f"{PLAYGROUND}{pk}" for pk in builders])
    return runs.filter(copilot_id=int(subject.id)) if subject.scope is Scope.COPILOT else runs


def _sum_of_runs(runs: QuerySet[Run]) -> dict[str, Any]:
    asked = runs.exclude(outcome=Outcome.REFUSED)
    found = asked.aggregate(
        input=Sum("input_tokens"), output=Sum("output_tokens"), cost=Sum("cost")
    )
    return {
        "tokens": (found["input"] or 0) + (found["output"] or 0),
        "cost": found["cost"] or Decimal(0),
        "unpriced": asked.exclude(outcome=Outcome.RUNNING).filter(cost=None).count(),
        "runs": asked.count(),
    }


def _added(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return {name: first[name] + second[name] for name in ("tokens", "cost", "unpriced", "runs")}


def _number(budget: Budget, found: dict[str, Any]) -> int:
    match budget.rule.kind.measure:
        case Measure.TOKENS:
            return int(found["tokens"])
        case Measure.USD:
            return nano(Decimal(found["cost"]))
        case _:
            return int(found["runs"])
