"""The first rows of a text that is too long: elements of a JSON list, else lines."""

from collections.abc import Sequence
from dataclasses import dataclass
import json

# A shorter beginning of a row says nothing; at the last of these it ends, so that no number is cut.
SHORTEST_BEGINNING = 100  # characters
_BETWEEN_WORDS = " ,;\t"


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The rows that fit, and how many there are in all.

    Attributes:
        texts: The rows.
        number: Of all rows.
        beginning: Of the next row, where that takes so much room that little else is told.
        length: Characters of that row.
    """

    texts: Sequence[str]
    number: int
    beginning: str = ""
    length: int = 0


def first_rows(text: str, *, limit: int) -> FirstRows:
    """As many of the first rows as fit into so many characters, each with a line end."""
    elements = _elements(text)
    rows: Sequence[object] = text.splitlines() if elements is None else elements
    texts: list[str] = []
    left = limit
    for row in rows:
        shown = str(row) if elements is None else json.dumps(row, ensure_ascii=False)
        if len(shown) >= left:
            # A file may be one line.
            beginning = _beginning(shown, limit=left - 1) if left > limit // 2 else ""
            return FirstRows(texts, len(rows), beginning, len(shown) if beginning else 0)
        texts.append(shown)
        left -= len(shown) + 1
    return FirstRows(texts, len(rows))


def _beginning(row: str, *, limit: int) -> str:
    part = row[: max(limit, 0)]
    if len(part) < SHORTEST_BEGINNING:
        return ""
    end = max(part.rfind(sign, len(part) - SHORTEST_BEGINNING // 2) for sign in _BETWEEN_WORDS)
    return part if end < 0 else part[: end + 1]


def _elements(text: str) -> list[object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None
