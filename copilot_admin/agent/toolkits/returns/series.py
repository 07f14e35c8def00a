"""Series in any of the forms in which models and widgets send them.

Empty cells and NaN are missing. Points are sorted by date. Identical points are merged. Two values
for one date are an error, except payments, which are added up.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from math import isfinite
import re
from typing import TypeAlias

import numpy as np
import pandas as pd

from copilot_admin.agent.text import parse_json_text
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.tables import (
    MAX_TEXT,
    Table,
    decimal_comma,
    is_empty,
    number_of,
    read_table,
)

DEFAULT_NAME = "series"
START = "start"  # the point before the first return
TRADING_DAYS = 252
DAYS_PER_YEAR = 365.25
_DATE_NAMES = frozenset(
    {"date", "datetime", "time", "timestamp", "day", "week", "month", "quarter", "year", "period"}
)
_DATE_ENDINGS = frozenset({"date", "datetime", "timestamp", "time"})  # of "trade_date"
_LABEL_NAMES = frozenset({"symbol", "ticker", "name", "series"})
_CLOSES = ("adj_close", "adjusted_close", "adj close", "close")
_MAX_COUNT = 1_800  # a larger integer may be a year
_MIN_EPOCH = 1e8  # seconds, March 1973; every date written as 20240131 is a smaller number
_EPOCH_UNITS = ((1e11, "s"), (1e14, "ms"), (1e17, "us"), (9e18, "ns"))
_NUMERIC_DATE = r"^(\d{1,2})([/.-])(\d{1,2})\2(?:\d{4}|\d{2})\b"
_QUARTER = re.compile(r"(\d{4})?[ -]?Q([1-4])[ /-]?(\d{4})?", re.IGNORECASE)
_USUAL_GAPS = (  # days between two points, and the number of such periods in a year
    (5.5, 8.5, 52),
    (13, 16, 26),
    (26.5, 35.5, 12),  # the last trading days of two months are up to five weeks apart
    (85, 98, 4),
    (175, 190, 2),
    (355, 375, 1),
)
_WANTED = (
    "There is no series that can be read. Give a list of numbers, a list of {date, value}, or an"
    ' object of several named series such as {"A": [1, 2], "B": [3, 4]}.'
)

Key: TypeAlias = datetime | int | str
_Point: TypeAlias = tuple[str, object, object]  # name, unparsed date or None, unparsed value


def label(key: Key) -> str:
    """Return the date of a point, or its place."""
    if isinstance(key, datetime):
        return key.isoformat().removesuffix("T00:00:00")
    return START if key == START else f"point {key}"


def read_series(
    given: object, options: Options, notes: list[str], *, adds_up: bool = False
) -> list[pd.Series]:
    """Read one or several series: numbers by date, or by place from 1, where NaN is missing.

    `given` are numbers; rows with a column of dates and columns of values, also with one that names
    the series (symbol); an object of named series, of columns, or of values by date; or any of that
    as JSON or CSV text. Of open, high, low and close only the close counts. With `adds_up`, values
    of one date are added up, as payments are. `notes` receives what was left out or sorted.
    """
    points = list(_points(given, notes))
    frame = pd.DataFrame(points, columns=["name", "date", "value"], dtype=object)
    has_date = frame["date"].notna()
    if has_date.any() and not has_date.all():
        raise ValueError("Some values have dates and some have none. Give all of them dates.")
    is_dated = bool(has_date.all())
    counts = pd.to_numeric(frame["date"], errors="coerce")
    if is_dated and (counts.between(0, _MAX_COUNT) & (counts % 1 == 0)).all():
        notes.append("The column of dates counts the rows; it has no dates.")
        frame = frame.sort_values("date", key=pd.to_numeric, kind="stable")
        is_dated = False
    if is_dated:
        frame["key"] = parse_dates(frame["date"], notes, day_first=options.day_first)
    else:
        frame["key"] = frame.groupby("name", sort=False).cumcount() + 1
    frame["number"] = _numbers(frame, notes)
    has_sign = frame["value"].map(lambda value: isinstance(value, str) and "%" in value)
    if options.unit == "percent":
        frame["number"] = frame["number"].where(has_sign, frame["number"] / 100)
    if options.kind == "prices" and not adds_up:
        notes += [
            f"Are the values of {name!r} returns? They have percent signs and were taken as prices."
            ' If they are returns, say {"values": ..., "kind": "returns"}.'
            for name in frame["name"][has_sign].unique()
        ]
    return [
        _in_order(
            pd.Series(rows["number"].to_numpy(float), index=pd.Index(rows["key"]), name=name),
            notes,
            adds_up=adds_up,
        )
        for name, rows in frame.groupby("name", sort=False)
    ]


# --- forms


def _points(given: object, notes: list[str], *, name: str = "") -> Iterator[_Point]:
    """Yield name, date and value of each point; `name` is that of an inner series."""
    match given:
        case str() if not name:
            text = given.removeprefix("\ufeff").lstrip()
            is_json = text.startswith(("[", "{")) and len(text) <= MAX_TEXT
            read = parse_json_text(text, what="series") if is_json else None
            yield from _points(read, notes) if is_json else _of_rows(text, notes)
        case Mapping() if given and not _is_nested(given.values()):
            yield from ((name or DEFAULT_NAME, str(key), one) for key, one in given.items())
        case Mapping() if given and not name:
            if isinstance(given.get(_date_column(list(given))), list):
                yield from _of_rows(_rows_of_columns(given), notes)
            else:
                for key, inner in given.items():
                    yield from _points(inner, notes, name=str(key))
        case list() | tuple() if given and all(isinstance(one, Mapping) for one in given):
            yield from _of_rows(given, notes, prefix=name)
        case list() | tuple() if given and not _is_nested(given):
            yield from ((name or DEFAULT_NAME, None, one) for one in given)
        case _:
            raise ValueError(_WANTED)


def _of_rows(rows: object, notes: list[str], *, prefix: str = "") -> Iterator[_Point]:
    table = read_table(rows)
    date = _date_column(table.columns)
    named = next((one for one in table.columns if one != date and _is_label(table, one)), None)
    others = [column for column in table.columns if column not in (date, named)]
    chosen = _numeric_columns(table, others)
    by_name = {column.strip().lower(): column for column in chosen}
    if "open" in by_name and "close" in by_name:
        chosen = [next(by_name[name] for name in _CLOSES if name in by_name)]
    if left_out := [column for column in others if column not in chosen]:
        notes.append(f"Columns left out: {', '.join(left_out)}.")
    for row in table.rows:
        parts = [prefix, *([str(row[named])] if named else [])]
        when = None if date is None else row[date]
        for column in chosen:
            needs_column = len(chosen) > 1 or not any(parts)
            name = " ".join(filter(None, [*parts, column if needs_column else ""]))
            yield name, "" if date and when is None else when, row[column]


def _is_nested(values: object) -> bool:
    return any(isinstance(value, list | tuple | Mapping) for value in values)  # type: ignore[attr-defined]  # values of a list or object


def _rows_of_columns(given: Mapping[object, object]) -> list[dict[object, object]]:
    columns = {name: value for name, value in given.items() if isinstance(value, list)}
    if len({len(value) for value in columns.values()}) > 1:
        raise ValueError("The columns have different lengths. Give every date a value or null.")
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _date_column(columns: Sequence[object]) -> str | None:
    """Return the column whose name indicates dates."""
    names = [str(one) for one in columns]
    exact = (one for one in names if one.strip().lower() in _DATE_NAMES)
    ending = (one for one in names if re.split(r"[ _-]", one.strip().lower())[-1] in _DATE_ENDINGS)
    return next(exact, next(ending, None))


def _is_label(table: Table, column: str) -> bool:
    return column.strip().lower() in _LABEL_NAMES and all(
        isinstance(row[column], str) and number_of(row[column]) is None for row in table.rows
    )


def _numeric_columns(table: Table, columns: Sequence[str]) -> Sequence[str]:
    numeric = []
    for column in columns:
        cells = [row[column] for row in table.rows]
        if any(number_of(cell) is not None for cell in cells):
            numeric.append(column)
        elif advice := next(filter(None, map(decimal_comma, cells)), ""):
            raise ValueError(f"The column {column!r} has no number that can be read.{advice}")
    if not numeric:
        raise ValueError(f"There is no column with numbers. {_WANTED}")
    return numeric


# --- values


def _numbers(frame: pd.DataFrame, notes: list[str]) -> pd.Series:
    for one in frame[frame["key"].isna()].itertuples():
        raise ValueError(
            f"{str(one.date)[:40]!r} in {one.name!r} is no date. Write dates as 2024-01-31."
        )
    is_missing = frame["value"].map(
        lambda value: is_empty(value) or (isinstance(value, float) and not isfinite(value))
    )
    numbers = frame["value"].map(number_of).mask(is_missing).astype(float)
    for one in frame[numbers.isna() & ~is_missing].itertuples():
        raise ValueError(
            f"{str(one.value)[:40]!r} in {one.name!r} ({label(one.key)}) is no number."
            f"{decimal_comma(one.value)}"
        )
    missing = frame["name"][is_missing].value_counts(sort=False)
    notes += [f"Missing values of {name!r} left out: {count}." for name, count in missing.items()]
    return numbers


def _in_order(series: pd.Series, notes: list[str], *, adds_up: bool) -> pd.Series:
    if not series.index.is_monotonic_increasing:
        notes.append(f"{series.name!r} was put in the order of its dates.")
        series = series.sort_index(kind="stable")
    if series.index.is_unique:
        return series
    groups = series.groupby(level=0)
    if adds_up:
        notes.append(f"Payments of {series.name!r} on the same date were added up.")
        return groups.sum()
    differs = groups.nunique() > 1
    if differs.any():
        key = differs.idxmax()
        one, other, *_ = series[key].dropna().unique()
        raise ValueError(
            f"{series.name!r} has two values for {label(key)}: {one:g} and {other:g}. Give each"
            " date one, and each series a name of its own."
        )
    notes.append(f"Points of {series.name!r} that stood there twice count once.")
    return groups.first()


# --- dates


def parse_dates(values: pd.Series, notes: list[str], *, day_first: bool | None = None) -> pd.Series:
    """Return the time of each value of a column, without a zone (UTC), or NaT if it is not a date.

    Numbers of nine digits and more are seconds, milliseconds or smaller units since 1970. Dates
    such as 03/04/2024 are read in the same order for the full column: day first if any starts with
    a number above 12 or has dots, else as `day_first` says, else month first, as in the US.
    """
    numbers = pd.to_numeric(values, errors="coerce")
    largest = numbers.abs().max() if numbers.notna().all() else 0
    unit = next((unit for limit, unit in _EPOCH_UNITS if _MIN_EPOCH <= largest < limit), None)
    if unit is not None:
        notes.append(f"Dates were read as {unit} since 1970, in UTC.")
        return pd.to_datetime(numbers.round().astype("int64"), unit=unit, errors="coerce")
    texts = values.map(_normalise_date)
    is_day_first = _is_day_first(texts, notes, day_first)
    is_iso = texts.str[:4].str.isdecimal()  # `dayfirst` would swap their numbers
    iso, other = (
        pd.to_datetime(
            texts.where(chosen), format="mixed", dayfirst=first, errors="coerce", utc=True
        )
        for chosen, first in ((is_iso, False), (~is_iso, is_day_first))
    )
    return iso.fillna(other).dt.tz_localize(None)


def periods_per_year(times: pd.DatetimeIndex) -> float | None:
    """Return the number of periods in a year at these times, or None for less than a day.

    The median gap counts, so holes don't matter; weekends and single holidays of daily data
    don't either. Daily data has 252 periods, or 365 if more than a tenth are Saturdays and Sundays.
    """
    gap = float(np.median(np.diff(times) / pd.Timedelta(days=1)))
    if gap < 0.9:
        return None
    days = times.to_numpy().astype("datetime64[D]")
    if np.median(np.busday_count(days[:-1], days[1:])) <= 1.5:
        return 365 if (times.day_of_week >= 5).mean() > 0.1 else TRADING_DAYS
    usual = (periods for low, high, periods in _USUAL_GAPS if low <= gap <= high)
    return next(usual, DAYS_PER_YEAR / gap)


def _normalise_date(value: object) -> str:
    text = str(value).strip()
    match = _QUARTER.fullmatch(text)
    if match and (year := match[1] or match[3]):
        return f"{year}-{3 * int(match[2]) - 2:02}-01"
    return text


def _is_day_first(texts: pd.Series, notes: list[str], chosen: bool | None) -> bool:
    parts = texts.str.extract(_NUMERIC_DATE).dropna()
    first, last = parts[0].astype(int), parts[2].astype(int)
    days_first, months_first = (
        texts[first.index[(first > 12) & (last <= 12)]],
        texts[last.index[(last > 12) & (first <= 12)]],
    )
    if len(days_first) and len(months_first):
        raise ValueError(
            f"The dates are written in two ways: {days_first.iloc[0]} has the day first,"
            f" {months_first.iloc[0]} the month. Write all dates as 2024-01-31."
        )
    if parts.empty or len(days_first) or len(months_first):
        return bool(len(days_first))
    if chosen is not None:
        return chosen
    if (parts[1] == ".").all():
        return True
    notes.append(
        f"Dates such as {texts[parts.index[0]]} were read as month/day/year, as in the US. If the"
        ' day comes first, say {"values": ..., "day_first": true}.'
    )
    return False
