"""Long texts in pieces, so that a regular expression doesn't hold the interpreter for long."""

from collections.abc import Callable, Iterator

PIECE = 128 * 1024  # characters


def pieces_of(text: str, *, border: Callable[[str, int], int] | None = None) -> Iterator[str]:
    """The pieces of a text, which together are the text.

    Args:
        text: Of any length; one that is short is its only piece.
        border: Finds in a text, from a place on, where a piece may end, so that nothing is cut that
            has to be read as one. It looks at no more than some pieces at once: who looks for what
            is not there is one long call, too. None: anywhere.
    """
    start = 0
    while len(text) - start > PIECE:
        end = start + PIECE
        if border is not None:
            end = border(text, end)
        yield text[start:end]
        start = end
    yield text[start:]
