"""Says dates in words, and finds from them how many periods make a year."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from statistics import median

DAYS_OF_A_YEAR = 365.25
TRADING_DAYS = 252
_LONGEST_WEEKEND = 5  # days: Thursday before Easter to the Tuesday after it
_USUAL_GAPS = (  # days between two points, and how many such periods a year has
    (5.5, 8.5, 52),
    (13, 16, 26),
    (26.5, 35.5, 12),  # the last trading days of two months are up to five weeks apart
    (85, 98, 4),
    (175, 190, 2),
    (355, 375, 1),
)


def said(when: datetime) -> str:
    """A time in words: the date alone at midnight."""
    is_midnight = when == datetime.combine(when.date(), datetime.min.time())
    return when.date().isoformat() if is_midnight else when.isoformat()


def periods_in_a_year(times: Sequence[datetime]) -> float | None:
    """How many periods such as those between the times a year has; None: they are within a day.

    The usual gap counts, so holes do not matter. A weekend between two working days is no gap:
    Friday, Monday and Tuesday are daily. Daily data has 252 periods, or 365 where more than a
    tenth of the days are Saturdays and Sundays, as with currencies that never sleep.

    Args:
        times: At least two, in order.

    Examples:
        >>> friday, monday, tuesday = map(datetime.fromisoformat, "20240105 20240108 20240109".split())
        >>> periods_in_a_year([friday, monday]), periods_in_a_year([friday, monday, tuesday])
        (252, 252)
    """
    pairs = [pair for pair in pairwise(times) if not _is_over_a_weekend(*pair)]
    gap = median(_days(*pair) for pair in pairs) if pairs else 1.0
    if gap > 1.5:  # not daily, so weekends are days as others
        gap = median(_days(*pair) for pair in pairwise(times))
    if gap < 0.9:
        return None
    if gap <= 1.5:
        weekends = sum(time.weekday() >= 5 for time in times)
        return 365 if weekends > len(times) / 10 else TRADING_DAYS
    for least, most, periods in _USUAL_GAPS:
        if least <= gap <= most:
            return periods
    return DAYS_OF_A_YEAR / gap


def _days(earlier: datetime, later: datetime) -> float:
    return (later - earlier).total_seconds() / 86_400


def _is_over_a_weekend(earlier: datetime, later: datetime) -> bool:
    days = (later.date() - earlier.date()).days
    return 2 < days <= _LONGEST_WEEKEND and later.weekday() <= earlier.weekday() < 5
