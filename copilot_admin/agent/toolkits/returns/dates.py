"""Columns of dates, and the number of periods in a year."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import isfinite
import re
from typing import TypeGuard

import pandas as pd

DATE_NAMES = frozenset(
    {"date", "datetime", "time", "timestamp", "day", "week", "month", "quarter", "year", "period"}
)
DAYS_PER_YEAR = 365.25
TRADING_DAYS = 252
_LAST_WORDS = frozenset({"date", "datetime", "timestamp", "time"})  # of "trade_date"
_MAX_COUNT = 1_800  # a larger whole number may be a year
_MAX_LENGTH = 40  # characters; the longest date with a time and a zone has fewer
_MIN_EPOCH = 1e8  # seconds, March 1973; every date written as 20240131 is a smaller number
_EPOCH_UNITS = (  # up to which number it counts what
    (1e11, "s", "seconds"),
    (1e14, "ms", "milliseconds"),
    (1e17, "us", "microseconds"),
    (9e18, "ns", "nanoseconds"),
)
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(?:\d{4}|\d{2})\b.*")
_QUARTER = re.compile(r"(\d{4})[ -]?[Qq]([1-4])|[Qq]([1-4])[ /-]?(\d{4})")
_YEAR = re.compile(r"(?:1[89]|20|21)\d{2}")
_USUAL_GAPS = (  # days between two points, and how many such periods a year has
    (5.5, 8.5, 52),
    (13, 16, 26),
    (26.5, 35.5, 12),  # the last trading days of two months are up to five weeks apart
    (85, 98, 4),
    (175, 190, 2),
    (355, 375, 1),
)
_MAX_WEEKEND = 5  # days: Thursday before Easter to the Tuesday after it


def parse_dates(
    values: Sequence[object], notes: list[str], *, day_first: bool | None = None
) -> list[datetime | None]:
    """Return the time of each value of a column, without a zone (UTC); None: it is no date.

    Numbers of nine digits and more are seconds, milliseconds or smaller units since 1970. Dates
    such as 03/04/2024 are read in one way through the whole column: with the day first if any has
    a first number above 12 or dots, else with the month first, as in the US.

    Args:
        values: Texts or numbers.
        notes: Takes notes on dates that could mean something else.
        day_first: The caller's answer for dates such as 03/04/2024.

    Raises:
        ValueError: Some dates can only have the day first, others only the month.

    Examples:
        >>> [str(one) for one in parse_dates(["03/04/2024", "13/04/2024"], [])]
        ['2024-04-03 00:00:00', '2024-04-13 00:00:00']
    """
    if epochs := _parse_epochs(values, notes):
        return epochs
    texts = [_normalise(value) for value in values]
    is_day_first = _is_day_first(texts, notes, day_first)
    # `dayfirst` would turn the numbers of ISO dates round too.
    iso = {text for text in texts if text[:4].isdecimal()}
    parsed = _parse(iso, day_first=False) | _parse({*texts} - iso, day_first=is_day_first)
    return [parsed[text] for text in texts]


def find_date_column(columns: Iterable[object]) -> object | None:
    """Return the column that has dates according to its name.

    Examples:
        >>> find_date_column(["close", "Trade Date"]), find_date_column("A")
        ('Trade Date', None)
    """
    names = list(columns)
    exact = (one for one in names if str(one).strip().lower() in DATE_NAMES)
    ending = (
        one for one in names if re.split(r"[ _-]", str(one).strip().lower())[-1] in _LAST_WORDS
    )
    return next(exact, next(ending, None))


def is_count(values: Sequence[object]) -> bool:
    """Return whether a column counts rows instead of naming dates."""
    numbers = [_number(value) for value in values]
    return bool(numbers) and all(
        number is not None and 0 <= number < _MAX_COUNT and number == int(number)
        for number in numbers
    )


def format_date(when: datetime) -> str:
    """Return a time as ISO text, at midnight the date alone."""
    return when.isoformat().removesuffix("T00:00:00")


def periods_per_year(times: Sequence[datetime]) -> float | None:
    """Return how many periods such as those between the times a year has; None: less than a day.

    The median gap counts, so holes don't matter. A weekend between two working days is no gap.
    Daily data has 252 periods, or 365 if more than a tenth of the days are Saturdays and Sundays.

    Args:
        times: At least two, in order.
    """
    frame = pd.DataFrame({"time": pd.to_datetime(list(times))})
    frame["days"] = frame["time"].diff() / pd.Timedelta(days=1)
    weekday, before = frame["time"].dt.day_of_week, frame["time"].dt.day_of_week.shift()
    days = frame["time"].dt.normalize().diff().dt.days
    is_weekend = days.between(3, _MAX_WEEKEND) & (weekday <= before) & (before < 5)
    gaps, all_gaps = frame.loc[~is_weekend, "days"].dropna(), frame["days"].dropna()
    gap = float(gaps.median()) if len(gaps) else 1.0
    if gap > 1.5:  # not daily, so weekends are days as others
        gap = float(all_gaps.median())
    if gap < 0.9:
        return None
    if gap <= 1.5:
        return 365 if (weekday >= 5).sum() > len(times) / 10 else TRADING_DAYS
    usual = (periods for low, high, periods in _USUAL_GAPS if low <= gap <= high)
    return next(usual, DAYS_PER_YEAR / gap)


def _parse_epochs(values: Sequence[object], notes: list[str]) -> list[datetime | None]:
    numbers = [_number(value) for value in values]
    if not _are_numbers(numbers):
        return []
    largest = max(map(abs, numbers), default=0.0)
    unit = next((one for one in _EPOCH_UNITS if _MIN_EPOCH <= largest < one[0]), None)
    if unit is None:
        return []
    notes.append(f"Dates were read as {unit[2]} since 1970, in UTC.")
    return [
        pd.Timestamp(round(number), unit=unit[1]).to_pydatetime(warn=False) for number in numbers
    ]


def _are_numbers(numbers: Sequence[float | None]) -> TypeGuard[Sequence[float]]:
    return all(number is not None for number in numbers)


def _normalise(value: object) -> str:
    is_date = isinstance(value, str | int) and not isinstance(value, bool)
    text = str(value).strip() if is_date else ""
    if len(text) > _MAX_LENGTH:
        return ""
    if _YEAR.fullmatch(text):
        return f"{text}-01-01"
    if match := _QUARTER.fullmatch(text):
        year, quarter = match[1] or match[4], int(match[2] or match[3])
        return f"{year}-{3 * quarter - 2:02}-01"
    return text


def _parse(texts: Iterable[str], *, day_first: bool) -> dict[str, datetime | None]:
    written = list(texts)
    found = pd.to_datetime(written, format="mixed", dayfirst=day_first, errors="coerce", utc=True)
    naive = found.tz_localize(None)
    return {
        text: None if pd.isna(when) or when.year < 1 else when.to_pydatetime(warn=False)
        for text, when in zip(written, naive, strict=True)
    }


def _is_day_first(texts: Sequence[str], notes: list[str], told: bool | None) -> bool:
    parts = [(text, match) for text in texts if (match := _NUMERIC.fullmatch(text))]
    late = next((text for text, one in parts if int(one[1]) > 12 >= int(one[3])), None)
    month = next((text for text, one in parts if int(one[3]) > 12 >= int(one[1])), None)
    if late and month:
        raise ValueError(
            f"The dates are written in two ways: {late} has the day first, {month} the month."
            " Write all dates as 2024-01-31."
        )
    if late or month or not parts:
        return month is None and late is not None
    if told is not None:
        return told
    if all(one[2] == "." for _, one in parts):
        return True
    notes.append(
        f"Dates such as {parts[0][0]} were read as month/day/year, as in the US. If the day comes"
        ' first, say {"values": ..., "day_first": true}.'
    )
    return False


def _number(value: object) -> float | None:
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,20}(?:\.\d{1,9})?", value.strip()):
        return float(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and -1e20 < value < 1e20 and isfinite(value) else None  # type: ignore[operator, arg-type]  # a number
