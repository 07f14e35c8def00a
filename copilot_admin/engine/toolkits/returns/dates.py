"""Reads dates as data has them, and finds from them how many periods make a year."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
import re
from statistics import median

NAMES = frozenset(
    {"date", "datetime", "time", "timestamp", "day", "week", "month", "quarter", "year", "period"}
)
DAYS_OF_A_YEAR = 365.25
TRADING_DAYS = 252
_MONTH = re.compile(r"\d{4}-\d{2}")
_QUARTER = re.compile(r"(\d{4})-?\s?[Qq]([1-4])")
_YEAR = re.compile(r"(1[89]|20|21)\d{2}")
_USUAL_GAPS = (  # days between two points, and how many such periods a year has
    (5.5, 8.5, 52),
    (13, 16, 26),
    (27, 33, 12),
    (85, 98, 4),
    (175, 190, 2),
    (355, 375, 1),
)


def moment(value: object) -> datetime | None:
    """The time that a value says, without a zone (UTC where it had one); None: it says none.

    Args:
        value: ISO 8601, or a year, a month (2024-03) or a quarter (2024-Q1): their first day.

    Examples:
        >>> moment("2024-03-01T10:00:00+02:00"), moment("2024/03/01"), moment("1.3.2024")
        (datetime.datetime(2024, 3, 1, 8, 0), datetime.datetime(2024, 3, 1, 0, 0), None)
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip().replace("/", "-")
    try:
        if _YEAR.fullmatch(text):
            return datetime.fromisoformat(f"{text}-01-01")
        if _MONTH.fullmatch(text):
            return datetime.fromisoformat(f"{text}-01")
        if match := _QUARTER.fullmatch(text):
            return datetime.fromisoformat(f"{match[1]}-{3 * int(match[2]) - 2:02}-01")
        read = datetime.fromisoformat(text)
        return read.astimezone(UTC).replace(tzinfo=None) if read.tzinfo else read
    except (ValueError, OverflowError):
        return None


def said(when: datetime) -> str:
    """A time in words: the date alone at midnight."""
    is_midnight = when == datetime.combine(when.date(), datetime.min.time())
    return when.date().isoformat() if is_midnight else when.isoformat()


def periods_in_a_year(times: Sequence[datetime]) -> float | None:
    """How many periods such as those between the times a year has; None: they are within a day.

    The usual gap counts, so holes do not matter. Daily data has 252 periods, or 365 where more
    than a tenth of the days are Saturdays and Sundays, as with currencies that never sleep.

    Args:
        times: At least two, in order.
    """
    gap = median((later - earlier).total_seconds() / 86_400 for earlier, later in pairwise(times))
    if gap < 0.9:
        return None
    if gap <= 1.5:
        weekends = sum(time.weekday() >= 5 for time in times)
        return 365 if weekends > len(times) / 10 else TRADING_DAYS
    for least, most, periods in _USUAL_GAPS:
        if least <= gap <= most:
            return periods
    return DAYS_OF_A_YEAR / gap
