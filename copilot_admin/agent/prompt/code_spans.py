"""Where a prompt shows code: between backticks, as Markdown has it."""

from collections.abc import Iterator
from dataclasses import dataclass
import re

_FENCE = 3  # so many backticks go on over blank lines; fewer end with their paragraph
_TICKS_AND_BLANK_LINES = re.compile(r"`+|\n[ \t\r]*\n")


@dataclass(frozen=True, slots=True)
class _Ticks:
    """A run of backticks; what closes it has the same `kind`."""

    start: int
    end: int
    kind: tuple[int, int]


def code_spans(text: str) -> list[tuple[int, int]]:
    """Begin and end of what stands between backticks, in order; backticks without an end are text."""
    runs = list(_runs(text))
    closing = _closing(runs)
    spans: list[tuple[int, int]] = []
    place = 0
    while place < len(runs):
        end = closing[place]
        if end is not None:
            spans.append((runs[place].end, runs[end].start))
            place = end
        place += 1
    return spans


def _runs(text: str) -> Iterator[_Ticks]:
    paragraph = 0
    for match in _TICKS_AND_BLANK_LINES.finditer(text):
        if match[0].startswith("\n"):
            paragraph += 1
            continue
        length = len(match[0])
        kind = (length, 0 if length >= _FENCE else paragraph)
        yield _Ticks(match.start(), match.end(), kind)


def _closing(runs: list[_Ticks]) -> list[int | None]:
    found: list[int | None] = []
    following: dict[tuple[int, int], int] = {}
    for place in reversed(range(len(runs))):
        found.append(following.get(runs[place].kind))
        following[runs[place].kind] = place
    return found[::-1]
