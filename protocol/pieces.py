"""Long texts, piece by piece.

One call of a regular expression over 20 MB takes up to a second, and no other thread of the process
runs meanwhile: the interpreter hands its lock on only between two steps of Python. A piece takes
some milliseconds. To read and to write UTF-8 of other letters than ASCII's takes 50 ms and 30.
"""

from collections.abc import Callable, Iterator

PIECE = 128 * 1024  # characters, or bytes
_LONGEST_CHARACTER = 4  # bytes of UTF-8


def pieces_of(text: str, *, border: Callable[[str, int], int] | None = None) -> Iterator[str]:
    """The pieces of a text, which together are the text.

    Args:
        text: Of any length; one that is short is its only piece.
        border: Finds in a text, from a place on, where a piece may end, so that nothing is cut that
            has to be read as one. It looks at no more than some pieces at once: who looks for what
            is not there is one long call, too. None: anywhere.

    Examples:
        >>> [len(piece) for piece in pieces_of("x" * 300_000)]
        [131072, 131072, 37856]
    """
    start = 0
    while len(text) - start > PIECE:
        end = start + PIECE
        if border is not None:
            end = border(text, end)
        yield text[start:end]
        start = end
    yield text[start:]


def encoded(text: str, *, errors: str = "strict") -> bytes:
    """The text as UTF-8.

    Args:
        text: Of any length.
        errors: What becomes of half characters, by the names of `str.encode`.

    Raises:
        UnicodeEncodeError: There are half characters, and `errors` is "strict".
    """
    if text.isascii() or len(text) <= PIECE:
        return text.encode(errors=errors)
    return b"".join(piece.encode(errors=errors) for piece in pieces_of(text))


def decoded(body: bytes) -> str:
    """The text whose UTF-8 the bytes are.

    Raises:
        UnicodeDecodeError: They are none; `start` counts from the first of them.
    """
    if body.isascii() or len(body) <= PIECE:
        return body.decode()
    texts: list[str] = []
    start = 0
    while start < len(body):
        end = _between_characters(body, start + PIECE)
        texts.append(_decoded(body, start, end))
        start = end
    return "".join(texts)


def _decoded(body: bytes, start: int, end: int) -> str:
    try:
        return body[start:end].decode()
    except UnicodeDecodeError as error:
        at = start + error.start
        raise UnicodeDecodeError(
            error.encoding, body, at, start + error.end, error.reason
        ) from None


def _between_characters(body: bytes, end: int) -> int:
    """The last place up to one at which no character is cut; anywhere, where there are none."""
    if end >= len(body):
        return len(body)
    starts = (at for at in range(end, end - _LONGEST_CHARACTER, -1) if body[at] & 0xC0 != 0x80)
    return next(starts, end)
