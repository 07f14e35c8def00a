"""Component that draws rows as a chart."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import WithJsonSchema

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.toolkits.tables import (
    ColumnsArgument,
    Row,
    RowsArgument,
    is_empty,
    number_of,
    numbers,
    read_table,
)
from copilot_admin.agent.tools.artifacts import MAX_SERIES, ROUND, ChartType, describe_text_on_x
from protocol.components import ComponentOutput, ContentType

MAX_POINTS = 5_000  # more aren't legible
Type = Annotated[str, WithJsonSchema({"type": "string", "enum": [one.value for one in ChartType]})]
_SALES = [
    {"quarter": "Q1", "sales": 120, "costs": 80},
    {"quarter": "Q2", "sales": "1,080.5", "costs": None},
]


class ChartMaker(Component):
    """Draws rows as a line, bar, scatter, pie or donut chart."""

    name = "chart_maker"
    version = "v1"
    content_types = (ContentType.CHART, ContentType.TEXT)
    samples = (
        {"rows": _SALES, "type": "line", "x": "quarter", "y": ["sales", "costs"]},
        {"rows": "quarter,sales\nQ1,5\nQ2,7", "type": "pie", "x": "quarter", "y": "sales"},
    )

    def tool_eval(
        self, rows: RowsArgument, type: Type, x: str, y: ColumnsArgument, **kwargs: Any
    ) -> Iterator[ComponentOutput]:
        """Draws rows for the user as a chart. Use only numbers that you were given.

        Args:
            rows: All rows, as a list of objects with the same keys, or as CSV or JSON text.
            type: How they are drawn; pie and donut show parts of a whole.
            x: The column on the x axis; of a pie or donut, its labels.
            y: The columns with numbers; of a pie or donut, just one.
            **kwargs: What the system passes; nothing of it is used.
        """
        kind = ChartType(type)
        columns = list(dict.fromkeys([y] if isinstance(y, str) else y))
        points, left_out = select_points(rows, kind=kind, x=x, y=columns)
        title = f"{', '.join(columns)} by {x}"
        data = {"rows": points, "x_key": x, "y_keys": columns}
        yield self.create_output(
            "chart", {"type": kind.value, "data": data}, name=title, visible_scope="user"
        )
        count = f"{len(points):,} point{'' if len(points) == 1 else 's'}"
        sentence = f"The user now sees a {kind} chart of {title} with {count}."
        if left_out:
            had = "1 row had" if left_out == 1 else f"{left_out:,} rows had"
            sentence += f" {had} nothing to draw."
        yield self.create_output("text", sentence, visible_scope="llm")


def select_points(
    rows: object, *, kind: ChartType, x: str, y: Sequence[str]
) -> tuple[list[Row], int]:
    """Return the rows with only the columns of the chart, and the number of rows without values."""
    if kind in ROUND and len(y) != 1:
        raise ValueError(f"A {kind} chart has exactly one column in y, not {len(y)}.")
    if not 1 <= len(y) <= MAX_SERIES:
        raise ValueError(f"y names from 1 to {MAX_SERIES} columns, not {len(y)}.")
    table = read_table(rows)
    table.check(x, *y)
    if kind is ChartType.SCATTER:
        labels = [row[x] for row in table.rows if not is_empty(row[x])]
        if any(number_of(label) is None for label in labels):
            raise ValueError(describe_text_on_x(x))
    for column in y:
        found = numbers([row[column] for row in table.rows], column=column)
        if not found:
            raise ValueError(f"The column {column!r} has no numbers, so there is nothing to draw.")
        if kind in ROUND and (min(found) < 0 or not any(found)):
            raise ValueError(
                f"A {kind} chart shows parts of a whole, so {column!r} must have no negative numbers"
                " and not only zeros. Take a bar chart."
            )
    numeric = (x, *y) if kind is ChartType.SCATTER else y
    points: list[Row] = [
        {x: row[x]} | {column: number_of(row[column]) for column in numeric}
        for row in table.rows
        if not is_empty(row[x]) and not all(is_empty(row[column]) for column in y)
    ]
    if not points:
        raise ValueError(f"No row has a value in both {x!r} and {' or '.join(y)}.")
    if len(points) > MAX_POINTS:
        raise ValueError(
            f"The chart would have {len(points):,} points; at most {MAX_POINTS:,} can be drawn."
            " Group the rows or take the top ones first."
        )
    return points, len(table.rows) - len(points)
