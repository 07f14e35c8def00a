"""Tables of rows: read from objects, JSON text or CSV text, and described for a model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
from dataclasses import dataclass
from io import StringIO
import json
from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema

from copilot_admin.agent.text import join_names, parse_json_text, quote, truncate
from copilot_admin.agent.toolkits.cells import Row, flat, parsed

MAX_CELLS = 300_000  # a second or two of work, in a thread
MAX_TEXT = 5_000_000  # characters
_DELIMITERS = ",;\t|"
_HOLDERS = ("rows", "data", "results", "items")  # keys under which APIs return rows
_WANTED = "Give a list of objects, or the same as JSON text, or CSV text with a header."

MAX_DESCRIBED_ROWS = 100
MAX_DESCRIBED_CHARACTERS = 12_000
MAX_CELL_CHARACTERS = 300
MAX_SHOWN_ROWS = 1000  # displayed to the user

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
    r"""Return the rows as JSON lines after a sentence with their number.

    Examples:
        >>> describe_table(Table(("n",), ({"n": 1},)))
        '1 row with the columns: n.\n{"n": 1}'
    """
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
