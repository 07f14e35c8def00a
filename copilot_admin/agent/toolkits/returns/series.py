"""Reads series in any of the forms in which models and widgets have them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from copilot_admin.agent.toolkits.returns.date_columns import date_column, is_count
from copilot_admin.agent.toolkits.returns.points import (
    Cells,
    SeriesCell,
    SeriesReading,
    SeriesSet,
    series_of,
)
from copilot_admin.agent.toolkits.table_operations.cells import (
    Row,
    decimal_comma,
    is_empty,
    number_of,
)
from copilot_admin.agent.toolkits.table_operations.table import Table, read_table
from copilot_admin.agent.toolkits.texts import json_in

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


def read_series(
    given: object,
    *,
    day_first: bool | None = None,
    adds_up: bool = False,
    in_percent: bool = False,
) -> SeriesSet:
    """Reads one or several series.

    Args:
        given: Numbers; rows with a column of dates and columns of values, also with one that names
            the series (symbol); an object of named series, of columns, or of values by date; or
            any of that as JSON or CSV text. Of open, high, low and close only the close counts.
        day_first: Whether 03/04/2024 is in April; None: the column of dates decides.
        adds_up: Whether the values of one date are added up, as payments are.
        in_percent: Whether 5.2 is percent, as "5.2%" always is.

    Raises:
        ValueError: It is none of that, or a value or date cannot be read.

    Examples:
        >>> one, = read_series({"A": [{"date": "2024-01-02", "value": "1,200"}]}).series
        >>> one.name, one.values
        ('A', (1200.0,))
    """
    reading = SeriesReading(day_first, adds_up, in_percent)
    columns = _columns(given, reading)
    if len(columns) > MAX_SERIES:
        raise ValueError(f"There are {len(columns)} series; at most {MAX_SERIES} can be measured.")
    if sum(len(cells) for _, cells in columns) > MAX_POINTS:
        raise ValueError(f"There are more than {MAX_POINTS:,} values. Send fewer.")
    if len({name for name, _ in columns}) < len(columns):
        raise ValueError("Two series have the same name. Give each a name of its own.")
    dated = {cell.date is not None for _, cells in columns for cell in cells}
    if len(dated) > 1:
        raise ValueError("Some values have dates and some have none. Give all of them dates.")
    return SeriesSet(
        tuple(series_of(name, cells, reading) for name, cells in columns),
        dated=dated == {True},
        notes=tuple(dict.fromkeys(reading.notes)),
    )


def _columns(
    given: object, reading: SeriesReading, *, is_inner: bool = False
) -> list[tuple[str, Cells]]:
    match given:
        case str() if not is_inner:
            return _columns_of_text(given, reading)
        case Mapping() if given:
            return list(_columns_of_object(given, reading, is_inner=is_inner))
        case list() | tuple() if given and all(isinstance(one, Mapping) for one in given):
            return _columns_of_rows(read_table(given), reading)
        case list() | tuple() if given and not any(
            isinstance(one, Mapping | list | tuple) for one in given
        ):
            return [(DEFAULT_NAME, [SeriesCell(one) for one in given])]
    raise ValueError(f"There is no series that can be read. {_WANTED}")


def _columns_of_text(text: str, reading: SeriesReading) -> list[tuple[str, Cells]]:
    if len(text) > MAX_TEXT:
        raise ValueError(f"The series are longer than {MAX_TEXT:,} characters. Send fewer.")
    if not text.lstrip("\ufeff \n\r\t").startswith(("[", "{")):
        return _columns_of_rows(read_table(text), reading)
    return _columns(json_in(text.lstrip("\ufeff"), what="series"), reading)


def _columns_of_object(
    given: Mapping[object, object], reading: SeriesReading, *, is_inner: bool
) -> Iterator[tuple[str, Cells]]:
    column = date_column(given)
    if not any(isinstance(value, list | tuple | Mapping) for value in given.values()):
        dates = list(zip(given, reading.dates([*given]), strict=True))
        if not all(when for _, when in dates):
            raise ValueError(f"There is no series that can be read. {_WANTED}")
        yield DEFAULT_NAME, [SeriesCell(given[date], date, when) for date, when in dates]
    elif is_inner:
        raise ValueError(f"The series are nested too deeply. {_WANTED}")
    elif column is not None and isinstance(given[column], list | tuple):
        yield from _columns_of_rows(read_table(_rows_of_columns(given)), reading)
    else:
        for name, value in given.items():
            inner = _columns(value, reading, is_inner=True)
            for label_of, cells in inner:
                yield str(name) if len(inner) == 1 else f"{name} {label_of}", cells


def _rows_of_columns(given: Mapping[object, object]) -> list[dict[object, object]]:
    columns = {name: value for name, value in given.items() if isinstance(value, list | tuple)}
    lengths = {len(value) for value in columns.values()}
    if len(lengths) > 1:
        raise ValueError("The columns have different lengths. Give every date a value or null.")
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _columns_of_rows(table: Table, reading: SeriesReading) -> list[tuple[str, Cells]]:
    found_date = date_column(table.columns)
    date = None if found_date is None else str(found_date)
    named = next((one for one in table.columns if one != date and _names_series(table, one)), None)
    others = [column for column in table.columns if column not in (date, named)]
    chosen = _closing_prices(_numeric(table, others))
    left_out = [column for column in others if column not in chosen]
    if left_out:
        reading.notes.append(f"Columns left out: {', '.join(left_out)}.")
    found: dict[str, Cells] = {}
    for row, (written, when) in _in_time(table, date, reading):
        for column in chosen:
            parts = [str(row[named])] if named else []
            name = " ".join([*parts, column] if len(chosen) > 1 or not named else parts)
            found.setdefault(name, []).append(SeriesCell(row[column], written, when))
    return list(found.items())


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


def _in_time(
    table: Table, date: str | None, reading: SeriesReading
) -> Sequence[tuple[Row, tuple[object, datetime | None]]]:
    if date is None:
        return [(row, (None, None)) for row in table.rows]
    written = ["" if row[date] is None else row[date] for row in table.rows]
    if is_count(written):
        reading.notes.append(f"The column {date!r} counts the rows; it has no dates.")
        rows = sorted(table.rows, key=lambda row: float(str(row[date])))
        return [(row, (None, None)) for row in rows]
    dates = zip(written, reading.dates(written), strict=True)
    return list(zip(table.rows, dates, strict=True))


def _names_series(table: Table, column: str) -> bool:
    cells = [row[column] for row in table.rows]
    return _is_in(_LABEL_NAMES, column) and all(
        isinstance(cell, str) and not is_empty(cell) and number_of(cell) is None for cell in cells
    )


def _closing_prices(columns: Sequence[str]) -> Sequence[str]:
    by_name = {column.strip().lower(): column for column in columns}
    if "open" not in by_name or "close" not in by_name:
        return columns
    return [next(by_name[name] for name in _CLOSES if name in by_name)]


def _is_in(names: frozenset[str], column: object) -> bool:
    return str(column).strip().lower() in names
