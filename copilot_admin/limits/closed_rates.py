"""Rates that have no room for some seconds: a flood of refusals asks no counter."""

from collections import OrderedDict
from datetime import datetime, timedelta

from copilot_admin.limits.rules import LimitRule

_LONGEST = timedelta(minutes=2)  # rates are of a minute, and Redis may have another clock
_MOST = 10_000  # that are remembered; a megabyte or two


class ClosedRates:
    """When rates have room again."""

    def __init__(self) -> None:
        self._until: OrderedDict[LimitRule, datetime] = OrderedDict()  # noted last is last

    def until(self, rule: LimitRule, now: datetime) -> datetime | None:
        """When a rate has room again; None: it may have some now.

        A time that is further ahead than a rate is long is of a clock that was set back since.
        """
        until = self._until.get(rule)
        if until is None or now < until <= now + _LONGEST:
            return until
        del self._until[rule]
        return None

    def close(self, rule: LimitRule, *, until: datetime) -> None:
        """Notes that a rate has none; of too many the oldest is forgotten, and the counters say it."""
        self._until[rule] = until
        self._until.move_to_end(rule)
        if len(self._until) > _MOST:
            self._until.popitem(last=False)

    def forget(self) -> None:
        """Opens all rates again; for tests."""
        self._until.clear()


CLOSED_RATES = ClosedRates()
