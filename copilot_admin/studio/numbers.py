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


def numbers_in(text: str) -> Iterator[frozenset[float]]:
    """For each number of a text, what it can mean; of a percentage, the fraction too.

    Args:
        text: Of an answer.

    Yields:
        The readings of a number, in the order of the text.
    """
    for found in _NUMBER.finditer(text):
        written = found[0]
        if len(written) > LONGEST:
            continue
        signs = _signs(text, found.start(), found.end())
        share = _after_percent(text, found.end()) > found.end()
        for readings in _meanings(written):
            signed = {sign * value for value in readings for sign in signs}
            shares = {value / 100 for value in signed} if share else set()
            yield frozenset(signed | shares)


def is_near(value: float, expected: float, tolerance: float) -> bool:
    """Whether a number is as expected; what the machine rounds does not count."""
    return abs(value - expected) <= tolerance + 1e-9 * max(1.0, abs(expected))


def _signs(text: str, start: int, end: int) -> tuple[float, ...]:
    """Negative behind a minus that joins no words; either in brackets, which accounts mean so."""
    before = text[max(0, start - 1) : start]
    if before and before in "$€£¥":
        start -= 1
        before = text[max(0, start - 1) : start]
    if before and before in _MINUS:
        return (1.0,) if text[max(0, start - 2) : start - 1].isalnum() else (-1.0,)
    is_bracketed = before == "(" and text[(after := _after_percent(text, end)) : after + 1] == ")"
    return (1.0, -1.0) if is_bracketed else (1.0,)


def _after_percent(text: str, end: int) -> int:
    """Where the percent sign behind a number ends; the end of the number where there is none."""
    at = end + 1 if text[end : end + 1] and text[end] in _BLANKS else end
    return at + 1 if text[at : at + 1] == "%" else end


def _meanings(written: str) -> Iterator[set[float]]:
    """What the digits can mean: one number, or several that points part, as in a date."""
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
    """Whether groups are as in 1,234,567: three digits each but the first, which is not 0."""
    first, *others = groups
    return (
        len(first) <= 3 and not first.startswith("0") and all(len(group) == 3 for group in others)
    )
