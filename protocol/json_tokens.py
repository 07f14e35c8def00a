"""Count what untrusted JSON is made of, before memory is spent on its values."""

from collections.abc import Iterator
from itertools import accumulate
import re

from protocol.long_texts import odd_backslashes

_QUOTE = ord('"')
# How many tokens each counts as: a list takes as long to make as three texts, an object as much memory
# as ten. What is read is copied without its secrets, and once more to be stored.
_STRUCTURE = ((b"[", 3), (b"{", 10), (b",", 1), (b":", 1))
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)  # linear: possessive
_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)  # of a text
AT_ONCE = 128 * 1024  # bytes, which is looked through in some milliseconds


def has_more_tokens(body: bytes, most: int) -> bool:
    """Whether JSON has more brackets, braces, commas and colons outside of its texts than this.

    It is asked before memory is spent on values; lists and objects count as several. The quick count
    errs upwards, so that few bodies are looked at again.
    """
    if _structure(body) <= most:
        return False
    return any(count > most for count in accumulate(map(_structure, _outside_texts(body))))


def tokens_of(body: bytes, *, no_matter: int) -> int:
    """How many brackets, braces, commas and colons JSON has outside of its texts, as counted above.

    Args:
        body: That has not been read.
        no_matter: So many need not be counted exactly: where the quick count is no larger, it counts.
    """
    quick = _structure(body)
    return quick if quick <= no_matter else sum(map(_structure, _outside_texts(body)))


def _outside_texts(body: bytes) -> Iterator[bytes]:
    """What of JSON is no text, in pieces."""
    start, in_text = 0, False
    while start < len(body):
        end = min(start + AT_ONCE, len(body))
        if in_text:
            start, in_text = _after_text(body, start, end)
        else:
            end = max(end - odd_backslashes(body, start, end), start + 1)
            piece = body[start:end]
            yield _STRING.sub(b"", piece)
            in_text = _ends_in_text(piece)
            start = end


def _after_text(body: bytes, start: int, end: int) -> tuple[int, bool]:
    """Where to go on from within a text, and whether that is still within it."""
    found = _INSIDE.match(body, start, end)
    stop = found.end() if found else end
    if stop < end and body[stop] == _QUOTE:
        return stop + 1, False
    # A backslash may be left, whose other half lies beyond; at the end of the body there is none.
    return max(stop, start + 1), True


def _ends_in_text(piece: bytes) -> bool:
    """Whether a piece that begins outside of texts ends inside of one: its quotes are odd."""
    return piece.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"') % 2 == 1


def _structure(body: bytes) -> int:
    return sum(
        weight * body.count(mark, start, start + AT_ONCE)
        for start in range(0, len(body), AT_ONCE)
        for mark, weight in _STRUCTURE
    )
