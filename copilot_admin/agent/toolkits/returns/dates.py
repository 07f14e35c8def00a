"""Dates and their spellings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
import re
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


_LONGEST = 40  # characters; the longest date with a time and a zone has fewer
_MONTH = re.compile(r"\d{4}-\d{2}")
_QUARTER = re.compile(r"(\d{4})-?\s?[Qq]([1-4])")
_QUARTER_FIRST = re.compile(r"[Qq]([1-4])[ /-]?(\d{4})")
_YEAR = re.compile(r"(1[89]|20|21)\d{2}")
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})")
_NAME_FIRST = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_DAY_FIRST = re.compile(r"(\d{1,2})[ -]([A-Za-z]{3,9})\.?,?[ -](\d{4}|\d{2})")
_NAMED_MONTH = re.compile(r"([A-Za-z]{3,9})\.?,?[ -](\d{4})")
_CLOCKED = re.compile(
    r"([^:]+?),? (\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?: ?([AaPp])\.?[Mm]\.?)?"
)
_FULL_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTHS: Mapping[str, int] = {
    word: number
    for number, name in enumerate(_FULL_MONTHS, start=1)
    for word in (name, name[:3], name[:4] if name == "september" else name)
}
_EPOCH = datetime.fromisoformat("1970-01-01")
LEAST_EPOCH = 1e8  # seconds, March 1973; every date written as 20240131 is a smaller number
_UNITS = (  # below which number of its size it counts what, and how many of them make a second
    (1e11, "seconds", 1),
    (1e14, "milliseconds", 1_000),
    (1e17, "microseconds", 1_000_000),
    (1e20, "nanoseconds", 1_000_000_000),
)


@dataclass(frozen=True, slots=True)
class Parts:
    """A date of three numbers, of which the first two may be month and day, or day and month.

    Attributes:
        dotted: Written with dots, which only those do who put the day first.
    """

    first: int
    second: int
    year: int
    dotted: bool
    clock: timedelta

    def when(self, *, day_first: bool) -> datetime | None:
        """The date; None where there is none."""
        day, month = (self.first, self.second) if day_first else (self.second, self.first)
        return _dated(self.year, month, day, self.clock)


def iso_moment(value: object) -> datetime | None:
    """The time that a value says, without a zone (UTC where it had one); None: it says none.

    Args:
        value: ISO 8601, or a year, a month (2024-03) or a quarter (2024-Q1): their first day.

    Examples:
        >>> iso_moment("2024-03-01T10:00:00+02:00"), iso_moment("2024/03/01"), iso_moment("1.3.2024")
        (datetime.datetime(2024, 3, 1, 8, 0), datetime.datetime(2024, 3, 1, 0, 0), None)
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip().replace("/", "-")
    if len(text) > _LONGEST:
        return None
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


def named_moment(text: str) -> datetime | None:
    """The date of a text with the English name of a month, such as "Jan 31, 2024", or "Q1 2024".

    Examples:
        >>> named_moment("31-Jan-24"), named_moment("March 2024"), named_moment("Janitor 3, 2024")
        (datetime.datetime(2024, 1, 31, 0, 0), datetime.datetime(2024, 3, 1, 0, 0), None)
    """
    written, clock = _with_clock(text)
    if clock is None:
        return None
    if match := _NAME_FIRST.fullmatch(written):
        return _dated(int(match[3]), _month(match[1]), int(match[2]), clock)
    if match := _DAY_FIRST.fullmatch(written):
        return _dated(_year(match[3]), _month(match[2]), int(match[1]), clock)
    if match := _NAMED_MONTH.fullmatch(written):
        return _dated(int(match[2]), _month(match[1]), 1, clock)
    if match := _QUARTER_FIRST.fullmatch(written):
        return _dated(int(match[2]), 3 * int(match[1]) - 2, 1, clock)
    return None


def numeric_parts(text: str) -> Parts | None:
    """The three numbers of a date such as 1/31/2024 or 31.01.2024, also with a time behind it."""
    written, clock = _with_clock(text)
    match = _NUMERIC.fullmatch(written)
    if match is None or clock is None:
        return None
    return Parts(int(match[1]), int(match[3]), _year(match[4]), match[2] == ".", clock)


def epoch_unit(largest: float) -> tuple[str, int] | None:
    """What the numbers of a column count since 1970, by the largest; None: they are no epochs.

    Examples:
        >>> epoch_unit(1706659200), epoch_unit(1706659200000)[0], epoch_unit(20240131), epoch_unit(3)
        (('seconds', 1), 'milliseconds', None, None)
    """
    if largest < LEAST_EPOCH:
        return None
    return next(((unit, by) for limit, unit, by in _UNITS if largest < limit), None)


def epoch_moment(number: float, by: int) -> datetime | None:
    """The time so many parts of a second after 1970 began, in UTC."""
    try:
        return _EPOCH + timedelta(microseconds=round(number * 1_000_000 / by))
    except OverflowError:
        return None


def _with_clock(text: str) -> tuple[str, timedelta | None]:
    text = " ".join(text.split()) if len(text) <= _LONGEST else ""
    if ":" not in text:
        return text, timedelta()
    match = _CLOCKED.fullmatch(text)
    if match is None:
        return text, None
    hours, minutes, seconds = int(match[2]), int(match[3]), int(match[4] or 0)
    if match[5]:
        hours = hours % 12 + (12 if match[5] in "Pp" else 0)
    is_time = hours < 24 and minutes < 60 and seconds < 60
    clock = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return match[1], clock if is_time else None


def _dated(year: int, month: int, day: int, clock: timedelta) -> datetime | None:
    try:
        return datetime.combine(date(year, month, day), time()) + clock
    except (ValueError, OverflowError):
        return None


def _month(name: str) -> int:
    """The number of a month by its English name, whole or short; 0: it is none."""
    return _MONTHS.get(name.lower(), 0)


def _year(digits: str) -> int:
    year = int(digits)
    return year if len(digits) == 4 else year + (1900 if year >= 69 else 2000)
