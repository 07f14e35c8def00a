"""Reads what a provider answers up to a limit, also when a little of it unpacks to a lot."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
import zlib

from aiohttp import ClientError, ClientPayloadError, ClientResponse

from copilot_admin.agent.fetching.packing import MOST_AT_ONCE, layers_of, unpacked
from copilot_admin.agent.fetching.pieces import next_piece, told_when_it_breaks
from copilot_admin.agent.llm.data_lines import MAX_STREAM_BYTES


class WronglyPacked(ClientPayloadError):
    """A body is not packed as its header says."""


def _for_ever() -> None:
    """How long a piece is waited for where nobody needs to know of a silence."""


async def blocks_of(
    response: ClientResponse, *, most: int, patience: Callable[[], float | None] = _for_ever
) -> AsyncGenerator[bytes, None]:
    """The pieces of a body as they come, unpacked, of 32 KB at the most.

    Not more than `most` bytes are read of what is packed. How much it unpacks to is for the reader
    to count; between two pieces others get their turn, since a little may hold thousands.

    Args:
        response: Whose body it is.
        most: So many bytes.
        patience: Says before each piece after how many seconds of silence an empty one is given
            in its place; None: it is waited for.

    Raises:
        WronglyPacked: The body is not packed as its header says.
        ClientError: The connection broke.
    """
    layers = layers_of(response.headers.get("Content-Encoding", ""))
    with told_when_it_breaks(response):
        while (block := await _piece_within(patience(), response)) != b"":
            if block is None:
                yield b""
                continue
            if not layers:
                for start in range(0, len(block), MOST_AT_ONCE):
                    yield block[start : start + MOST_AT_ONCE]
                continue
            try:
                for piece in unpacked(block, layers):
                    if piece:
                        yield piece
                    await asyncio.sleep(0)
            except zlib.error as error:
                raise WronglyPacked(str(error)) from error
            most -= len(block)
            if most <= 0:
                return


async def _piece_within(seconds: float | None, response: ClientResponse) -> bytes | None:
    if seconds is None:
        return await next_piece(response)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await next_piece(response)
    return None


async def blocks_of_answer(
    response: ClientResponse,
    *,
    is_whole: Callable[[], bool],
    soon: float,
    patience: Callable[[], float | None] = _for_ever,
) -> AsyncGenerator[bytes, None]:
    """The pieces of a streamed answer, and what stands for silences, as `blocks_of` gives them.

    Some servers neither say that nothing more comes nor close the connection. So once the answer is
    whole, what follows is waited for `soon` seconds and no longer. Where the connection breaks,
    nothing more comes either: an empty piece stands for that silence too.
    """
    whole = blocks_of(response, most=MAX_STREAM_BYTES, patience=patience)
    async with aclosing(whole) as blocks:
        try:
            async for block in blocks:
                yield block
                if is_whole():
                    break
        except ClientError:
            yield b""
            raise
        loop = asyncio.get_running_loop()
        until = loop.time() + soon
        with suppress(TimeoutError):
            while loop.time() < until and (late := await _next(blocks, until=until)) is not None:
                yield late


async def _next(blocks: AsyncGenerator[bytes, None], *, until: float) -> bytes | None:
    async with asyncio.timeout_at(until):
        return await anext(blocks, None)


async def first_bytes(
    response: ClientResponse,
    *,
    most: int,
    seconds: float | None = None,
    silence: float | None = None,
) -> bytes:
    """The first bytes of a body, unpacked; the response is closed.

    What follows is not read. A body that cannot be unpacked is taken as far as it can.

    Args:
        response: Whose body it is.
        most: So many bytes.
        seconds: What has come by then, or before the connection breaks, is enough; None: it is
            waited for.
        silence: So does what has come before nothing more came for so many seconds: some servers
            neither say how long a body is nor close the connection behind it.

    Raises:
        ClientError: The connection broke, and no `seconds` are given.
    """
    found = bytearray()
    enough = WronglyPacked if seconds is None else ClientError
    try:
        async with aclosing(blocks_of(response, most=most, patience=lambda: silence)) as blocks:
            with suppress(enough, TimeoutError):
                async with asyncio.timeout(seconds):
                    await _gather(blocks, found, most=most)
    finally:
        response.close()
    return bytes(found)


async def _gather(parts: AsyncGenerator[bytes, None], found: bytearray, *, most: int) -> None:
    async for part in parts:
        found += part[: most - len(found)]
        if len(found) == most or (found and not part):
            return
