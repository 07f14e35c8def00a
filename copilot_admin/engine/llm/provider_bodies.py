"""Reads what a provider answers up to a limit, also when a little of it unpacks to a lot."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
import zlib

from aiohttp import ClientPayloadError, ClientResponse

from copilot_admin.engine.fetching.pieces import next_piece, told_when_it_breaks
from copilot_admin.engine.llm.data_lines import MAX_STREAM_BYTES

# Bytes that are handed on at once. It takes some 20 ms to read so many of the smallest events, of
# which a flood has thousands; 1 MB took 80 ms of a turn of the loop.
MOST_AT_ONCE = 32 * 1024
# What zlib calls the forms of packed data. Source: `wbits` in the documentation of zlib.
_GZIP, _ZLIB, _RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
_FORMS = {"gzip": (_GZIP,), "x-gzip": (_GZIP,), "deflate": (_ZLIB, _RAW)}


class WronglyPacked(ClientPayloadError):
    """A body is not packed as its header says."""


class _Layer:
    """One way in which a body is packed; what follows the end of packed data is left out."""

    def __init__(self, forms: Sequence[int]) -> None:
        self._first, *self._others = map(zlib.decompressobj, forms)

    def unpacked(self, data: bytes) -> Iterator[bytes]:
        """The pieces that some more data unpacks to, as far as it does.

        Raises:
            zlib.error: It is not packed like this.
        """
        while data and not self._first.eof:
            before = self._first.copy()
            try:
                piece = self._first.decompress(data, MOST_AT_ONCE)
            except zlib.error:
                if not self._others:
                    yield from _until_the_fault(before, data)
                    raise
                self._first = self._others.pop()  # some servers leave the head of zlib out
                continue
            self._others = []
            data = self._first.unconsumed_tail
            if piece:
                yield piece


def _until_the_fault(unpacking: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """What data unpacks to before its fault: where all of it is given at once, zlib gives none."""
    found = bytearray()
    with suppress(zlib.error):
        for byte in data:
            found += unpacking.decompress(bytes((byte,)))
            if len(found) > MOST_AT_ONCE:
                yield bytes(found)
                found.clear()
    if found:
        yield bytes(found)


async def blocks_of(response: ClientResponse, *, most: int) -> AsyncGenerator[bytes, None]:
    """The pieces of a body as they come, unpacked, of 32 KB at the most.

    Not more than `most` bytes are read of what is packed. How much it unpacks to is for the reader
    to count; between two pieces others get their turn, since a little may hold thousands.

    Raises:
        WronglyPacked: The body is not packed as its header says.
        ClientError: The connection broke.
    """
    layers = _layers(response.headers.get("Content-Encoding", ""))
    with told_when_it_breaks(response):
        while block := await next_piece(response):
            if not layers:
                for start in range(0, len(block), MOST_AT_ONCE):
                    yield block[start : start + MOST_AT_ONCE]
                continue
            try:
                for piece in _unpacked(block, layers):
                    yield piece
                    await asyncio.sleep(0)
            except zlib.error as error:
                raise WronglyPacked(str(error)) from error
            most -= len(block)
            if most <= 0:
                return


async def blocks_of_answer(
    response: ClientResponse, *, is_whole: Callable[[], bool], soon: float
) -> AsyncGenerator[bytes, None]:
    """The pieces of a streamed answer, as `blocks_of` gives them.

    Some servers neither say that nothing more comes nor close the connection. So once the answer is
    whole, what follows is waited for `soon` seconds and no longer.
    """
    async with aclosing(blocks_of(response, most=MAX_STREAM_BYTES)) as blocks:
        async for block in blocks:
            yield block
            if is_whole():
                break
        loop = asyncio.get_running_loop()
        until = loop.time() + soon
        with suppress(TimeoutError):
            while loop.time() < until and (block := await _next(blocks, until=until)):
                yield block


async def _next(blocks: AsyncGenerator[bytes, None], *, until: float) -> bytes:
    """The next piece; empty at the end."""
    async with asyncio.timeout_at(until):
        return await anext(blocks, b"")


async def first_bytes(response: ClientResponse, *, most: int) -> bytes:
    """The first bytes of a body, unpacked; the response is closed.

    What follows is not read. A body that cannot be unpacked is taken as far as it can.

    Raises:
        ClientError: The connection broke.
    """
    found = bytearray()
    try:
        async with aclosing(blocks_of(response, most=most)) as blocks:
            with suppress(WronglyPacked):
                await _gather(blocks, found, most=most)
    finally:
        response.close()
    return bytes(found)


async def _gather(parts: AsyncGenerator[bytes, None], found: bytearray, *, most: int) -> None:
    async for part in parts:
        found += part[: most - len(found)]
        if len(found) == most:
            return


def _layers(encoding: str) -> Sequence[_Layer]:
    """How a body is packed, innermost first; what nobody here can unpack is taken as it is."""
    names = (name.strip().lower() for name in encoding.split(","))
    return [_Layer(_FORMS[name]) for name in names if name in _FORMS]


def _unpacked(block: bytes, layers: Sequence[_Layer]) -> Iterator[bytes]:
    if not layers:
        yield block
        return
    *inner, outermost = layers
    for piece in outermost.unpacked(block):
        yield from _unpacked(piece, inner)
