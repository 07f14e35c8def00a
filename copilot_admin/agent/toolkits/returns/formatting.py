"""Results as tables for people and as lines for models."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TypeAlias

from copilot_admin.agent.toolkits.returns.series import Key, label

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Cell]
Points: TypeAlias = Sequence[tuple[Key, float]]

MAX_DESCRIBED = 200  # of longer series a model gets the latest values and an outline
DESCRIBED_LATEST = 20
_SIGNIFICANT = 12  # digits; the rest is what binary fractions leave behind
_MAX_PLAIN = 1e6
_PLAIN_NUMBERS = frozenset({"sharpe", "beta", "sortino", "calmar", "deviation_of_values"})


def format_percent(value: float) -> str:
    """Return a fraction in percent, with as many digits as people read.

    Examples:
        >>> format_percent(0.12345), format_percent(0.0000123)
        ('12.35%', '0.00123%')
    """
    if value and abs(value) < 0.0005:
        return f"{value * 100:.3g}%"
    return f"{value:.2%}" if abs(value) < _MAX_PLAIN else f"{value * 100:.4g}%"


def format_number(value: float) -> str:
    """Return a number to four decimals.

    Examples:
        >>> format_number(1.23456), format_number(252)
        ('1.2346', '252')
    """
    if abs(value) >= _MAX_PLAIN:
        return f"{value:.4g}"
    return f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".")


def describe_row(row: Row) -> str:
    """Return a row about one series as a line: fractions in percent, ratios as numbers.

    Examples:
        >>> describe_row({"series": "A", "total_return": 0.1, "sharpe": None, "begin": "2024-01-02"})
        'A: total return 10.00%, sharpe none, begin 2024-01-02'
    """
    words = (f"{name.replace('_', ' ')} {_format_cell(name, cell)}" for name, cell in row.items())
    _, *others = words
    return f"{row['series']}: {', '.join(others)}"


def table_of(columns: Mapping[str, Points], *, is_dated: bool) -> list[Row]:
    """Return a row for each point, with a column for each series."""
    head = free_name("date" if is_dated else "point", columns)
    by_key = {name: dict(points) for name, points in columns.items()}
    keys = sorted({key for points in by_key.values() for key in points})
    return [
        {head: label(key) if is_dated else _place(key)}
        | {name: points.get(key) for name, points in by_key.items()}
        for key in keys
    ]


def describe_points(columns: Mapping[str, Points]) -> list[str]:
    """Return an outline of series of fractions, and their values or the latest of many."""
    lines = [_outline(name, points) for name, points in columns.items()]
    is_short = sum(map(len, columns.values())) <= MAX_DESCRIBED
    for name, points in columns.items():
        shown = points if is_short else points[-DESCRIBED_LATEST:]
        words = "" if len(shown) == len(points) else f", the last {len(shown)}"
        values = ", ".join(f"{label(key)} {format_percent(value)}" for key, value in shown)
        lines.append(f"{name}{words}: {values}")
    return lines


def free_name(name: str, taken: Mapping[str, object] | Sequence[str]) -> str:
    """Return a name for a column that no series has.

    Examples:
        >>> free_name("date", ["A", "date"])
        'date_'
    """
    while name in taken:
        name += "_"
    return name


def round_row(row: Row) -> Row:
    """Return a row without the digits that binary fractions leave behind.

    Raises:
        OverflowError: A result is no number.
    """
    return {name: _round(cell) for name, cell in row.items()}


def _outline(name: str, points: Points) -> str:
    low, high = min(points, key=lambda one: one[1]), max(points, key=lambda one: one[1])
    return (
        f"{name}: {len(points)} values from {label(points[0][0])} to {label(points[-1][0])},"
        f" lowest {format_percent(low[1])} ({label(low[0])}), highest {format_percent(high[1])}"
        f" ({label(high[0])})"
    )


def _format_cell(name: str, cell: Cell) -> str:
    if isinstance(cell, float):
        return format_number(cell) if name in _PLAIN_NUMBERS else format_percent(cell)
    return "none" if cell is None else str(cell)


def _place(key: Key) -> int:
    return int(str(key))


def _round(cell: Cell) -> Cell:
    if not isinstance(cell, float):
        return cell
    if not isfinite(cell):
        raise OverflowError
    return float(f"{cell:.{_SIGNIFICANT}g}")
