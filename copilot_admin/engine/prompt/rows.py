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
_BLANKS = re.compile(r"[ \t\r\n]*")
_ONE_VALUE = json.JSONDecoder().raw_decode
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The rows that fit, and how many there are in all."""

    texts: Sequence[str]
    number: int


def first_rows(text: str, *, limit: int) -> FirstRows:
    """As many of the first rows as fit into so many characters, each with a line end."""
    try:
        return _first(_elements(text), _as_json, limit=limit)
    except (ValueError, RecursionError):
        return _first(_lines(text), str, limit=limit)


def _first(rows: Iterable[T], form: Callable[[T], str], *, limit: int) -> FirstRows:
    texts: list[str] = []
    number = 0
    for number, row in enumerate(rows, start=1):  # noqa: B007  # the number of the last one
        if limit >= 0:
            text = form(row)
            limit -= len(text) + 1
            if limit >= 0:
                texts.append(text)
    return FirstRows(texts, number)


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
