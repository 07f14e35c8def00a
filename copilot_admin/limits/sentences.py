"""What somebody is told whose request a limit refuses: which limit, and when to ask again."""

from datetime import datetime, tzinfo
from math import ceil

from copilot_admin.limits.rules import LimitMeasure, LimitRule
from copilot_admin.limits.windows import BudgetPeriod
from copilot_admin.models.limits import LimitScope

WHOSE = {
    LimitScope.SERVER: "This server",
    LimitScope.COPILOT: "This copilot",
    LimitScope.KEY: "This endpoint key",
    LimitScope.USER: "This user",
    LimitScope.ADDRESS: "This address",
}
_ASKED = (LimitScope.SERVER, LimitScope.COPILOT)  # requests come to them, the others send them
_COUNTED_DOWN = 120  # seconds that somebody may wait for; what is later has a time of day
_WINDOWS = {
    BudgetPeriod.MINUTE: "this minute",
    BudgetPeriod.DAY: "today",
    BudgetPeriod.MONTH: "this month",
}


def refusal(rule: LimitRule, *, now: datetime, again: datetime | None, zone: tzinfo) -> str:
    """What a client is told who has reached a limit.

    Args:
        rule: That has no room.
        now: Aware.
        again: When there is room; None: when an answer has ended.
        zone: In which a moment that is far away is told.
    """
    if again is None:
        return f"{_limit(rule)} Ask again when one has ended."
    return f"{_limit(rule)} Ask again {_when(now, again, zone)}."


def seconds_until(again: datetime, now: datetime) -> int:
    """For `Retry-After`: whole, and never too early."""
    return max(1, ceil((again - now).total_seconds()))


def _limit(rule: LimitRule) -> str:
    """Which limit it is; how much of money and tokens there was is not for strangers."""
    whose, kind = WHOSE[rule.subject.scope], rule.kind
    if kind.measure is LimitMeasure.CONCURRENT:
        noun = "answer" if rule.most == 1 else "answers"
        return f"{whose} may have {rule.most:,} {noun} running at once, and has."
    assert kind.period is not None  # noqa: S101  # all others have one
    if kind.measure is LimitMeasure.REQUESTS:
        noun = "request" if rule.most == 1 else "requests"
        may, has = ("may be sent", "was") if rule.subject.scope in _ASKED else ("may send", "has")
        return f"{whose} {may} {rule.most:,} {noun} a {kind.period.value}, and {has}."
    what = "tokens" if kind.measure is LimitMeasure.TOKENS else "money"
    return f"{whose} has used up its {what} of {_WINDOWS[kind.period]}."


def _when(now: datetime, again: datetime, zone: tzinfo) -> str:
    seconds = seconds_until(again, now)
    if seconds == 1:
        return "in one second"
    if seconds <= _COUNTED_DOWN:
        return f"in {seconds} seconds"
    there = again.astimezone(zone)
    return f"after {there:%-d %B %Y, %H:%M} {there.tzname()}"
