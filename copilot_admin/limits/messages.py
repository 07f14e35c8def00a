"""Sentences for clients that a limit rejects."""

from datetime import datetime, tzinfo
from math import ceil

from copilot_admin.limits.rules import BudgetPeriod, LimitMeasure, LimitRule
from copilot_admin.models.limits import LimitScope

_SUBJECTS = {
    LimitScope.SERVER: "This server",
    LimitScope.COPILOT: "This copilot",
    LimitScope.KEY: "This endpoint key",
    LimitScope.USER: "This user",
    LimitScope.ADDRESS: "This address",
}
_WINDOWS = {
    BudgetPeriod.MINUTE: "this minute",
    BudgetPeriod.DAY: "today",
    BudgetPeriod.MONTH: "this month",
}
_MAX_COUNTDOWN_SECONDS = 120  # a later moment is given as a time of day


def build_rejection(
    rule: LimitRule, *, now: datetime, retry_at: datetime | None, zone: tzinfo
) -> str:
    """Say which limit is reached and when to try again; None: when an answer has ended."""
    return f"{_describe_limit(rule)} Try again {_describe_time(now, retry_at, zone)}."


def get_retry_seconds(retry_at: datetime, now: datetime) -> int:
    """Return whole seconds for `Retry-After`, rounded up."""
    return max(1, ceil((retry_at - now).total_seconds()))


def _describe_limit(rule: LimitRule) -> str:
    subject, kind = _SUBJECTS[rule.subject.scope], rule.kind
    plural = "" if rule.maximum == 1 else "s"
    if kind.period is None:
        return f"{subject} has reached its limit of {rule.maximum:,} concurrent answer{plural}."
    if kind.measure is LimitMeasure.REQUESTS:
        amount = f"{rule.maximum:,} request{plural} per {kind.period.value}"
        return f"{subject} has reached its limit of {amount}."
    budget = "money" if rule.counts_money else "token"
    return f"{subject} has used up its {budget} budget for {_WINDOWS[kind.period]}."


def _describe_time(now: datetime, retry_at: datetime | None, zone: tzinfo) -> str:
    if retry_at is None:
        return "when one of them has ended"
    seconds = get_retry_seconds(retry_at, now)
    if seconds <= _MAX_COUNTDOWN_SECONDS:
        return "in 1 second" if seconds == 1 else f"in {seconds} seconds"
    local = retry_at.astimezone(zone)
    return f"after {local:%-d %B %Y, %H:%M} {local.tzname()}"
