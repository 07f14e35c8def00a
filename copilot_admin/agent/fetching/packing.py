"""Decompression of responses, within limits."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
import zlib

# Bytes that are handed on at once. It takes some 20 ms to read so many of the smallest events, of
# which a flood has thousands; 1 MB took 80 ms of a turn of the loop.
MOST_AT_ONCE = 32 * 1024
# What zlib calls the forms of packed data. Source: `wbits` in the documentation of zlib.
_GZIP, _ZLIB, _RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
_GZIP_MARK = b"\x1f\x8b"
_OF_GZIP = frozenset({"gzip", "x-gzip"})
_KNOWN = _OF_GZIP | {"deflate"}
_NONE = frozenset({"", "identity"})
# Forms in each other. A header has room for a thousand, each of which goes through what the next gives
# out. Source: curl and urllib3 take five.
_MOST_LAYERS = 5
# Some servers pack each event by itself; an answer has fewer of them. Empty ones cost 30 us each.
MOST_PACKAGES = 200_000
# Bytes that are unpacked one by one, behind each of which others may have their turn; they take 4 ms.
_STEPS_AT_ONCE = 8 * 1024


class _Layer:
    """One way in which a body is packed; what follows the end of packed data is left out."""

    def __init__(self, name: str) -> None:
        self._is_gzip = name in _OF_GZIP
        self._head = b""  # what came before it was clear what begins here
        self._unpacking: zlib._Decompress | None = None
        self._packages = 0
        self._is_plain = self._is_over = False

    def unpacked(self, data: bytes) -> Iterator[bytes]:
        """The pieces that some more data unpacks to, as far as it does.

        An empty one says that others may have their turn.

        Raises:
            zlib.error: It is not packed like this.
        """
        while data and not self._is_over:
            if self._is_plain:
                yield data
                return
            if self._unpacking is None:
                data = self._begun(data)
                continue
            before = self._unpacking.copy()
            try:
                yield self._unpacking.decompress(data, MOST_AT_ONCE)
            except zlib.error:
                yield from _until_the_fault(before, data)
                raise
            data = self._unpacking.unconsumed_tail
            if self._unpacking.eof:
                data = self._unpacking.unused_data
                self._unpacking = None

    def _begun(self, data: bytes) -> bytes:
        self._head += data
        if len(self._head) < len(_GZIP_MARK):
            return b""
        data, self._head = self._head, b""
        is_first, self._packages = self._packages == 0, self._packages + 1
        form = self._form_of(data, is_first=is_first)
        if form is not None and self._packages <= MOST_PACKAGES:
            self._unpacking = zlib.decompressobj(form)
        else:  # a proxy has unpacked it and left the header; behind packed data it is not looked at
            self._is_plain, self._is_over = is_first, not is_first
        return data

    def _form_of(self, data: bytes, *, is_first: bool) -> int | None:
        if self._is_gzip:
            return _GZIP if data.startswith(_GZIP_MARK) else None
        if not is_first:
            return None
        # Some servers leave the head of zlib out. Source: RFC 1950, 2.2.
        has_head = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0
        return _ZLIB if has_head else _RAW


def layers_of(encoding: str) -> Sequence[_Layer]:
    """How a body is packed, innermost first; what nobody here unpacks is taken as it is.

    Args:
        encoding: The header that says it.
    """
    known = [name for name in _names(encoding) if name in _KNOWN]
    return [_Layer(name) for name in known] if len(known) <= _MOST_LAYERS else []


def is_strange(encoding: str) -> bool:
    names = [name for name in _names(encoding) if name not in _NONE]
    return len(names) > _MOST_LAYERS or not _KNOWN.issuperset(names)


def unpacked(block: bytes, layers: Sequence[_Layer]) -> Iterator[bytes]:
    """The pieces that some more of a body unpacks to; an empty one is a turn for others.

    Raises:
        zlib.error: It is not packed like this.
    """
    if not layers or not block:
        yield block
        return
    *inner, outermost = layers
    for piece in outermost.unpacked(block):
        yield from unpacked(piece, inner)


def _names(encoding: str) -> list[str]:
    return [name.strip().lower() for name in encoding.split(",")]


def _until_the_fault(unpacking: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    found = bytearray()
    with suppress(zlib.error):
        for number, byte in enumerate(data, start=1):
            found += unpacking.decompress(bytes((byte,)))
            if len(found) > MOST_AT_ONCE or number % _STEPS_AT_ONCE == 0:
                yield bytes(found)
                found.clear()
    if found:
        yield bytes(found)


MOST_BYTES = 50 * 1024 * 1024
