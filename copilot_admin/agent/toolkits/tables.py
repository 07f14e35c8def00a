"""Tables of rows: read from objects, JSON text or CSV text, and described for a model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
from dataclasses import dataclass
from io import StringIO
import json
from math import isfinite
import re
from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema

from copilot_admin.agent.text import join_names, parse_json_text, quote, truncate

MAX_CELLS = 300_000  # a second or two of work, in a thread
MAX_TEXT = 5_000_000  # characters
_DELIMITERS = ",;\t|"
_HOLDERS = ("rows", "data", "results", "items")  # keys under which APIs return rows
_WANTED = "Give a list of objects, or the same as JSON text, or CSV text with a header."

MAX_DESCRIBED_ROWS = 100
MAX_DESCRIBED_CHARACTERS = 12_000
MAX_CELL_CHARACTERS = 300
MAX_SHOWN_ROWS = 1000  # displayed to the user

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Cell]
Number: TypeAlias = int | float

MAX_NUMBER = 1e150  # sums and squares of smaller numbers are finite
_EMPTY = frozenset({"", "-", "–", "—", "n/a", "na", "nan", "null", "none"})  # noqa: RUF001  # dashes
_MAX_NUMBER_LENGTH = 60
_NUMBER = re.compile(
    r"(?P<sign>[-+−]?)[$€£¥₹]?\s?"  # noqa: RUF001  # the minus of print
    r"(?P<digits>(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?P<exponent>[eE][+-]?[0-9]{1,3})?\s?(?P<percent>%?)"
)
_DECIMAL_COMMA = re.compile(
    r"[-+−(]?[$€£¥₹]?\s?(?P<whole>[0-9]{1,15}(?:[. ][0-9]{3})*),(?P<decimals>[0-9]{1,15})\s?[%€]?\)?"  # noqa: RUF001  # the minus of print
)
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,14})?")

# One `type` with several names, since servers interpret `anyOf` differently.
RowsArgument: TypeAlias = Annotated[
    Sequence[Mapping[str, Any]] | str,
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "object"}}),
]
OperationsArgument: TypeAlias = Annotated[
    Sequence[Mapping[str, Any]] | Mapping[str, Any],
    WithJsonSchema({"type": ["array", "object"], "items": {"type": "object"}}),
]
ColumnsArgument: TypeAlias = Annotated[
    Sequence[str] | str,
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "string"}}),
]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that all have the same columns."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def with_rows(self, rows: Iterable[Row]) -> "Table":
        return Table(self.columns, tuple(rows))

    def check(self, *columns: str) -> None:
        """Raise a `ValueError` that lists the columns if one of these is missing."""
        for column in columns:
            if column not in self.columns:
                known = join_names(self.columns)
                raise ValueError(f"There is no column {quote(column)}. The columns are: {known}.")


def read_table(rows: object) -> Table:
    r"""Read rows from a list of objects, JSON text of one, or CSV text with a header.

    Missing columns are empty, and nested values are text.

    Examples:
        >>> read_table("region;sales\nEU;5\nUS;007").rows
        ({'region': 'EU', 'sales': 5}, {'region': 'US', 'sales': '007'})
    """
    if isinstance(rows, str):
        rows = _read_text(rows)
    if isinstance(rows, Mapping):
        rows = next((rows[key] for key in _HOLDERS if isinstance(rows.get(key), list)), [rows])
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError(f"The rows are no table. {_WANTED}")
    columns = tuple(dict.fromkeys(str(column) for row in rows for column in row))
    if not columns:
        raise ValueError(f"There are no rows with values. {_WANTED}")
    if len(columns) * len(rows) > MAX_CELLS:
        raise ValueError(
            f"The table has {len(columns):,} columns in {len(rows):,} rows. At most {MAX_CELLS:,}"
            " values can be worked on: leave columns or rows out."
        )
    flattened = ({str(key): flat(value) for key, value in row.items()} for row in rows)
    return Table(columns, tuple({key: row.get(key) for key in columns} for row in flattened))


def _read_text(text: str) -> object:
    if len(text) > MAX_TEXT:
        raise ValueError(f"The rows are longer than {MAX_TEXT:,} characters. Send fewer.")
    text = text.removeprefix("\ufeff").strip()
    if text.startswith(("[", "{")):
        return parse_json_text(text, what="rows")
    return list(_read_csv(text))


def _read_csv(text: str) -> Iterator[Row]:
    first, _, _ = text.partition("\n")
    delimiter = max(_DELIMITERS, key=first.count)
    reader = filter(None, csv.reader(StringIO(text, newline=""), delimiter=delimiter))
    try:
        header, lines = next(reader, []), list(reader)
    except csv.Error as error:
        raise ValueError(f"The rows are no CSV: {error}.") from None
    if not lines:
        raise ValueError(f"There are no rows. {_WANTED}")
    names: list[str] = []
    for place, text in enumerate(header, start=1):
        name = text.strip() or f"column {place}"
        names.append(f"{name} ({place})" if name in names else name)
    for number, line in enumerate(lines, start=1):
        if len(line) > len(names):
            raise ValueError(
                f"Row {number} has {len(line)} values, but the header names {len(names)} columns."
                " Put values with the separator in them between quotation marks."
            )
        yield dict(zip(names, (parsed(cell.strip()) for cell in line), strict=False))


def describe_table(table: Table) -> str:
    """Return the rows as JSON lines after a sentence with their number."""
    count = len(table.rows)
    columns = ", ".join(table.columns)[:MAX_DESCRIBED_CHARACTERS]
    if not count:
        return f"No row is left. The columns are: {columns}."
    lines: list[str] = []
    characters_left = MAX_DESCRIBED_CHARACTERS
    for row in table.rows[:MAX_DESCRIBED_ROWS]:
        cells = {
            column: truncate(cell, MAX_CELL_CHARACTERS) if isinstance(cell, str) else cell
            for column, cell in row.items()
        }
        line = json.dumps(cells, ensure_ascii=False)
        characters_left -= len(line)
        if characters_left < 0:
            break
        lines.append(line)
    notes = [f"{count:,} {'row' if count == 1 else 'rows'} with the columns: {columns}."]
    if len(lines) < count:
        notes.append(
            f"Only the first {len(lines):,} are listed here: do not count or add them up. For the"
            " others use group, top, filter or select."
        )
    if count > MAX_SHOWN_ROWS:
        notes.append(f"The user sees the first {MAX_SHOWN_ROWS:,}.")
    return "\n".join([" ".join(notes), *lines])


# --- cells


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
    """Return advice on a number with a decimal comma; empty for other text."""
    if not isinstance(cell, str) or len(cell) > _MAX_NUMBER_LENGTH or number_of(cell) is not None:
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
    if match is None or len(text) > _MAX_NUMBER_LENGTH or (in_parentheses and match["sign"]):
        return None
    digits = match["digits"].replace(",", "")
    is_whole = digits.isdecimal() and not match["exponent"]
    number: Number = int(digits) if is_whole else float(digits + (match["exponent"] or ""))
    negative = in_parentheses or match["sign"] not in ("", "+")
    number = -number if negative else number
    return tidy(number / 100) if match["percent"] else number
