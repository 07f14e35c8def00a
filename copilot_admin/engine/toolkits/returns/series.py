"""Reads series in any of the forms in which models and widgets have them.

Rules: what is empty or no finite number (NaN) is missing, and left out; points are put in the order
of their dates; the same point twice counts once, two values for one date are an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from copilot_admin.engine.toolkits.json_text import json_in
from copilot_admin.engine.toolkits.returns.dates import NAMES as DATE_NAMES
from copilot_admin.engine.toolkits.returns.dates import moment, said
from copilot_admin.engine.toolkits.table_operations.cells import flat, is_empty, number_of
from copilot_admin.engine.toolkits.table_operations.table import Table, read_table

MAX_SERIES = 50
MAX_POINTS = 100_000
MAX_TEXT = 5_000_000  # characters
DEFAULT_NAME = "series"
_LABEL_NAMES = frozenset({"symbol", "ticker", "name", "series"})
_CLOSES = ("adj_close", "adjusted_close", "adj close", "close")
_WANTED = (
    "Give a list of numbers, a list of {date, value}, or an object of several named series such as"
    ' {"A": [1, 2], "B": [3, 4]}.'
)

Key: TypeAlias = datetime | int
_Cells: TypeAlias = list[tuple[object, object]]  # what stands for the date, and for the value


@dataclass(frozen=True, slots=True)
class Series:
    """Values in the order of their dates, or of their places from 1.

    Attributes:
        name: Unique among the series.
        keys: Dates, or places; as many as values.
        values: Finite numbers.
        length: How many values were given, with those that are missing.
    """

    name: str
    keys: tuple[Key, ...]
    values: tuple[float, ...]
    length: int


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


def read_series(given: object) -> SeriesSet:
    """Reads one or several series.

    Args:
        given: Numbers; rows with a column of dates and columns of values, also with one that names
            the series (symbol); an object of named series, of columns, or of values by date; or
            any of that as JSON or CSV text. Of open, high, low and close only the close counts.

    Raises:
        ValueError: It is none of that, or a value or date cannot be read.

    Examples:
        >>> one, = read_series({"A": [{"date": "2024-01-02", "value": "1,200"}]}).series
        >>> one.name, one.values
        ('A', (1200.0,))
    """
    notes: list[str] = []
    columns = _columns(given, notes)
    if len(columns) > MAX_SERIES:
        raise ValueError(f"There are {len(columns)} series; at most {MAX_SERIES} can be measured.")
    if sum(len(cells) for _, cells in columns) > MAX_POINTS:
        raise ValueError(f"There are more than {MAX_POINTS:,} values. Send fewer.")
    if len({name for name, _ in columns}) < len(columns):
        raise ValueError("Two series have the same name. Give each a name of its own.")
    dated = {date is not None for _, cells in columns for date, _ in cells}
    if len(dated) > 1:
        raise ValueError("Some values have dates and some have none. Give all of them dates.")
    return SeriesSet(
        tuple(_series(name, cells, notes) for name, cells in columns),
        dated=dated == {True},
        notes=tuple(dict.fromkeys(notes)),
    )


def label(key: Key) -> str:
    """A point in words: its date, or its place."""
    return said(key) if isinstance(key, datetime) else f"point {key}"


def _columns(
    given: object, notes: list[str], *, is_inner: bool = False
) -> list[tuple[str, _Cells]]:
    match given:
        case str() if not is_inner:
            return _columns_of_text(given, notes)
        case Mapping() if given:
            return list(_columns_of_object(given, notes, is_inner=is_inner))
        case list() | tuple() if given and all(isinstance(one, Mapping) for one in given):
            return _columns_of_rows(read_table(given), notes)
        case list() | tuple() if given and not any(
            isinstance(one, Mapping | list | tuple) for one in given
        ):
            return [(DEFAULT_NAME, [(None, one) for one in given])]
    raise ValueError(f"There is no series that can be read. {_WANTED}")


def _columns_of_text(text: str, notes: list[str]) -> list[tuple[str, _Cells]]:
    if len(text) > MAX_TEXT:
        raise ValueError(f"The series are longer than {MAX_TEXT:,} characters. Send fewer.")
    if not text.lstrip("\ufeff \n\r\t").startswith(("[", "{")):
        return _columns_of_rows(read_table(text), notes)
    return _columns(json_in(text.lstrip("\ufeff"), what="series"), notes)


def _columns_of_object(
    given: Mapping[object, object], notes: list[str], *, is_inner: bool
) -> Iterator[tuple[str, _Cells]]:
    dates = next((key for key in given if _is_in(DATE_NAMES, key)), None)
    if not any(isinstance(value, list | tuple | Mapping) for value in given.values()):
        if not all(moment(key) for key in given):
            raise ValueError(f"There is no series that can be read. {_WANTED}")
        yield DEFAULT_NAME, list(given.items())
    elif is_inner:
        raise ValueError(f"The series are nested too deeply. {_WANTED}")
    elif dates is not None and isinstance(given[dates], list | tuple):
        yield from _columns_of_rows(read_table(_rows_of_columns(given)), notes)
    else:
        for name, value in given.items():
            inner = _columns(value, notes, is_inner=True)
            for column, cells in inner:
                yield str(name) if len(inner) == 1 else f"{name} {column}", cells


def _rows_of_columns(given: Mapping[object, object]) -> list[dict[object, object]]:
    columns = {name: value for name, value in given.items() if isinstance(value, list | tuple)}
    lengths = {len(value) for value in columns.values()}
    if len(lengths) > 1:
        raise ValueError("The columns have different lengths. Give every date a value or null.")
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _columns_of_rows(table: Table, notes: list[str]) -> list[tuple[str, _Cells]]:
    date = next((column for column in table.columns if _is_in(DATE_NAMES, column)), None)
    named = next((one for one in table.columns if one != date and _names_series(table, one)), None)
    others = [column for column in table.columns if column not in (date, named)]
    numeric = [
        column for column in others if any(number_of(row[column]) is not None for row in table.rows)
    ]
    if not numeric:
        raise ValueError(f"There is no column with numbers. {_WANTED}")
    chosen = _closing_prices(numeric)
    left_out = [column for column in others if column not in chosen]
    if left_out:
        notes.append(f"Columns left out: {', '.join(left_out)}.")
    found: dict[str, _Cells] = {}
    for row in table.rows:
        when = None if date is None else row[date] or ""  # "" is a date that cannot be read
        for column in chosen:
            parts = [str(row[named])] if named else []
            name = " ".join([*parts, column] if len(chosen) > 1 or not named else parts)
            found.setdefault(name, []).append((when, row[column]))
    return list(found.items())


def _names_series(table: Table, column: str) -> bool:
    cells = [row[column] for row in table.rows]
    return _is_in(_LABEL_NAMES, column) and all(
        isinstance(cell, str) and not is_empty(cell) and number_of(cell) is None for cell in cells
    )


def _closing_prices(columns: Sequence[str]) -> Sequence[str]:
    """Of open, high, low, close and volume the close, adjusted where there is one."""
    by_name = {column.strip().lower(): column for column in columns}
    if "open" not in by_name or "close" not in by_name:
        return columns
    return [next(by_name[name] for name in _CLOSES if name in by_name)]


def _series(name: str, cells: _Cells, notes: list[str]) -> Series:
    points: list[tuple[Key, float]] = []
    for place, (date, value) in enumerate(cells, start=1):
        cell = flat(value)
        key = place if date is None else moment(date)
        if key is None:
            raise ValueError(
                f"{str(date)[:40]!r} in {name!r} is no date. Write dates as 2024-01-31."
            )
        if is_empty(cell):
            continue
        number = number_of(cell)
        if number is None:
            raise ValueError(f"{str(cell)[:40]!r} in {name!r} ({label(key)}) is no number.")
        points.append((key, float(number)))
    if len(points) < len(cells):
        notes.append(f"Missing values of {name!r} left out: {len(cells) - len(points)}.")
    ordered = _in_order(name, points, notes)
    return Series(name, tuple(ordered), tuple(ordered.values()), len(cells))


def _in_order(name: str, points: Sequence[tuple[Key, float]], notes: list[str]) -> dict[Key, float]:
    ordered = sorted(points, key=lambda point: point[0])
    if ordered != list(points):
        notes.append(f"{name!r} was put in the order of its dates.")
    values: dict[Key, float] = {}
    for key, value in ordered:
        if values.setdefault(key, value) != value:
            raise ValueError(
                f"{name!r} has two values for {label(key)}: {values[key]:g} and {value:g}. Give"
                " each date one, and each series a name of its own."
            )
    if len(values) < len(ordered):
        notes.append(f"Points of {name!r} that stood there twice count once.")
    return values


def _is_in(names: frozenset[str], column: object) -> bool:
    return str(column).strip().lower() in names
