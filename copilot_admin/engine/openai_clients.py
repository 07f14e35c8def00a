"""Keeps one client of the openai package for each event loop, address and key."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
import socket

from aiohttp import AddrInfoType, ClientSession, DummyCookieJar, TCPConnector
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai._vendor.httpx_aiohttp import AiohttpTransport

from copilot_admin.engine.addresses import ForbiddenAddress, forbidden_text, is_forbidden

# As many as the package itself allows; the server's own limits are far below.
_MAX_CONNECTIONS = 1000
_NO_KEY = "none"  # the package insists on a key; without one the header is left out


@dataclass(frozen=True, slots=True)
class _Shared:
    """The clients of one loop, and a generator whose closing closes them."""

    clients: dict[tuple[str, str], AsyncOpenAI]
    closing: AsyncGenerator[None, None]


_shared: dict[asyncio.AbstractEventLoop, _Shared] = {}


async def client_for(*, base_url: str, api_key: str) -> AsyncOpenAI:
    """The client of the running loop for this address and key, made when it is first asked for.

    It neither retries nor follows redirects nor reads proxies from the environment: retries are
    the engine's, and a key goes to no address but the one it was entered for.
    """
    clients = await _clients()
    client = clients.get((base_url, api_key))
    if client is None:
        client = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or _NO_KEY,
            max_retries=0,
            http_client=DefaultAioHttpClient(
                transport=AiohttpTransport(trust_env=False, client=_session),
                trust_env=False,
                follow_redirects=False,
            ),
        )
        clients[base_url, api_key] = client
    return client


async def aclose_clients() -> None:
    """Closes the clients of the running loop, with their connections."""
    shared = _shared.get(asyncio.get_running_loop())
    if shared is not None:
        await shared.closing.aclose()


async def _clients() -> dict[tuple[str, str], AsyncOpenAI]:
    """The clients of the running loop.

    A loop closes the generators it has started before it ends. So the clients of a short-lived
    loop, such as that of `async_to_sync`, are closed in it, although nobody there knows of them.
    """
    loop = asyncio.get_running_loop()
    shared = _shared.get(loop)
    if shared is None:
        clients: dict[tuple[str, str], AsyncOpenAI] = {}
        shared = _shared[loop] = _Shared(clients, _closing(loop, clients))
        await anext(shared.closing)
    return shared.clients


async def _closing(
    loop: asyncio.AbstractEventLoop, clients: dict[tuple[str, str], AsyncOpenAI]
) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        del _shared[loop]
        for client in clients.values():
            await client.close()


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
