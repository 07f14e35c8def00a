"""The numbers that stand in a text, however they are written: 1,234.5 and 1.234,5 and (3.2).

A text is read once from left to right. Where a number can be read in two ways, as `1,234`, both are
told, and so is `(3.2)`, which is negative in accounts: whoever looks for a number finds it in either.
"""

from collections.abc import Iterator
import math
import re

LONGEST = 40  # characters; what is longer is an id, not an amount

_SPACES = "\u00a0\u2009\u202f"  # between thousands; an ordinary space parts two numbers
_MINUS = "-\u2212\u2012\u2013"
_NUMBER = re.compile(rf"[0-9]+(?:[.,'\u2019{_SPACES}][0-9]+)*(?:[eE][+-]?[0-9]+)?")
_SEPARATOR = re.compile(rf"[.,'\u2019{_SPACES}]")
_BLANKS = " " + _SPACES
# What may stand behind a number, and what it does to it: `2 %` is 0.02 too, and `1.2bn` 1,200,000,000.
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


def numbers_in(text: str) -> Iterator[frozenset[float]]:
    """For each number of a text, what it can mean; of a percentage or of millions, both.

    Args:
        text: Of an answer.

    Yields:
        The readings of a number, in the order of the text.
    """
    for found in _NUMBER.finditer(text):
        written = found[0]
        if len(written) > LONGEST:
            continue
        scale = _SCALE.match(text, found.end())
        factor = _SCALES[scale[1].lower()] if scale else 1.0
        signs = _signs(text, found.start(), scale.end() if scale else found.end())
        for readings in _meanings(written):
            signed = {sign * value for value in readings for sign in signs}
            yield frozenset(signed | {value * factor for value in signed})


def is_near(value: float, expected: float, tolerance: float) -> bool:
    return abs(value - expected) <= tolerance + 1e-9 * max(1.0, abs(expected))


def _signs(text: str, start: int, end: int) -> tuple[float, ...]:
    """The signs that a number may have: minus behind one that joins no words, either within brackets."""
    before = text[max(0, start - 1) : start]
    if before and before in "$€£¥":
        start -= 1
        before = text[max(0, start - 1) : start]
    if before and before in _MINUS:
        return (1.0,) if text[max(0, start - 2) : start - 1].isalnum() else (-1.0,)
    is_bracketed = before == "(" and text[end : end + 1] == ")"
    return (1.0, -1.0) if is_bracketed else (1.0,)


def _meanings(written: str) -> Iterator[set[float]]:
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
    """The ways to read groups of digits with these marks between them, as Python writes them."""
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
