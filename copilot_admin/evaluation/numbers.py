"""Numbers in a text, in people's notation: `1,234.5`, `(3.2)`, `1.2bn`, `25 bps`."""

from collections.abc import Iterator
from dataclasses import dataclass
import math
import re

MAX_NUMBER_LENGTH = 40  # characters; anything longer is an id, not an amount

_SPACES = "\u00a0\u2009\u202f"  # between thousands; an ordinary space separates two numbers
_MINUS = "-\u2212\u2012\u2013"
_NUMBER = re.compile(rf"[0-9]+(?:[.,'\u2019{_SPACES}][0-9]+)*(?:[eE][+-]?[0-9]+)?")
_SEPARATOR = re.compile(rf"[.,'\u2019{_SPACES}]")
_BLANKS = " " + _SPACES
# Suffixes and their factors: `2 %` is 0.02 too, and `1.2bn` 1,200,000,000.
_SCALES = {
    **dict.fromkeys(("%",), 0.01),
    **dict.fromkeys(("bp", "bps", "basis points"), 0.0001),
    **dict.fromkeys(("k", "thousand"), 1e3),
    **dict.fromkeys(("m", "mm", "mn", "mln", "million"), 1e6),
    **dict.fromkeys(("b", "bn", "bln", "billion"), 1e9),
    **dict.fromkeys(("t", "tn", "trn", "trillion"), 1e12),
}
_SCALE = re.compile(
    rf"[{_BLANKS}]?(%|(?:{'|'.join(sorted(set(_SCALES) - {'%'}, key=len, reverse=True))})\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NumberInText:
    text: str
    values: frozenset[float]


def find_numbers(text: str) -> Iterator[NumberInText]:
    for found in _NUMBER.finditer(text):
        written = found[0]
        if len(written) > MAX_NUMBER_LENGTH:
            continue
        scale = _SCALE.match(text, found.end())
        factor = _SCALES[scale[1].lower()] if scale else 1.0
        start, end = found.start(), scale.end() if scale else found.end()
        signs, start = _find_signs(text, start, end)
        shown = f"({text[start:end]})" if len(signs) > 1 else text[start:end]
        for readings in _parse(written):
            signed = {sign * value for value in readings for sign in signs}
            yield NumberInText(shown, frozenset(signed | {value * factor for value in signed}))


def _find_signs(text: str, start: int, end: int) -> tuple[tuple[float, ...], int]:
    """Return the possible signs of a number, and its start."""
    before = text[max(0, start - 1) : start]
    if before and before in "$€£¥":
        start -= 1
        before = text[max(0, start - 1) : start]
    if before and before in _MINUS:
        is_range = text[max(0, start - 2) : start - 1].isalnum()
        return ((1.0,), start) if is_range else ((-1.0,), start - 1)
    is_bracketed = before == "(" and text[end : end + 1] == ")"
    return ((1.0, -1.0) if is_bracketed else (1.0,)), start


def _parse(written: str) -> Iterator[set[float]]:
    mantissa, _, exponent = written.lower().partition("e")
    groups = _SEPARATOR.split(mantissa)
    marks = _SEPARATOR.findall(mantissa)
    readings = set(_readings(groups, marks))
    if not readings:
        yield from ({float(group)} for group in groups)
        return
    values = {float(f"{reading}e{exponent or 0}") for reading in readings}
    if all(map(math.isfinite, values)):
        yield values


def _readings(groups: list[str], marks: list[str]) -> Iterator[str]:
    if not marks:
        yield groups[0]
        return
    if len(set(marks)) == 1 and _are_thousands(groups):
        yield "".join(groups)
    whole, rest = groups[:-1], groups[-1]
    is_point = marks[-1] in ".," and marks[-1] not in marks[:-1]
    if is_point and len(set(marks[:-1])) <= 1 and (len(whole) == 1 or _are_thousands(whole)):
        yield f"{''.join(whole)}.{rest}"


def _are_thousands(groups: list[str]) -> bool:
    first, *others = groups
    return (
        len(first) <= 3 and not first.startswith("0") and all(len(group) == 3 for group in others)
    )
