"""A connection whose client takes little of what is sent to it, and that when it likes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import socket

SMALL_BUFFER = 4096  # of a socket; the system doubles it
PIECE = 512


@asynccontextmanager
async def unhurried(
    port: int,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Opens a connection behind which next to nothing can wait; it is cut at the end."""
    with socket.socket() as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        own.setblocking(False)
        await asyncio.get_running_loop().sock_connect(own, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=own, limit=PIECE)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()
