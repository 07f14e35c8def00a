"""Reads what a provider answers up to a limit, also when a little of it unpacks to a lot."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import cast

import httpx2


class _FirstBytes(httpx2.AsyncByteStream):
    """A body that ends at a limit, as it comes over the line."""

    def __init__(self, body: httpx2.AsyncByteStream, *, most: int) -> None:
        self._body = body
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._body:
            self._left -= len(part)
            yield part
            if self._left <= 0:
                return

    async def aclose(self) -> None:
        """Closes the body, and with it a connection on which more is to come."""
        await self._body.aclose()


async def first_bytes(response: httpx2.Response, *, most: int) -> bytes:
    """The first bytes of a body, unpacked; the response is closed.

    What follows is not read. The transport hands on what came, and httpx2 unpacks it in pieces of
    1 MiB at most; it keeps whatever follows the end of a packed body, hence the limit on both.
    A body that cannot be unpacked is taken as far as it can.
    """
    response.stream = _FirstBytes(cast(httpx2.AsyncByteStream, response.stream), most=most)
    found = bytearray()
    async with aclosing(response), aclosing(response.aiter_bytes()) as parts:
        with suppress(httpx2.DecodingError):
            await _gather(parts, found, most=most)
    return bytes(found)


async def unpacked(response: httpx2.Response, *, most: int) -> AsyncGenerator[bytes, None]:
    """The pieces of a packed body as they come, unpacked.

    Not more than `most` bytes are read of what is packed. How much it unpacks to is for the reader
    to count; between two pieces others get their turn, since a little may hold thousands.
    """
    response.stream = _FirstBytes(cast(httpx2.AsyncByteStream, response.stream), most=most)
    async with aclosing(response.aiter_bytes()) as parts:
        async for part in parts:
            yield part
            await asyncio.sleep(0)


async def _gather(parts: AsyncGenerator[bytes, None], found: bytearray, *, most: int) -> None:
    async for part in parts:
        found += part[: most - len(found)]
        if len(found) == most:
            return
