"""The points of series: values as they are given become numbers in the order of their dates.

Rules: what is empty or no finite number (NaN) is missing, and left out; points are put in the order
of their dates; the same point twice counts once, two values for one date are an error. Payments are
another matter: those of one date are added up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from copilot_admin.agent.toolkits.returns.date_columns import moments
from copilot_admin.agent.toolkits.returns.dates import said
from copilot_admin.agent.toolkits.table_operations.cells import (
    decimal_comma,
    flat,
    is_empty,
    number_of,
)

Key: TypeAlias = datetime | int


@dataclass(frozen=True, slots=True)
class SeriesCell:
    """A value as it was given, and its date.

    Attributes:
        date: As it was given; None: there is none.
        when: What it says; None: it is no date.
    """

    value: object
    date: object = None
    when: datetime | None = None


Cells: TypeAlias = list[SeriesCell]


@dataclass(slots=True)
class SeriesReading:
    """What is found out while series are read.

    Attributes:
        day_first: What the caller says of dates such as 03/04/2024.
        adds_up: Whether the values of one date are added up.
        in_percent: Whether numbers without a percent sign are percent as well.
    """

    day_first: bool | None
    adds_up: bool
    in_percent: bool
    notes: list[str] = field(default_factory=list)

    def dates(self, values: Sequence[object]) -> list[datetime | None]:
        """The times that a column of dates says."""
        return moments(values, self.notes, day_first=self.day_first)


@dataclass(frozen=True, slots=True)
class Series:
    """Values in the order of their dates, or of their places from 1.

    Attributes:
        name: Unique among the series.
        keys: Dates, or places; as many as values.
        values: Finite numbers.
        length: How many values were given, with those that are missing.
        has_signs: Some were written with a percent sign.
    """

    name: str
    keys: tuple[Key, ...]
    values: tuple[float, ...]
    length: int
    has_signs: bool = False


@dataclass(frozen=True, slots=True)
class SeriesSet:
    """What was given: series with dates, or series without.

    Attributes:
        series: At least one.
        dated: Whether the keys are dates.
        notes: Sentences on what was left out or put in order.
    """

    series: tuple[Series, ...]
    dated: bool
    notes: tuple[str, ...] = ()


def label(key: Key) -> str:
    """A point in words: its date, or its place."""
    return said(key) if isinstance(key, datetime) else f"point {key}"


def series_of(name: str, cells: Cells, reading: SeriesReading) -> Series:
    """The series of a column.

    Raises:
        ValueError: A date or a value cannot be read; the text says which and what would be right.
    """
    points: list[tuple[Key, float]] = []
    has_signs = False
    for place, cell in enumerate(cells, start=1):
        value = flat(cell.value)
        key = place if cell.date is None else cell.when
        if key is None:
            raise ValueError(
                f"{str(cell.date)[:40]!r} in {name!r} is no date. Write dates as 2024-01-31."
            )
        if is_empty(value):
            continue
        number = number_of(value)
        if number is None:
            raise ValueError(
                f"{str(value)[:40]!r} in {name!r} ({label(key)}) is no number."
                f"{decimal_comma(value)}"
            )
        is_signed = isinstance(value, str) and "%" in value
        has_signs = has_signs or is_signed
        is_percent = reading.in_percent and not is_signed
        points.append((key, float(number) / 100 if is_percent else float(number)))
    if len(points) < len(cells):
        reading.notes.append(f"Missing values of {name!r} left out: {len(cells) - len(points)}.")
    ordered = _in_order(name, points, reading)
    return Series(name, tuple(ordered), tuple(ordered.values()), len(cells), has_signs)


def _in_order(
    name: str, points: Sequence[tuple[Key, float]], reading: SeriesReading
) -> dict[Key, float]:
    ordered = sorted(points, key=lambda point: point[0])
    if ordered != list(points):
        reading.notes.append(f"{name!r} was put in the order of its dates.")
    values: dict[Key, float] = {}
    for key, value in ordered:
        if reading.adds_up:
            values[key] = values.get(key, 0.0) + value
        elif values.setdefault(key, value) != value:
            raise ValueError(
                f"{name!r} has two values for {label(key)}: {values[key]:g} and {value:g}. Give"
                " each date one, and each series a name of its own."
            )
    if len(values) < len(ordered):
        reading.notes.append(
            f"Payments of {name!r} on the same date were added up."
            if reading.adds_up
            else f"Points of {name!r} that stood there twice count once."
        )
    return values
