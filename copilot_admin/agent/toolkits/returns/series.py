"""Series in any of the forms in which models and widgets send them.

Empty cells and NaN are missing and left out. Points are put in the order of their dates. The same
point twice counts once, two values for one date are an error, but payments of one date are added up.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

import pandas as pd

from copilot_admin.agent.text import parse_json_text
from copilot_admin.agent.toolkits.cells import decimal_comma, flat, is_empty, number_of
from copilot_admin.agent.toolkits.returns.dates import (
    find_date_column,
    format_date,
    is_count,
    parse_dates,
)
from copilot_admin.agent.toolkits.tables import Table, read_table

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


@dataclass(frozen=True, slots=True)
class SeriesSet:
    """Series with dates, or without.

    Attributes:
        series: Finite numbers by date, or by place from 1; each has a unique name.
        is_dated: Whether the keys are dates.
        lengths: How many values of each series were given, missing ones included.
        percent_signs: Names of series with values such as "5%".
        notes: What was left out or put in order.
    """

    series: tuple[pd.Series, ...]
    is_dated: bool
    lengths: Mapping[str, int]
    percent_signs: frozenset[str]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Column:
    """Values as they were given, with their dates as written and as understood."""

    name: str
    values: list[object]
    written: list[object] | None = None
    dates: list[datetime | None] = field(default_factory=list)


def label(key: Key) -> str:
    """Return the date of a point, or its place."""
    return format_date(key) if isinstance(key, datetime) else f"point {key}"


def read_series(
    given: object,
    *,
    day_first: bool | None = None,
    adds_up: bool = False,
    in_percent: bool = False,
) -> SeriesSet:
    """Read one or several series.

    Args:
        given: Numbers; rows with a column of dates and columns of values, also with one that names
            the series (symbol); an object of named series, of columns, or of values by date; or
            any of that as JSON or CSV text. Of open, high, low and close only the close counts.
        day_first: Whether 03/04/2024 is in April; None: the column of dates decides.
        adds_up: Whether the values of one date are added up, as payments are.
        in_percent: Whether 5.2 is percent, as "5.2%" always is.

    Raises:
        ValueError: It has another form, or a value or date can't be read.
    """
    reader = _Reader(day_first, adds_up, in_percent)
    columns = reader.columns(given)
    if len(columns) > MAX_SERIES:
        raise ValueError(f"There are {len(columns)} series; at most {MAX_SERIES} can be measured.")
    if sum(len(column.values) for column in columns) > MAX_POINTS:
        raise ValueError(f"There are more than {MAX_POINTS:,} values. Send fewer.")
    if len({column.name for column in columns}) < len(columns):
        raise ValueError("Two series have the same name. Give each a name of its own.")
    dated = {column.written is not None for column in columns}
    if len(dated) > 1:
        raise ValueError("Some values have dates and some have none. Give all of them dates.")
    return SeriesSet(
        series=tuple(map(reader.series, columns)),
        is_dated=dated == {True},
        lengths={column.name: len(column.values) for column in columns},
        percent_signs=frozenset(
            column.name
            for column in columns
            if any(isinstance(value, str) and "%" in value for value in column.values)
        ),
        notes=tuple(dict.fromkeys(reader.notes)),
    )


@dataclass(slots=True)
class _Reader:
    day_first: bool | None
    adds_up: bool
    in_percent: bool
    notes: list[str] = field(default_factory=list)

    def columns(self, given: object, *, is_inner: bool = False) -> list[_Column]:
        match given:
            case str() if not is_inner:
                return self._text(given)
            case Mapping() if given:
                return list(self._object(given, is_inner=is_inner))
            case list() | tuple() if given and all(isinstance(one, Mapping) for one in given):
                return self._rows(read_table(given))
            case list() | tuple() if given and not _is_nested(given):
                return [_Column(DEFAULT_NAME, list(given))]
        raise ValueError(f"There is no series that can be read. {_WANTED}")

    def _text(self, text: str) -> list[_Column]:
        if len(text) > MAX_TEXT:
            raise ValueError(f"The series are longer than {MAX_TEXT:,} characters. Send fewer.")
        text = text.removeprefix("\ufeff").lstrip()
        if not text.startswith(("[", "{")):
            return self._rows(read_table(text))
        return self.columns(parse_json_text(text, what="series"))

    def _object(self, given: Mapping[object, object], *, is_inner: bool) -> Iterator[_Column]:
        column = find_date_column(given)
        if not _is_nested(given.values()):
            keys = list(given)
            dates = parse_dates(keys, self.notes, day_first=self.day_first)
            if not all(dates):
                raise ValueError(f"There is no series that can be read. {_WANTED}")
            yield _Column(DEFAULT_NAME, list(given.values()), keys, dates)
        elif is_inner:
            raise ValueError(f"The series are nested too deeply. {_WANTED}")
        elif column is not None and isinstance(given[column], list | tuple):
            yield from self._rows(read_table(_rows_of_columns(given)))
        else:
            for name, value in given.items():
                inner = self.columns(value, is_inner=True)
                for one in inner:
                    one.name = str(name) if len(inner) == 1 else f"{name} {one.name}"
                    yield one

    def _rows(self, table: Table) -> list[_Column]:
        found = find_date_column(table.columns)
        date = None if found is None else str(found)
        named = next(
            (one for one in table.columns if one != date and _names_series(table, one)), None
        )
        others = [column for column in table.columns if column not in (date, named)]
        chosen = _closing_prices(_numeric(table, others))
        if left_out := [column for column in others if column not in chosen]:
            self.notes.append(f"Columns left out: {', '.join(left_out)}.")
        rows, written, dates = list(table.rows), None, None
        if date is not None:
            written = ["" if row[date] is None else row[date] for row in rows]
            if is_count(written):
                self.notes.append(f"The column {date!r} counts the rows; it has no dates.")
                rows.sort(key=lambda row: float(str(row[date])))
                written = None
            else:
                dates = parse_dates(written, self.notes, day_first=self.day_first)
        columns: dict[str, _Column] = {}
        for place, row in enumerate(rows):
            for column in chosen:
                parts = [str(row[named])] if named else []
                name = " ".join([*parts, column] if len(chosen) > 1 or not named else parts)
                one = columns.setdefault(name, _Column(name, [], None if written is None else []))
                one.values.append(row[column])
                if one.written is not None and written is not None and dates is not None:
                    one.written.append(written[place])
                    one.dates.append(dates[place])
        return list(columns.values())

    def series(self, column: _Column) -> pd.Series:
        """Return the numbers of a column in the order of their dates.

        Raises:
            ValueError: A date or a value can't be read.
        """
        name = column.name
        points: dict[int, float] = {}
        keys = column.dates if column.written is not None else range(1, len(column.values) + 1)
        for place, (key, value) in enumerate(zip(keys, map(flat, column.values), strict=True)):
            if key is None and column.written is not None:
                raise ValueError(
                    f"{str(column.written[place])[:40]!r} in {name!r} is no date. Write dates as"
                    " 2024-01-31."
                )
            if is_empty(value):
                continue
            number = number_of(value)
            if number is None:
                raise ValueError(
                    f"{str(value)[:40]!r} in {name!r} ({label(key or 0)}) is no number."
                    f"{decimal_comma(value)}"
                )
            has_sign = isinstance(value, str) and "%" in value
            points[place] = number / 100 if self.in_percent and not has_sign else float(number)
        if len(points) < len(column.values):
            missing = len(column.values) - len(points)
            self.notes.append(f"Missing values of {name!r} left out: {missing}.")
        index = pd.Index([keys[place] for place in points])
        return self._in_order(pd.Series(list(points.values()), index=index, name=name, dtype=float))

    def _in_order(self, series: pd.Series) -> pd.Series:
        if not series.index.is_monotonic_increasing:
            self.notes.append(f"{series.name!r} was put in the order of its dates.")
            series = series.sort_index(kind="stable")
        if series.index.is_unique:
            return series
        groups = series.groupby(level=0)
        if self.adds_up:
            self.notes.append(f"Payments of {series.name!r} on the same date were added up.")
            return groups.sum()
        differs = groups.nunique() > 1
        if differs.any():
            key = differs.idxmax()
            one, other, *_ = series[key].unique()
            raise ValueError(
                f"{series.name!r} has two values for {label(key)}: {one:g} and {other:g}. Give"
                " each date one, and each series a name of its own."
            )
        self.notes.append(f"Points of {series.name!r} that stood there twice count once.")
        return groups.first()


def _is_nested(values: Iterable[object]) -> bool:
    return any(isinstance(value, list | tuple | Mapping) for value in values)


def _rows_of_columns(given: Mapping[object, object]) -> list[dict[object, object]]:
    columns = {name: value for name, value in given.items() if isinstance(value, list | tuple)}
    if len({len(value) for value in columns.values()}) > 1:
        raise ValueError("The columns have different lengths. Give every date a value or null.")
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _numeric(table: Table, columns: Sequence[str]) -> Sequence[str]:
    numeric = []
    for column in columns:
        cells = [row[column] for row in table.rows]
        if any(number_of(cell) is not None for cell in cells):
            numeric.append(column)
            continue
        for cell in cells:
            if advice := decimal_comma(cell):
                raise ValueError(f"The column {column!r} has {cell!r} in it.{advice}")
    if not numeric:
        raise ValueError(f"There is no column with numbers. {_WANTED}")
    return numeric


def _names_series(table: Table, column: str) -> bool:
    return column.strip().lower() in _LABEL_NAMES and all(
        isinstance(row[column], str)
        and not is_empty(row[column])
        and number_of(row[column]) is None
        for row in table.rows
    )


def _closing_prices(columns: Sequence[str]) -> Sequence[str]:
    by_name = {column.strip().lower(): column for column in columns}
    if "open" not in by_name or "close" not in by_name:
        return columns
    return [next(by_name[name] for name in _CLOSES if name in by_name)]
