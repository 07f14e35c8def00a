"""Rows of JSON as a table that can be drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from copilot_admin.rendering.text import cell_text, shortened
from protocol.json import Json, JsonObject, is_number

MAX_ROWS = 15  # of a table on the page of a conversation; a link leads to all of them
MAX_ROWS_MORE = 500  # of a table that is read on
MAX_COLUMNS = 60
MAX_CELL = 300  # characters


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A cell; numbers are aligned at the far edge."""

    text: str
    is_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTable:
    """A table, or a part of it.

    Attributes:
        total_rows: Of the data.
        hidden_columns: Number of columns that were left out.
        first: Index of the first row.
    """

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[DrawnCell, ...], ...]
    total_rows: int
    hidden_columns: int
    first: int = 0

    @property
    def heads(self) -> tuple[DrawnCell, ...]:
        """The column heads, aligned as their columns."""
        return tuple(map(DrawnCell, self.columns, self.numeric))

    @property
    def is_cut(self) -> bool:
        return len(self.rows) < self.total_rows

    @property
    def last(self) -> int:
        """The number of the last row, counted from 1."""
        return self.first + len(self.rows)

    @property
    def following(self) -> int:
        """The number of rows after this part."""
        return self.total_rows - self.last

    @property
    def fits_into_one_more(self) -> bool:
        return self.following <= MAX_ROWS_MORE


def are_rows(value: Json) -> TypeGuard[Sequence[JsonObject]]:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(isinstance(row, Mapping) for row in value)
        and any(value)
    )


def build_table(
    rows: Sequence[JsonObject],
    *,
    most_rows: int = MAX_ROWS,
    most_cell: int = MAX_CELL,
    columns: Sequence[str] | None = None,
    first: int = 0,
) -> DrawnTable:
    """Make a table of rows; a key that a row lacks is an empty cell.

    Args:
        rows: Objects.
        most_rows: Maximum number of rows.
        most_cell: Maximum characters of a cell.
        columns: Default: all keys of the rows up to the last kept one.
        first: Index of the first row.
    """
    kept = rows[first : first + most_rows]
    names = list(
        columns or dict.fromkeys(name for row in rows[: first + most_rows] for name in row)
    )
    shown = names[:MAX_COLUMNS]
    return DrawnTable(
        columns=tuple(shown),
        numeric=tuple(_is_numeric(kept, name) for name in shown),
        rows=tuple(tuple(_cell(row.get(name), most_cell) for name in shown) for row in kept),
        total_rows=len(rows),
        hidden_columns=len(names) - len(shown),
        first=first,
    )


def _is_numeric(rows: Sequence[JsonObject], name: str) -> bool:
    values = [row[name] for row in rows if row.get(name) is not None]
    return bool(values) and all(is_number(value) for value in values)


def _cell(value: Json, most: int) -> DrawnCell:
    return DrawnCell(shortened(cell_text(value), most=most), is_number(value))
