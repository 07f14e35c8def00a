"""Writes cells of files so that no spreadsheet takes them for formulas."""

from collections.abc import Iterable, Sequence
import csv
from decimal import Decimal
import re
from typing import TypeVar
import unicodedata

T = TypeVar("T")

_FORMULA = "=+-@"
# Some spreadsheets take even a cell that begins with one of these for more than text.
_BREAKS = "\t\r\n"
# Where the list separator of a country is a semicolon, a spreadsheet does not see that a comma ends a
# cell: quotes amid what it takes for one are no quotes to it, and each of these begins another cell.
_SEPARATOR = re.compile(r"([;\t\r\n]+)")
# Without any of these a formula calls nothing, so a list in Markdown stays as it was written.
_CALLS = frozenset("(|!")
_LIST_MARKS = ("- ", "+ ")


def csv_lines(rows: Iterable[Sequence[str | int | float | Decimal | None]]) -> str:
    """Rows of a CSV file without formulas.

    Texts are in quotes, whatever is in them: some spreadsheets take semicolons and tabs for ends of
    cells as well.
    """
    lines: list[str] = []
    writer = csv.writer(_Lines(lines), quoting=csv.QUOTE_NONNUMERIC)
    for row in rows:
        writer.writerow(list(map(no_formula, row)))
    return "".join(lines)


def no_formula(value: T) -> T | str:
    """A cell that no spreadsheet takes for a formula: a text that begins like one has `'` before it.

    So has what stands behind a separator or a line break, which begins a cell for some of them.
    """
    if not isinstance(value, str):
        return value
    first, *others = _SEPARATOR.split(value)
    parts = (f"'{one}" if _begins_another(one) else one for one in others)
    safe = "".join((first, *parts)) if others else value
    return f"'{safe}" if _begins_formula(value) else safe


class _Lines:
    """A file of lines, for the writer of CSV."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write(self, text: str) -> None:
        """Keeps what the writer of CSV says: a line."""
        self._lines.append(text)


def _begins_formula(text: str) -> bool:
    if not text or text[0].isalnum():  # nearly all
        return False
    if text[0] in _BREAKS:
        return True
    first = next((sign for sign in text if not _is_unseen(sign)), "")
    return first != "" and unicodedata.normalize("NFKC", first)[0] in _FORMULA


def _begins_another(part: str) -> bool:
    if part[:1] in _BREAKS or not _begins_formula(part):
        return False
    return not (part.lstrip(" ").startswith(_LIST_MARKS) and _CALLS.isdisjoint(part))


def _is_unseen(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "ZC"
