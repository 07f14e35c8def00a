"""CSV files in which no cell is a spreadsheet formula."""

from collections.abc import Iterable, Sequence
import csv
from decimal import Decimal
from io import StringIO
import re

Cell = str | int | float | Decimal | None

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


def format_csv(rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV with every text quoted and escaped."""
    file = StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows(map(escape_formula, row) for row in rows)
    return file.getvalue()


def escape_formula(value: Cell) -> Cell:
    """Return a cell with `'` before each place where a spreadsheet would read a formula."""
    return _FORMULA_START.sub("'", value) if isinstance(value, str) else value
