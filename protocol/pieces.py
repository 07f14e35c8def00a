"""Long texts, piece by piece.

One call of a regular expression over 20 MB takes up to a second, and no other thread of the process
runs meanwhile: the interpreter hands its lock on only between two steps of Python. A piece takes
some milliseconds.
"""

from collections.abc import Iterator
import re

PIECE = 128 * 1024  # characters


def pieces_of(text: str, *, ends: re.Pattern[str] | None = None) -> Iterator[str]:
    """The pieces of a text, which together are the text.

    Args:
        text: Of any length; one that is short is its only piece.
        ends: Finds a character behind which a piece may end, so that nothing is cut that has to be
            read as one; None: anywhere.

    Examples:
        >>> [len(piece) for piece in pieces_of("x" * 300_000)]
        [131072, 131072, 37856]
    """
    start = 0
    while len(text) - start > PIECE:
        end = start + PIECE
        if ends is not None:
            found = ends.search(text, end)
            end = found.end() if found else len(text)
        yield text[start:end]
        start = end
    yield text[start:]
