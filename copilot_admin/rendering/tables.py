"""Rows as a table that can be drawn, and as CSV in which no cell is a formula."""

from collections.abc import Iterable, Mapping, Sequence
import csv
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO
import re
from typing import TypeGuard

from copilot_admin.rendering.text import cell_text, shortened
from protocol.json import Json, JsonObject, is_number, list_of

MAX_ROWS = 15  # of a table on the page of a conversation; a link leads to all of them
MAX_ROWS_MORE = 500  # of a table that is read on
MAX_COLUMNS = 60
MAX_CELL = 300  # characters
_BLANKS = r"(?:[^\S\t\r\n]|[\u00ad\u200b-\u200f\u2060\ufeff])*"
_EQUALS = "=@＝＠﹦﹫"  # noqa: RUF001  # signs of all widths
_PLUS_MINUS = r"+\-＋－﹢﹣"  # noqa: RUF001
# "- one" and "+ two" are lists in Markdown unless something is called in them.
_LIST_ITEM = r" [^(|!;\t\r\n]*(?:[;\t\r\n]|\Z)"
# Where the list separator is a semicolon, a spreadsheet doesn't see that a comma ends a cell. A separator
# or line break within a text then begins another cell.
_FORMULA_START = re.compile(
    rf"\A(?=[\t\r\n]|{_BLANKS}[{_EQUALS}{_PLUS_MINUS}])"
    rf"|(?<=[;\t\r\n])(?={_BLANKS}(?:[{_EQUALS}]|[{_PLUS_MINUS}](?!{_LIST_ITEM})))"
)


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A cell; numbers are aligned at the far edge."""

    text: str
    is_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTable:
    """A table, or a part of it."""

    heads: tuple[DrawnCell, ...]  # aligned as their columns
    rows: tuple[tuple[DrawnCell, ...], ...]
    total_rows: int  # of the data
    hidden_columns: int  # number of those left out
    first: int = 0  # index of the first row

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
    """Return true for a list of objects that aren't all empty."""
    rows = list_of(value)
    return any(rows) and all(isinstance(row, Mapping) for row in rows)


def build_table(
    rows: Sequence[JsonObject],
    *,
    most_rows: int = MAX_ROWS,
    most_cell: int = MAX_CELL,
    columns: Sequence[str] = (),
    first: int = 0,
) -> DrawnTable:
    """Make a table of rows from index `first` on; a key that a row lacks is an empty cell.

    By default it has all keys of the rows up to the last kept one as columns.
    """
    kept = rows[first : first + most_rows]
    named = (name for row in rows[: first + most_rows] for name in row)
    names = columns or list(dict.fromkeys(named))
    shown = names[:MAX_COLUMNS]

    def cell(value: Json) -> DrawnCell:
        return DrawnCell(shortened(cell_text(value), most=most_cell), is_number(value))

    def is_numeric(name: str) -> bool:
        values = [row[name] for row in kept if row.get(name) is not None]
        return bool(values) and all(map(is_number, values))

    return DrawnTable(
        heads=tuple(DrawnCell(name, is_numeric(name)) for name in shown),
        rows=tuple(tuple(cell(row.get(name)) for name in shown) for row in kept),
        total_rows=len(rows),
        hidden_columns=len(names) - len(shown),
        first=first,
    )


Cell = str | int | float | Decimal | None


def format_csv(rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV with every text quoted and escaped."""
    file = StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows(map(escape_formula, row) for row in rows)
    return file.getvalue()


def escape_formula(value: Cell) -> Cell:
    """Return a cell with `'` before each place where a spreadsheet would read a formula."""
    return _FORMULA_START.sub("'", value) if isinstance(value, str) else value
