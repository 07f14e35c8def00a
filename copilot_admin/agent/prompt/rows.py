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
BLANKS_AT_ONCE = 64 * 1024  # characters
# Of the elements that do not fit so many are counted, in half a second: nine million numbers took eight.
MOST_COUNTED = 500_000
# A shorter beginning of a row says nothing; at the last of these it ends, so that no number is cut.
SHORTEST_BEGINNING = 100  # characters
_BETWEEN_WORDS = " ,;\t"
_BLANKS = re.compile(r"[ \t\r\n]+")
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
        goes_on: There are more rows than the number says.
    """

    texts: Sequence[str]
    number: int
    beginning: str = ""
    length: int = 0
    goes_on: bool = False


def first_rows(text: str, *, limit: int) -> FirstRows:
    """As many of the first rows as fit into so many characters, each with a line end."""
    try:
        elements = ((element,) for element in _elements(text))
        return _first(elements, _as_json, limit=limit, most=MOST_COUNTED)
    except (ValueError, RecursionError):
        return _first(_lines(text), str, limit=limit, most=len(text))


def _first(
    batches: Iterable[Sequence[T]], form: Callable[[T], str], *, limit: int, most: int
) -> FirstRows:
    """The rows that fit; of the others no more are counted than `most`."""
    fitting = _Fitting(limit)
    number, goes_on = 0, False
    for batch in batches:
        goes_on = number - len(fitting.texts) >= most
        if goes_on:
            break
        number += len(batch)
        for row in batch:
            if fitting.following is not None:
                break
            fitting.add(form(row))
    beginning = fitting.beginning()
    length = len(fitting.following or "") if beginning else 0
    return FirstRows(fitting.texts, number, beginning, length, goes_on)


class _Fitting:
    """The first rows that fit into some room, and the one behind them."""

    def __init__(self, room: int) -> None:
        self.texts: list[str] = []
        self.following: str | None = None  # the first that does not fit
        self._room = self._left = room

    def add(self, text: str) -> None:
        """Adds a row where there is room for it and its line end."""
        if len(text) < self._left:
            self.texts.append(text)
            self._left -= len(text) + 1
        else:
            self.following = text

    def beginning(self) -> str:
        """The beginning of the row that did not fit, where most of the room is left: a file may be one line."""
        if self.following is None or self._left <= self._room // 2:
            return ""
        return _beginning(self.following, room=self._left - 1)


def _beginning(row: str, *, room: int) -> str:
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
    while found := _BLANKS.match(text, at, at + BLANKS_AT_ONCE):
        at = found.end()
    return at


def _lines(text: str) -> Iterator[Sequence[str]]:
    if text:
        yield text.splitlines()
