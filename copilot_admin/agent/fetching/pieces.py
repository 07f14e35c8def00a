"""Reads the body of a response as it comes, and knows when its connection broke.

Of that aiohttp says too little: what waits to be read is handed out no more; and where the framing of
a body breaks, whoever waits for its next piece waits for ever, and who asks later gets a `RuntimeError`.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from functools import partial

from aiohttp import ClientError, ClientPayloadError, ClientResponse, StreamReader

_BROKE = "The connection was closed before the whole body had come."


async def next_piece(response: ClientResponse) -> bytes:
    """What has come of the body since it was last asked for; empty at its end.

    Raises:
        ClientError: The connection broke, and what came before has been handed out.
    """
    content = response.content
    try:
        try:
            return await content.readany()
        except ClientError:
            if came := content._read_nowait(-1):  # what it holds; no public way past the error
                return came
            raise
    except RuntimeError as error:
        raise ClientPayloadError(_BROKE) from error


async def chunks_of(response: ClientResponse) -> AsyncGenerator[bytes, None]:
    """The pieces of the body as its server cut it, each by itself.

    Raises:
        ClientError: The connection broke.
    """
    with told_when_it_breaks(response):
        try:
            async for chunk, _ in response.content.iter_chunks():
                yield chunk
        except RuntimeError as error:
            raise ClientPayloadError(_BROKE) from error


@contextmanager
def told_when_it_breaks(response: ClientResponse) -> Iterator[None]:
    """While the block lasts, who waits for a piece is told when the connection is closed."""
    closed = _closed(response)
    if closed is None:  # all of it has come
        yield
        return
    closed.remove_done_callback(_take_note)  # once is enough for all responses of a connection
    closed.add_done_callback(_take_note)
    tell = partial(_tell, response.content)
    closed.add_done_callback(tell)
    try:
        yield
    finally:
        closed.remove_done_callback(tell)


def _closed(response: ClientResponse) -> asyncio.Future[None] | None:
    connection = response.connection
    protocol = None if connection is None else connection.protocol
    return None if protocol is None else protocol.closed


def _take_note(closed: asyncio.Future[None]) -> None:
    closed.exception()


def _tell(content: StreamReader, closed: asyncio.Future[None]) -> None:
    if not content.is_eof() and content.exception() is None:
        content.set_exception(ClientPayloadError(_BROKE))
