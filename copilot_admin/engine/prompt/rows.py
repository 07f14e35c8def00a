"""The rows of a text that is too long, one after the other: elements of a JSON list, else lines.

A table of 16 MB would be half a gigabyte of objects, and of most rows nobody wants more than the number.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
import json
import re
from typing import TypeVar

from protocol.json import Json

# So much is looked through at once; an element that is longer fits no model.
WINDOW = 1024 * 1024  # characters
LINES_AT_ONCE = 64 * 1024  # characters
# A shorter beginning of a row says nothing; at the last of these it ends, so that no number is cut.
SHORTEST_BEGINNING = 100  # characters
_BETWEEN_WORDS = " ,;\t"
_BLANKS = re.compile(r"[ \t\r\n]*")
_ONE_VALUE = json.JSONDecoder().raw_decode
T = TypeVar("T")


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
    try:
        return _first(_elements(text), _as_json, limit=limit)
    except (ValueError, RecursionError):
        return _first(_lines(text), str, limit=limit)


def _first(rows: Iterable[T], form: Callable[[T], str], *, limit: int) -> FirstRows:
    texts: list[str] = []
    number, left = 0, limit
    following: str | None = None  # the first that does not fit
    for number, row in enumerate(rows, start=1):  # noqa: B007  # the number of the last one
        if following is None:
            text = form(row)
            if len(text) < left:
                texts.append(text)
                left -= len(text) + 1
            else:
                following = text
    if following is None or left <= limit // 2:
        return FirstRows(texts, number)
    beginning = _beginning(following, room=left - 1)  # of a file of one line, such as JSON
    return FirstRows(texts, number, beginning, len(following) if beginning else 0)


def _beginning(row: str, *, room: int) -> str:
    """What of a row fits, up to the end of a word; nothing, if that is next to nothing."""
    part = row[: max(room, 0)]
    if len(part) < SHORTEST_BEGINNING:
        return ""
    end = max(part.rfind(sign, len(part) - SHORTEST_BEGINNING // 2) for sign in _BETWEEN_WORDS)
    return part if end < 0 else part[: end + 1]


def _as_json(row: Json) -> str:
    return json.dumps(row, ensure_ascii=False)


def _elements(text: str) -> Iterator[Json]:
    """The elements of a JSON list.

    Raises:
        ValueError: It is no JSON list, or an element is longer than `WINDOW`.
    """
    start = _after_blanks(text, 0)
    if text[start : start + 1] != "[":
        raise ValueError("no list")
    at = _after_blanks(text, start + 1)
    if text[at : at + 1] != "]":
        at = yield from _some_elements(text, at)
    if _after_blanks(text, at + 1) != len(text):
        raise ValueError("something follows the list")


def _some_elements(text: str, at: int) -> Generator[Json, None, int]:
    """Yields elements; returns where the list ends."""
    window, base = text[at : at + WINDOW], at
    while True:
        try:
            value, end = _ONE_VALUE(window, at - base)
            is_whole = end < len(window) or base + end == len(text)
        except ValueError:
            is_whole = False
        if not is_whole:
            if base == at:
                raise ValueError("no JSON, or too long")
            window, base = text[at : at + WINDOW], at
            continue
        yield value
        at = _after_blanks(text, base + end)
        follows = text[at : at + 1]
        if follows != ",":
            break
        at = _after_blanks(text, at + 1)
        if at - base >= len(window):
            window, base = text[at : at + WINDOW], at
    if follows != "]":
        raise ValueError("no JSON")
    return at


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, as `splitlines` has them."""
    start, size = 0, LINES_AT_ONCE
    while start < len(text):
        piece = text[start : start + size]
        lines = piece.splitlines(keepends=True)
        if start + size < len(text):
            lines.pop()  # it may go on
        if not lines:
            size *= 2
            continue
        start += sum(map(len, lines))
        yield from (line.splitlines()[0] for line in lines)
