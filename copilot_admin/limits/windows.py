"""The windows that budgets are counted in: minutes, days and months as people say them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum


class BudgetPeriod(StrEnum):
    """How long a budget lasts."""

    MINUTE = "minute"
    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class LimitWindow:
    """One minute, day or month.

    Attributes:
        begins: The first moment; aware, in UTC.
        ends: The first moment after it.
    """

    begins: datetime
    ends: datetime

    @property
    def name(self) -> str:
        """The window's part of the name of a counter."""
        return f"{self.begins:%Y%m%d%H%M}"


def window_at(period: BudgetPeriod, now: datetime, zone: tzinfo) -> LimitWindow:
    """The window in which a moment lies.

    Args:
        period: How long it is.
        now: Aware.
        zone: In which days begin at midnight.
    """
    minute = now.astimezone(zone).replace(second=0, microsecond=0)
    match period:
        case BudgetPeriod.MINUTE:
            begins = now.astimezone(UTC).replace(second=0, microsecond=0)
            return LimitWindow(begins, begins + timedelta(minutes=1))
        case BudgetPeriod.DAY:
            first = _midnight(minute)
            following = _midnight(first + timedelta(days=1))
        case BudgetPeriod.MONTH:
            first = _midnight(minute.replace(day=1))
            following = _midnight((first + timedelta(days=32)).replace(day=1))
    return LimitWindow(first.astimezone(UTC), following.astimezone(UTC))


def _midnight(moment: datetime) -> datetime:
    """The begin of a day by its own clock: a day on which clocks change has not 24 hours."""
    return moment.replace(hour=0, minute=0, fold=0)
