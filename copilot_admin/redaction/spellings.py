"""A text as kinds are looked for in it: with the digits, blanks and hyphens that a keyboard has.

A number that was copied from a page has other blanks and hyphens, signs that nobody sees between its
digits, or digits of another width or script. Whoever reads it sees the same number.
"""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
import re
from string import ascii_letters

from copilot_admin.redaction.kinds import Span
from protocol.pieces import PIECE

_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_BLANKS = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_WIDE = {chr(ord(one) + 0xFEE0): one for one in f"#()+./:=@_{ascii_letters}"} | {"\u3002": "."}
# Of every script of the first plane, which one table of the search has, and those of mathematics.
_SIGNS = map(chr, chain(range(0x80, 0x10000), range(0x1D7CE, 0x1D800)))
_DIGITS = {one: str(int(one)) for one in _SIGNS if one.isdecimal()}
_PLAIN = {**dict.fromkeys(_HYPHENS, "-"), **dict.fromkeys(_BLANKS, " "), **_WIDE, **_DIGITS}
# Hyphens that are shown at the end of a line alone, marks of direction, joiners, variants.
_unseen = re.compile(
    r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]+"
)
# Where all signs of `_PLAIN` are, and few letters of the most usual scripts: a search for each of the
# signs takes ten times as long.
_other = re.compile("[\u00a0\u0660-\u33ff\ua000-\uabff\ufe00-\uffff\U0001d7ce-\U0001d7ff]")
_TABLE = str.maketrans(_PLAIN)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as it is looked through.

    Attributes:
        gaps: Where in it unseen signs were left out, in order.
        left_out: How many were left out up to each gap, with those of the gap.
    """

    text: str
    gaps: Sequence[int] = ()
    left_out: Sequence[int] = ()

    def origin(self, span: Span) -> Span:
        """Where a place of it is in the text that it was made of; no place is empty."""
        start, end = span
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, place: int) -> int:
        before = bisect_right(self.gaps, place)
        return place + (self.left_out[before - 1] if before else 0)


def folded(text: str) -> Folded:
    """A text as kinds are looked for in it; takes as long as the text is."""
    if text.isascii():
        return Folded(text)
    parts: list[str] = []
    gaps, left_out, so_far = array("I"), array("I"), 0
    # In parts, so that others have their turn between: one search keeps the interpreter's lock.
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        if piece.isascii():
            parts.append(piece)
            continue
        for match in _unseen.finditer(piece):
            first, last = match.span()
            gaps.append(start + first - so_far)
            so_far += last - first
            left_out.append(so_far)
        parts.append(_plain(_unseen.sub("", piece)))
    return Folded("".join(parts), gaps, left_out)


def _plain(text: str) -> str:
    return text.translate(_TABLE) if _other.search(text) else text
