"""Data of a conversation in a readable form: a table, or text."""

from collections.abc import Mapping
from dataclasses import dataclass
import json

from copilot_admin.rendering.tables import (
    MAX_CELL,
    MAX_ROWS,
    MAX_ROWS_MORE,
    DrawnTable,
    are_rows,
    build_table,
)
from copilot_admin.rendering.text import pretty_json
from protocol.json import Json, clean_json

MAX_PIECES = 200  # each takes half a millisecond to draw
MAX_PARSED = 5_000_000  # characters of text that are tried as JSON: a big widget has 300 kB


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayLimits:
    """Part of a value that is shown; a table starts at its row `first`.

    Attributes:
        pieces: Of the results of a call, or of a list.
    """

    rows: int
    cell: int
    text: int
    first: int = 0
    pieces: int = MAX_PIECES


PAGE_LIMITS = DisplayLimits(rows=MAX_ROWS, cell=MAX_CELL, text=4_000)
FULL_LIMITS = DisplayLimits(rows=MAX_ROWS_MORE, cell=5_000, text=1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataExcerpt:
    """A piece of data, or its beginning.

    Attributes:
        key: Finds it again in its conversation, to show all of it.
        table: The data when it is rows; `text` is then empty.
        is_code: The text is JSON.
        is_cut: There is more of it.
    """

    key: str
    table: DrawnTable | None = None
    text: str = ""
    is_code: bool = False
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        return self.table is None and not self.text


def build_excerpt(value: Json, *, key: str, limits: DisplayLimits = PAGE_LIMITS) -> DataExcerpt:
    """Make data readable.

    Args:
        value: Any JSON; a text that holds JSON is taken as that JSON.
        key: See `DataExcerpt.key`.
        limits: How much of it is wanted.
    """
    value = _unpack(value)
    if are_rows(value):
        table = build_table(value, most_rows=limits.rows, most_cell=limits.cell, first=limits.first)
        return DataExcerpt(key=key, table=table, is_cut=table.is_cut)
    if value is None or value == {} or value == []:
        return DataExcerpt(key=key)
    is_code = not isinstance(value, str)
    text = value if isinstance(value, str) else pretty_json(value)
    is_cut = len(text) > limits.text
    return DataExcerpt(key=key, text=text[: limits.text], is_code=is_code, is_cut=is_cut)


def _unpack(value: Json) -> Json:
    if isinstance(value, str) and len(value) <= MAX_PARSED and value.lstrip()[:1] in ("[", "{"):
        try:
            value = clean_json(json.loads(value))  # an escape may be half a character
        except (ValueError, RecursionError):
            return value
    if isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        return only if are_rows(only) else value
    return value
