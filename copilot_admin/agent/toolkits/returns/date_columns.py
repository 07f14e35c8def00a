"""Reads a column of dates as a whole, since one date alone often does not say how it is meant."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import isfinite

from copilot_admin.agent.toolkits.returns.dates import (
    Parts,
    epoch_moment,
    epoch_unit,
    iso_moment,
    named_moment,
    numeric_parts,
)

NAMES = frozenset(
    {"date", "datetime", "time", "timestamp", "day", "week", "month", "quarter", "year", "period"}
)
_LAST_WORDS = frozenset({"date", "datetime", "timestamp", "time"})  # of "trade_date"
_LARGEST_COUNT = 1_800  # a larger whole number may be a year


def moments(
    values: Sequence[object], notes: list[str], *, day_first: bool | None = None
) -> list[datetime | None]:
    """The times that the values of a column say, each without a zone; None: it says none.

    Numbers of nine digits and more are seconds, milliseconds or smaller parts since 1970. Dates
    such as 03/04/2024 are read in one way through the whole column: with the day first if any has
    a first number above 12 or dots, else with the month first, as in the US.

    Args:
        values: Texts or numbers.
        notes: Takes how dates were read that could mean something else.
        day_first: What the caller says of dates such as 03/04/2024; None: nothing.

    Raises:
        ValueError: Some dates can only have the day first, others only the month.

    Examples:
        >>> [str(one) for one in moments(["03/04/2024", "13/04/2024"], [])]
        ['2024-04-03 00:00:00', '2024-04-13 00:00:00']
    """
    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    unit = epoch_unit(max(map(abs, known), default=0.0))
    if unit is not None and len(known) == len(values):
        notes.append(f"Dates were read as {unit[0]} since 1970, in UTC.")
        return [epoch_moment(number, unit[1]) for number in known]
    parts = [numeric_parts(value) if isinstance(value, str) else None for value in values]
    is_day_first = _is_day_first([one for one in parts if one], notes, said=day_first)
    return [
        part.when(day_first=is_day_first) if part else _alone(value, number)
        for value, part, number in zip(values, parts, numbers, strict=True)
    ]


def date_column(columns: Iterable[object]) -> object | None:
    """The column that has the dates, by its name; None: no name says it.

    Examples:
        >>> date_column(["close", "Trade Date"]), date_column(["date", "trade date"]), date_column("A")
        ('Trade Date', 'date', None)
    """
    listed = list(columns)
    exact = (one for one in listed if str(one).strip().lower() in NAMES)
    ending = (one for one in listed if _last_word(str(one)) in _LAST_WORDS)
    return next(exact, next(ending, None))


def _last_word(name: str) -> str:
    return name.strip().lower().replace("_", " ").replace("-", " ").rpartition(" ")[2]


def is_count(values: Sequence[object]) -> bool:
    numbers = [_number(value) for value in values]
    return bool(numbers) and all(
        number is not None and 0 <= number < _LARGEST_COUNT and number == int(number)
        for number in numbers
    )


def _alone(value: object, number: float | None) -> datetime | None:
    read = iso_moment(value)
    if read is not None:
        return read
    if number is not None and (unit := epoch_unit(abs(number))):
        return epoch_moment(number, unit[1])
    return named_moment(value) if isinstance(value, str) else None


def _is_day_first(parts: Sequence[Parts], notes: list[str], *, said: bool | None) -> bool:
    if not parts:
        return False
    late = next((one for one in parts if one.first > 12 >= one.second), None)
    month = next((one for one in parts if one.second > 12 >= one.first), None)
    if late and month:
        raise ValueError(
            f"The dates are written in two ways: {_written(late)} has the day first,"
            f" {_written(month)} the month. Write all dates as 2024-01-31."
        )
    if late or month:
        return month is None
    dotted = all(one.dotted for one in parts)
    is_day_first = dotted if said is None else said
    first, second = ("day", "month") if is_day_first else ("month", "day")
    example = _written(parts[0])
    if said is None and not dotted:
        notes.append(
            f"Dates such as {example} were read as {first}/{second}/year, as in the US. If the day"
            ' comes first, say {"values": ..., "day_first": true}.'
        )
    return is_day_first


def _written(part: Parts) -> str:
    mark = "." if part.dotted else "/"
    return f"{part.first:02}{mark}{part.second:02}{mark}{part.year}"


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if -1e20 < value < 1e20 and isfinite(value) else None
    if isinstance(value, str) and len(value) <= 30 and _is_digits(value.strip()):
        return float(value)
    return None


def _is_digits(text: str) -> bool:
    whole, _, fraction = text.removeprefix("-").partition(".")
    return whole.isascii() and whole.isdecimal() and (not fraction or fraction.isdecimal())
