"""Keeps one client of the openai package for each event loop, address and key."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
import socket

from aiohttp import AddrInfoType, ClientSession, DummyCookieJar, TCPConnector
import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai._vendor.httpx_aiohttp import AiohttpTransport

from copilot_admin.engine.fetching.addresses import ForbiddenAddress, forbidden_text, is_forbidden

# As many as the package itself allows; the server's own limits are far below.
_MAX_CONNECTIONS = 1000
_NO_KEY = "none"  # the package insists on a key; without one the header is left out


@dataclass(frozen=True, slots=True)
class Connection:
    """A client for one address and key, with what each of its requests begins with.

    Attributes:
        client: Of the openai package.
        http: Its transport.
        completions: Where chat completions are asked for.
        models: Where the models are listed.
        headers: Of every request to them, with the key if there is one.
    """

    client: AsyncOpenAI
    http: httpx2.AsyncClient
    completions: httpx2.URL
    models: httpx2.URL
    headers: httpx2.Headers


@dataclass(frozen=True, slots=True)
class _Shared:
    """The clients of one loop, and a generator whose closing closes them."""

    connections: dict[tuple[str, str], Connection]
    closing: AsyncGenerator[None, None]


_shared: dict[asyncio.AbstractEventLoop, _Shared] = {}


async def connection_for(*, base_url: str, api_key: str) -> Connection:
    """The running loop's client for this address and key, made when it is first asked for.

    It neither retries nor follows redirects nor reads proxies from the environment: retries are
    the engine's, and a key goes to no address but the one it was entered for.
    """
    connections = await _connections()
    connection = connections.get((base_url, api_key))
    if connection is None:
        connection = connections[base_url, api_key] = _connection(base_url, api_key)
    return connection


def _connection(base_url: str, api_key: str) -> Connection:
    http = DefaultAioHttpClient(
        transport=AiohttpTransport(trust_env=False, client=_session),
        trust_env=False,
        follow_redirects=False,
    )
    client = AsyncOpenAI(
        base_url=base_url, api_key=api_key or _NO_KEY, max_retries=0, http_client=http
    )
    headers = httpx2.Headers(
        {name: one for name, one in client.default_headers.items() if isinstance(one, str)}
    )
    headers["Accept-Encoding"] = "identity"
    headers["Content-Type"] = "application/json"
    # The package takes these from the environment of this process.
    for name in ("OpenAI-Organization", "OpenAI-Project", "Authorization"):
        headers.pop(name, None)
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    address = str(client.base_url).rstrip("/")
    return Connection(
        client=client,
        http=http,
        completions=httpx2.URL(f"{address}/chat/completions"),
        models=httpx2.URL(f"{address}/models"),
        headers=headers,
    )


async def aclose_clients() -> None:
    """Closes the clients of the running loop, with their connections."""
    shared = _shared.get(asyncio.get_running_loop())
    if shared is not None:
        await shared.closing.aclose()


async def _connections() -> dict[tuple[str, str], Connection]:
    """The HTTP clients that belong to the running event loop.

    A loop closes the generators it has started before it ends. So the clients of a short-lived
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
            await connection.client.close()


def _session() -> ClientSession:
    connector = TCPConnector(limit=_MAX_CONNECTIONS, socket_factory=_permitted_socket)
    return ClientSession(connector=connector, cookie_jar=DummyCookieJar(), trust_env=False)


def _permitted_socket(address: AddrInfoType) -> socket.socket:
    """Makes the socket for a connection, looking at the very address that is connected to.

    A check of the host name before would be fooled by a name server that changes its answer.
    """
    family, kind, protocol, _, where = address
    host = str(where[0])
    if is_forbidden(host.partition("%")[0]):
        raise ForbiddenAddress(forbidden_text(host))
    return socket.socket(family=family, type=kind, proto=protocol)
