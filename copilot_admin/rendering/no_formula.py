"""Writes cells of files so that no spreadsheet takes them for formulas."""

from typing import TypeVar
import unicodedata

T = TypeVar("T")

_FORMULA = "=+-@"
# Some spreadsheets take even a cell that begins with one of these for more than text.
_BREAKS = "\t\r\n"


def no_formula(value: T) -> T | str:
    """A cell that no spreadsheet takes for a formula: a text that begins like one has `'` before it."""
    return f"'{value}" if isinstance(value, str) and _begins_formula(value) else value


def _begins_formula(text: str) -> bool:
    """Whether it does, behind blanks and signs that nobody sees; signs of other widths count too."""
    if not text or text[0].isalnum():  # nearly all
        return False
    if text[0] in _BREAKS:
        return True
    first = next((sign for sign in text if not _is_unseen(sign)), "")
    return first != "" and unicodedata.normalize("NFKC", first)[0] in _FORMULA


def _is_unseen(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "ZC"
