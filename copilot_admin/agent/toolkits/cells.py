"""Cells of tables: numbers, including textual ones, and empty cells."""

from collections.abc import Mapping, Sequence
import json
from math import isfinite
import re
from typing import TypeAlias

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Cell]
Number: TypeAlias = int | float

MAX_NUMBER = 1e150  # sums and squares of smaller numbers are finite
_EMPTY = frozenset({"", "-", "–", "—", "n/a", "na", "nan", "null", "none"})  # noqa: RUF001  # dashes
_MAX_LENGTH = 60
_NUMBER = re.compile(
    r"(?P<sign>[-+−]?)[$€£¥₹]?\s?"  # noqa: RUF001  # the minus of print
    r"(?P<digits>(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?P<exponent>[eE][+-]?[0-9]{1,3})?\s?(?P<percent>%?)"
)
_DECIMAL_COMMA = re.compile(
    r"[-+−(]?[$€£¥₹]?\s?(?P<whole>[0-9]{1,15}(?:[. ][0-9]{3})*),(?P<decimals>[0-9]{1,15})\s?[%€]?\)?"  # noqa: RUF001  # the minus of print
)
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,14})?")


def is_empty(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, str) and fold(cell) in _EMPTY)


def number_of(cell: Cell) -> Number | None:
    """Return the number in a cell, or None.

    Examples:
        >>> number_of("1,200"), number_of("12.5%"), number_of("(5)"), number_of("n/a")
        (1200, 0.125, -5, None)
    """
    if cell is None or isinstance(cell, bool):
        return None
    number = _parse_number(cell.strip()) if isinstance(cell, str) else cell
    return number if number is not None and abs(number) <= MAX_NUMBER else None


def decimal_comma(cell: Cell) -> str:
    """Return advice on a number with a decimal comma; empty for other text.

    Examples:
        >>> decimal_comma("1.234,56"), decimal_comma("1,200")
        (' It has a decimal comma: write decimals with a point, as in 1234.56.', '')
    """
    if not isinstance(cell, str) or len(cell) > _MAX_LENGTH or number_of(cell) is not None:
        return ""
    match = _DECIMAL_COMMA.fullmatch(cell.strip())
    if match is None:
        return ""
    whole = match["whole"].replace(".", "").replace(" ", "")
    return (
        f" It has a decimal comma: write decimals with a point, as in {whole}.{match['decimals']}."
    )


def parsed(text: str) -> Cell:
    """Return a text as a number if this loses nothing, else the text."""
    if not _PLAIN.fullmatch(text):
        return text
    number = float(text) if "." in text else int(text)
    return number if str(number) == text else text


def flat(value: object) -> Cell:
    """Return a JSON value as a cell: lists and objects as JSON text, NaN as None."""
    if isinstance(value, float) and not isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def tidy(number: Number) -> Number:
    """Return a number without the rounding noise of binary fractions."""
    return float(f"{number:.15g}") if isinstance(number, float) else number


def numbers(cells: Sequence[Cell], *, column: str) -> list[Number]:
    """Return the numbers in the cells that aren't empty; other text is a `ValueError`."""
    found: list[Number] = []
    for cell in cells:
        number = number_of(cell)
        if number is not None:
            found.append(number)
        elif not is_empty(cell):
            advice = decimal_comma(cell) or " Filter such rows out first, or count them instead."
            raise ValueError(
                f"The column {column!r} has {str(cell)[:40]!r} in it, which is no number.{advice}"
            )
    return found


def fold(cell: Cell) -> str:
    """Return a cell as text for comparisons regardless of case and outer spaces."""
    return str(cell).strip().casefold()


def sort_key(cell: Cell) -> tuple[int, Number, str]:
    """Return a key that orders numbers by size, then texts by their letters."""
    number = number_of(cell)
    return (1, 0, fold(cell)) if number is None else (0, number, "")


def _parse_number(text: str) -> Number | None:
    in_parentheses = text.startswith("(") and text.endswith(")")
    match = _NUMBER.fullmatch(text[1:-1] if in_parentheses else text)
    if match is None or len(text) > _MAX_LENGTH or (in_parentheses and match["sign"]):
        return None
    digits = match["digits"].replace(",", "")
    is_whole = digits.isdecimal() and not match["exponent"]
    number: Number = int(digits) if is_whole else float(digits + (match["exponent"] or ""))
    negative = in_parentheses or match["sign"] not in ("", "+")
    number = -number if negative else number
    return tidy(number / 100) if match["percent"] else number
