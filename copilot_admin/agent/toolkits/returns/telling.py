"""Numbers of returns and risk as tables for people and as lines for models."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TypeAlias

from copilot_admin.agent.toolkits.returns.points import Key, label

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Cell]
Points: TypeAlias = Sequence[tuple[Key, float]]

TOLD_VALUES = 200  # a model is told the latest values of longer series, and what they amount to
TOLD_LATEST = 20
_SIGNIFICANT = 12  # digits; the rest is what binary fractions leave behind
_LARGEST_IN_FULL = 1e6
_PLAIN_NUMBERS = frozenset({"sharpe", "beta", "sortino", "calmar", "deviation_of_values"})


def percent(value: float) -> str:
    """A fraction in percent, with as many digits as people read.

    Examples:
        >>> percent(0.12345), percent(-0.2), percent(0.0000123), percent(0)
        ('12.35%', '-20.00%', '0.00123%', '0.00%')
    """
    if value and abs(value) < 0.0005:
        return f"{value * 100:.3g}%"
    return f"{value:.2%}" if abs(value) < _LARGEST_IN_FULL else f"{value * 100:.4g}%"


def number(value: float) -> str:
    """A number to four decimals.

    Examples:
        >>> number(1.23456), number(252), number(-0.00001), number(12345.6789)
        ('1.2346', '252', '0', '12345.6789')
    """
    if abs(value) >= _LARGEST_IN_FULL:
        return f"{value:.4g}"
    return f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".")


def line(row: Row) -> str:
    """A row about one series as a line: fractions in percent, ratios as numbers.

    Examples:
        >>> line({"series": "A", "total_return": 0.1, "sharpe": None, "begin": "2024-01-02"})
        'A: total return 10.00%, sharpe none, begin 2024-01-02'
    """
    words = (f"{name.replace('_', ' ')} {_said(name, cell)}" for name, cell in row.items())
    _, *others = words
    return f"{row['series']}: {', '.join(others)}"


def table_of(columns: Mapping[str, Points], *, dated: bool) -> list[Row]:
    """A row for each point, with a column for each series; empty where a series has none."""
    head = free_name("date" if dated else "point", columns)
    by_key = {name: dict(points) for name, points in columns.items()}
    keys = sorted({key for points in by_key.values() for key in points})
    return [
        {head: label(key) if dated else _place(key)}
        | {name: points.get(key) for name, points in by_key.items()}
        for key in keys
    ]


def lines_of(columns: Mapping[str, Points]) -> list[str]:
    """What series of fractions amount to, and their values, or the latest of many."""
    lines = [_gist(name, points) for name, points in columns.items()]
    is_short = sum(map(len, columns.values())) <= TOLD_VALUES
    for name, points in columns.items():
        told = points if is_short else points[-TOLD_LATEST:]
        words = "" if len(told) == len(points) else f", the last {len(told)}"
        values = ", ".join(f"{label(key)} {percent(value)}" for key, value in told)
        lines.append(f"{name}{words}: {values}")
    return lines


def free_name(name: str, taken: Mapping[str, object] | Sequence[str]) -> str:
    """A name for a column that no series has.

    Examples:
        >>> free_name("date", ["A", "date"])
        'date_'
    """
    while name in taken:
        name += "_"
    return name


def checked(row: Row) -> Row:
    """The row without the last digits, which binary fractions leave behind.

    Raises:
        OverflowError: A result is no number.
    """
    return {name: _tidy(cell) for name, cell in row.items()}


def _gist(name: str, points: Points) -> str:
    low, high = min(points, key=lambda one: one[1]), max(points, key=lambda one: one[1])
    return (
        f"{name}: {len(points)} values from {label(points[0][0])} to {label(points[-1][0])},"
        f" lowest {percent(low[1])} ({label(low[0])}), highest {percent(high[1])}"
        f" ({label(high[0])})"
    )


def _said(name: str, cell: Cell) -> str:
    if isinstance(cell, float):
        return number(cell) if name in _PLAIN_NUMBERS else percent(cell)
    return "none" if cell is None else str(cell)


def _place(key: Key) -> int:
    return int(str(key))


def _tidy(cell: Cell) -> Cell:
    if not isinstance(cell, float):
        return cell
    if not isfinite(cell):
        raise OverflowError
    return float(f"{cell:.{_SIGNIFICANT}g}")
