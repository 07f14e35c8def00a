"""Rows of JSON as a table that can be drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from copilot_admin.rendering.text import cell_text, shortened
from protocol.json import Json, JsonObject, is_number

MOST_ROWS = 15  # of a table on the page of a conversation; a link leads to all of them
ROWS_OF_A_PIECE = 500  # of a table that is read on
MOST_COLUMNS = 60
MOST_CELL = 300  # characters


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A cell; numbers are set against the far edge, so that digits stand under each other."""

    text: str
    is_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTable:
    """A table, or its beginning.

    Attributes:
        first: Place of the first row among all, from 0.
        total_rows: Of the data; more than `len(rows)` when the table is cut.
        hidden_columns: Columns that were left out.
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
    def first_number(self) -> int:
        """The first row as people count."""
        return self.first + 1

    @property
    def last(self) -> int:
        """How many rows stand before the end of this piece."""
        return self.first + len(self.rows)

    @property
    def goes_on_after(self) -> bool:
        """Whether there are rows after this piece."""
        return self.following > 0

    @property
    def fits_into_one_more(self) -> bool:
        """Whether one piece more has all rows that follow."""
        return self.following <= ROWS_OF_A_PIECE

    @property
    def following(self) -> int:
        """How many rows are known to come after this piece."""
        return self.total_rows - self.last


def are_rows(value: Json) -> TypeGuard[Sequence[JsonObject]]:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(isinstance(row, Mapping) for row in value)
        and any(value)
    )


def table_of(
    rows: Sequence[JsonObject],
    *,
    most_rows: int = MOST_ROWS,
    most_cell: int = MOST_CELL,
    columns: Sequence[str] | None = None,
    first: int = 0,
) -> DrawnTable:
    """Makes a table of rows.

    Args:
        rows: Objects; a key that a row lacks is an empty cell.
        most_rows: How many rows are kept.
        most_cell: The longest text of a cell, in characters.
        columns: In this order; default: all keys as the rows up to the last kept one name them.
        first: The row to begin with.
    """
    kept = rows[first : first + most_rows]
    names = list(
        columns or dict.fromkeys(name for row in rows[: first + most_rows] for name in row)
    )
    shown = names[:MOST_COLUMNS]
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
