"""Keeps one HTTP session for each event loop, address and key of a provider."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
import socket

from aiohttp import AddrInfoType, ClientSession, DummyCookieJar

from copilot_admin.agent.fetching.addresses import ForbiddenAddress, forbidden_text, is_forbidden
from copilot_admin.agent.fetching.connecting import BoundedConnector
from copilot_admin.agent.fetching.names import OF_PROVIDERS

_MAX_CONNECTIONS = 1000  # the server's own limits are far below
# aiohttp takes twice as many bytes of a stream, and a sixteenth of it as chunks, before it waits for
# the reader: so many of a flood are read in one turn of the loop (with its 64 KB it took 40 ms).
_READ_AHEAD_BYTES = 16 * 1024
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "copilot-admin",
}


@dataclass(frozen=True, slots=True)
class Connection:
    """A session for one address and key, with what each of its requests begins with.

    Attributes:
        session: Its connections.
        completions: Where chat completions are asked for.
        models: Where the models are listed.
        headers: Of every request to them, with the key if there is one.
    """

    session: ClientSession
    completions: str
    models: str
    headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Shared:
    """The sessions of one loop, and a generator whose closing closes them."""

    connections: dict[tuple[str, str], Connection] = field(repr=False)
    closing: AsyncGenerator[None, None]


_shared: dict[asyncio.AbstractEventLoop, _Shared] = {}


async def connection_for(*, base_url: str, api_key: str) -> Connection:
    """The running loop's session for this address and key, made when it is first asked for.

    It knows no proxies of the environment and keeps no cookies. Whoever asks with it follows no
    redirects: a key goes to no address but the one it was entered for.
    """
    connections = await _connections()
    connection = connections.get((base_url, api_key))
    if connection is None:
        connection = connections[base_url, api_key] = _connection(base_url, api_key)
    return connection


def _connection(base_url: str, api_key: str) -> Connection:
    address = base_url.rstrip("/")
    key = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return Connection(
        session=_session(),
        completions=f"{address}/chat/completions",
        models=f"{address}/models",
        headers=_HEADERS | key,
    )


async def aclose_sessions() -> None:
    """Closes the sessions of the running loop, with their connections."""
    shared = _shared.get(asyncio.get_running_loop())
    if shared is not None:
        await shared.closing.aclose()


async def _connections() -> dict[tuple[str, str], Connection]:
    """The sessions that belong to the running event loop.

    A loop closes the generators it has started before it ends. So the sessions of a short-lived
    loop, such as that of `async_to_sync`, are closed in it, although nobody there knows of them.
    """
    loop = asyncio.get_running_loop()
    shared = _shared.get(loop)
    if shared is None:
        connections: dict[tuple[str, str], Connection] = {}
        shared = _shared[loop] = _Shared(connections, _closing(loop, connections))
        await anext(shared.closing)
    return shared.connections


async def _closing(
    loop: asyncio.AbstractEventLoop, connections: dict[tuple[str, str], Connection]
) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        del _shared[loop]
        for connection in connections.values():
            await connection.session.close()


def _session() -> ClientSession:
    connector = BoundedConnector(
        OF_PROVIDERS, limit=_MAX_CONNECTIONS, socket_factory=_permitted_socket
    )
    return ClientSession(
        connector=connector,
        cookie_jar=DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        read_bufsize=_READ_AHEAD_BYTES,
    )


def _permitted_socket(address: AddrInfoType) -> socket.socket:
    """Makes the socket for a connection, looking at the very address that is connected to.

    A check of the host name before would be fooled by a name server that changes its answer.
    """
    family, kind, protocol, _, where = address
    host = str(where[0])
    if is_forbidden(host.partition("%")[0]):
        raise ForbiddenAddress(forbidden_text(host))
    return socket.socket(family=family, type=kind, proto=protocol)
