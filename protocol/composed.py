"""Unicode's composed form (NFC) of texts of any length.

A text of a body's size would be one call that keeps the lock of the interpreter for half a second. So
it is composed piece by piece.

Source: https://www.unicode.org/reports/tr15/, "Concatenation of Normalized Strings".
"""

from collections.abc import Iterator
from itertools import groupby
import re
import unicodedata

PIECE = 64 * 1024  # characters; those that are dearest take 3 ms
_ACCENTS = "".join(filter(unicodedata.combining, map(chr, range(0x300, 0x10000))))
_OF_SEVERAL = "\u0f73\u0f75\u0f81"  # each is two accents, and none itself
# The blocks beyond the basic plane that have some: a class of single ones costs each character ten times
# as much. No other signs, such as emoji: putting two megabytes of them in order takes 120 ms and 50 MB.
_WITH_ACCENTS = (
    "\U000101fd\U000102e0\U00010376-\U0001037a\U00010a00-\U00011fff\U00016ac0-\U00016fff\U0001bc00-\U0001bcff\U0001d165-\U0001d244"
    "\U0001e000-\U0001e94a"
)
# Longer runs of them than any language has are put in order first.
_MANY_ACCENTS = re.compile(f"[{_ACCENTS}{_OF_SEVERAL}{_WITH_ACCENTS}]{{30,}}+")
_FIRST_VOWEL, _LAST_CONSONANT = "\u1160", "\u11ff"  # of Hangul: they join the letter before them
_MARK = "M"  # begins the categories of what is written onto another sign


def composed(text: str) -> str:
    """The text in NFC; one that is in it already, as most are, is no other one."""
    if text.isascii():
        return text
    if len(text) <= PIECE:
        return _composed(text)
    if all(map(_is_composed, _pieces(text))):
        return text
    return "".join(map(_composed, _pieces(text)))


def _is_composed(piece: str) -> bool:
    return not _MANY_ACCENTS.search(piece) and unicodedata.is_normalized("NFC", piece)


def _composed(piece: str) -> str:
    return unicodedata.normalize("NFC", _MANY_ACCENTS.sub(_in_order, piece))


def _pieces(text: str) -> Iterator[str]:
    """Parts of a text that can be composed each by itself."""
    start = 0
    while len(text) - start > PIECE:
        end = _border(text, start + PIECE)
        yield text[start:end]
        start = end
    yield text[start:]


def _border(text: str, at: int) -> int:
    """The first place from here on at which a sign joins nothing before it."""
    while at < len(text) and joins(text[at]):
        at += 1
    return at


def joins(sign: str) -> bool:
    """Whether a sign may become one with what stands before it, or change places with it."""
    return (
        unicodedata.combining(sign) > 0
        or unicodedata.category(sign).startswith(_MARK)
        or _FIRST_VOWEL <= sign <= _LAST_CONSONANT
    )


def _in_order(accents: re.Match[str]) -> str:
    """The same text with its accents in the order that normalising gives them.

    `unicodedata` puts them in order by moving each one past all others: the square of their number.
    """
    parts = (part for sign in accents[0] for part in unicodedata.normalize("NFD", sign))
    return "".join(
        "".join(sorted(run, key=unicodedata.combining) if is_accent else run)
        for is_accent, run in groupby(parts, key=lambda part: unicodedata.combining(part) > 0)
    )
