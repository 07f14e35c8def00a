"""How a worker leaves its colleagues: it takes no more connections, and answers those it has."""

import asyncio
from collections.abc import Iterable

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# A connection that was taken just before may have its question on the way for so long.
LATE_SECONDS = 1.0
_LOOK_SECONDS = 0.05


def colleagues_take_over(server: uvicorn.Server) -> bool:
    """Whether other processes share the sockets of this one."""
    return server.config.workers > 1


async def leave(server: uvicorn.Server) -> None:
    """Takes no more connections, and waits for the first question of each that was just taken."""
    for listener in getattr(server, "servers", ()):  # uvicorn has none until it has started
        listener.close()
    for _ in range(int(LATE_SECONDS / _LOOK_SECONDS)):
        await asyncio.sleep(_LOOK_SECONDS)  # first: what was taken last is no connection yet
        if not any(connection.cycle is None for connection in _connections(server)):
            break
    for connection in list(_connections(server)):
        if connection.cycle is not None:
            connection.shutdown()  # after the answer that is under way, else at once


def _connections(server: uvicorn.Server) -> Iterable[HttpToolsProtocol]:
    return [one for one in server.server_state.connections if isinstance(one, HttpToolsProtocol)]
