"""Rows of JSON as a table that can be drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from copilot_admin.rendering.text import cell_text, is_number, shortened
from protocol.json import Json, JsonObject

MOST_ROWS = 15  # of a table on the page of a conversation; a link leads to all of them
MOST_COLUMNS = 60
MOST_CELL = 300  # characters


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell; numbers are set against the far edge, so that digits stand under each other."""

    text: str
    is_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table, or its beginning.

    Attributes:
        total_rows: Of the data; more than `len(rows)` when the table is cut.
        hidden_columns: Columns that were left out.
    """

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total_rows: int
    hidden_columns: int

    @property
    def heads(self) -> tuple[Cell, ...]:
        """The column heads, aligned as their columns."""
        return tuple(map(Cell, self.columns, self.numeric))

    @property
    def is_cut(self) -> bool:
        """Whether there are rows that are not shown."""
        return len(self.rows) < self.total_rows


def are_rows(value: Json) -> TypeGuard[Sequence[JsonObject]]:
    """Whether a value is a table: a list of objects that have at least one key."""
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
) -> Table:
    """Makes a table of rows.

    Args:
        rows: Objects; a key that a row lacks is an empty cell.
        most_rows: How many rows are kept.
        most_cell: The longest text of a cell, in characters.
        columns: In this order; default: all keys as the kept rows first name them.
    """
    kept = rows[:most_rows]
    names = list(columns or dict.fromkeys(name for row in kept for name in row))
    shown = names[:MOST_COLUMNS]
    return Table(
        columns=tuple(shown),
        numeric=tuple(_is_numeric(kept, name) for name in shown),
        rows=tuple(tuple(_cell(row.get(name), most_cell) for name in shown) for row in kept),
        total_rows=len(rows),
        hidden_columns=len(names) - len(shown),
    )


def _is_numeric(rows: Sequence[JsonObject], name: str) -> bool:
    values = [row[name] for row in rows if row.get(name) is not None]
    return bool(values) and all(is_number(value) for value in values)


def _cell(value: Json, most: int) -> Cell:
    return Cell(shortened(cell_text(value), most=most), is_number(value))
