"""Rows made ready for a chart: only the columns it draws, with numbers where it needs them."""

from collections.abc import Sequence
from dataclasses import dataclass

from copilot_admin.agent.toolkits.table_operations import (
    Cell,
    Row,
    is_empty,
    number_of,
    numbers,
    read_table,
)
from copilot_admin.agent.tools.artifacts import MAX_SERIES, ROUND, ChartType, describe_text_on_x

MAX_POINTS = 5000  # more are no line that anybody could read


@dataclass(frozen=True, slots=True)
class ChartRows:
    """What a chart draws.

    Attributes:
        type: How.
        x: The column of the axis; of a pie, of its labels.
        y: The columns with numbers.
        rows: With these columns only.
        left_out: How many rows had nothing to draw.
    """

    type: ChartType
    x: str
    y: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: int = 0

    @property
    def title(self) -> str:
        """The title of the chart when the caller gave none."""
        return f"{', '.join(self.y)} by {self.x}"

    @property
    def in_words(self) -> str:
        """The chart in words, for the model that asked for it."""
        count = len(self.rows)
        points = f"{count:,} {'point' if count == 1 else 'points'}"
        seen = f"The user now sees a {self.type} chart of {self.title} with {points}."
        if not self.left_out:
            return seen
        rows = "1 row had" if self.left_out == 1 else f"{self.left_out:,} rows had"
        return f"{seen} {rows} nothing to draw."


def chart_rows(rows: object, *, type: str, x: str, y: str | Sequence[str]) -> ChartRows:
    """Checks that the rows can be drawn, and keeps what is drawn.

    Args:
        rows: A list of objects, JSON text of one, or CSV text with a header.
        type: One of `ChartType`.
        x: The column on the axis; of a pie or donut, its labels; of a scatter chart, numbers.
        y: The column or columns with numbers; of a pie or donut, just one.

    Raises:
        ValueError: A column is missing or has no numbers, or the chart would show nothing or too
            much.

    Examples:
        >>> chart_rows([{"q": "Q1", "sales": "1,200"}], type="bar", x="q", y="sales").rows
        ({'q': 'Q1', 'sales': 1200},)
    """
    kind = _kind(type)
    columns = tuple(dict.fromkeys([y] if isinstance(y, str) else y or ()))
    _check_series(kind, columns)
    table = read_table(rows)
    table.check(x, *columns)
    if kind is ChartType.SCATTER:
        _check_x(table.rows, x)
    for column in columns:
        _check_numbers([row[column] for row in table.rows], kind=kind, column=column)
    as_numbers = (x, *columns) if kind is ChartType.SCATTER else columns
    drawn = tuple(
        {x: row[x]} | {column: number_of(row[column]) for column in as_numbers}
        for row in table.rows
        if not is_empty(row[x]) and not all(is_empty(row[column]) for column in columns)
    )
    if not drawn:
        raise ValueError(f"No row has a value in both {x!r} and {' or '.join(columns)}.")
    if len(drawn) > MAX_POINTS:
        raise ValueError(
            f"The chart would have {len(drawn):,} points; at most {MAX_POINTS:,} can be drawn."
            " Group the rows or take the top ones first."
        )
    return ChartRows(kind, x, columns, drawn, left_out=len(table.rows) - len(drawn))


def _kind(type: str) -> ChartType:
    try:
        return ChartType(type)
    except ValueError:
        raise ValueError(
            f"There is no chart {type!r}. Take one of {', '.join(ChartType)}."
        ) from None


def _check_x(rows: Sequence[Row], column: str) -> None:
    cells = [row[column] for row in rows if not is_empty(row[column])]
    if any(number_of(cell) is None for cell in cells):
        raise ValueError(describe_text_on_x(column))


def _check_series(kind: ChartType, columns: Sequence[str]) -> None:
    if kind in ROUND and len(columns) != 1:
        raise ValueError(f"A {kind} chart has exactly one column in y, not {len(columns)}.")
    if not 1 <= len(columns) <= MAX_SERIES:
        raise ValueError(f"y names from 1 to {MAX_SERIES} columns, not {len(columns)}.")


def _check_numbers(cells: Sequence[Cell], *, kind: ChartType, column: str) -> None:
    found = numbers(cells, column=column)
    if not found:
        raise ValueError(f"The column {column!r} has no numbers, so there is nothing to draw.")
    if kind in ROUND and (min(found) < 0 or not any(found)):
        raise ValueError(
            f"A {kind} chart shows parts of a whole, so {column!r} must have no negative numbers"
            " and not only zeros. Take a bar chart."
        )
