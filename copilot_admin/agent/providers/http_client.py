"""Clients of the providers, one for each event loop and provider, and their shared parts."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from functools import cache
from io import BytesIO
from pathlib import Path
import socket
import ssl
from typing import Any, TypeAlias

from aiohttp import (
    AddrInfoType,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)
import httpx2
from openai import AsyncOpenAI

from copilot_admin.agent.fetching.addresses import ForbiddenAddress, forbidden_text, is_forbidden
from copilot_admin.agent.fetching.egress import find_proxy
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import NotReady

_MAX_CONNECTIONS = 1000  # the server's own limits are far below
_READ_AHEAD_BYTES = 16 * 1024

MakeClient: TypeAlias = Callable[[ProviderSpec, httpx2.AsyncClient], AsyncOpenAI]
_Clients: TypeAlias = dict[tuple[Any, ...], AsyncOpenAI]
_loops: dict[asyncio.AbstractEventLoop, tuple[_Clients, AsyncGenerator[None, None]]] = {}


async def get_client(spec: ProviderSpec, make: MakeClient) -> AsyncOpenAI:
    """Return the running loop's client of a provider; another one after its certificates changed."""
    loop = asyncio.get_running_loop()
    if loop not in _loops:
        clients: _Clients = {}
        closing = _close_at_end(loop, clients)
        _loops[loop] = clients, closing
        await anext(closing)
    clients = _loops[loop][0]
    options = spec.options
    files = map(Path, (options.ca_bundle, options.client_certificate, options.client_key))
    key = make, spec, *(file.stat().st_mtime for file in files if file.is_file())
    if key not in clients:
        http_client = _open_http_client(spec)
        try:
            clients[key] = make(spec, http_client)
        except BaseException:
            await http_client.aclose()
            raise
    return clients[key]


async def close_clients() -> None:
    """Close the clients of the running loop, with their connections."""
    found = _loops.get(asyncio.get_running_loop())
    if found is not None:
        await found[1].aclose()


async def _close_at_end(
    loop: asyncio.AbstractEventLoop, clients: _Clients
) -> AsyncGenerator[None, None]:
    """Close the clients of a loop when it ends: it closes the generators that it started before.

    So also the clients of a short-lived loop, such as that of `async_to_sync`, are closed in it.
    """
    try:
        yield
    finally:
        del _loops[loop]
        for client in clients.values():
            await client.close()


def usable_key(spec: ProviderSpec) -> str:
    """Return the key of a provider, or raise `NotReady` if it can't be sent in a header."""
    key = spec.api_key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise NotReady(
            f"The key of the provider {spec.name!r} holds blanks or letters that no key "
            "has. Enter it again."
        )
    return key


def common_arguments(spec: ProviderSpec, http_client: httpx2.AsyncClient) -> dict[str, Any]:
    """Return the arguments that the clients of all kinds share."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "copilot-admin"}
    return {
        "http_client": http_client,
        "default_headers": headers | dict(spec.options.headers),
        "max_retries": 0,  # `stream_model` retries, and counts failures
        "timeout": httpx2.Timeout(None, connect=spec.timeouts.connect),
    }


def _open_http_client(spec: ProviderSpec) -> httpx2.AsyncClient:
    session = ClientSession(
        connector=TCPConnector(
            limit=_MAX_CONNECTIONS, socket_factory=_permitted_socket, ssl=_tls_context(spec)
        ),
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,  # httpx2 does it
        read_bufsize=_READ_AHEAD_BYTES,
    )
    return httpx2.AsyncClient(
        transport=_Transport(session, spec.options.proxy),
        follow_redirects=False,  # a key is sent only to the URL that it was entered for
        trust_env=False,
        timeout=httpx2.Timeout(None, connect=spec.timeouts.connect),
    )


def _tls_context(spec: ProviderSpec) -> ssl.SSLContext | bool:
    options = spec.options
    if not (options.ca_bundle or options.client_certificate):
        return True
    try:
        context = ssl.create_default_context(cafile=options.ca_bundle or None)
        if options.client_certificate:
            context.load_cert_chain(
                options.client_certificate,
                options.client_key or None,
                password=lambda: "",  # otherwise OpenSSL prompts for the key at the terminal
            )
    except (OSError, ValueError) as error:
        raise NotReady(
            f"The certificates of the provider {spec.name!r} can't be read: {error}. Check the "
            "paths of the files and that they are in PEM."
        ) from error
    return context


def _permitted_socket(address: AddrInfoType) -> socket.socket:
    """Create the socket of a connection, unless the address is a link-local or metadata one.

    A check of the host name beforehand could be circumvented by a changing DNS answer.
    """
    family, kind, protocol, _, where = address
    host = str(where[0])
    if is_forbidden(host.partition("%")[0]):
        raise ForbiddenAddress(forbidden_text(host))
    return socket.socket(family=family, type=kind, proto=protocol)


class _Transport(httpx2.AsyncBaseTransport):
    """Sends with aiohttp, which uses a third of the CPU time of httpx2's own transport."""

    def __init__(self, session: ClientSession, proxy: str) -> None:
        self._session = session
        self._proxy = proxy
        self._find_proxy = cache(find_proxy)  # 50 us, for the environment

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        connect = request.extensions.get("timeout", {}).get("connect")
        try:
            response = await self._session.request(
                request.method,
                str(request.url),
                headers=request.headers.multi_items(),
                data=BytesIO(request.content) if request.content else None,  # sent in pieces
                allow_redirects=False,
                proxy=self._proxy or self._find_proxy(str(request.url)),
                timeout=ClientTimeout(total=None, connect=connect, sock_connect=connect),
            )
        except (ClientError, OSError, UnicodeError) as error:
            raise httpx2.ConnectError(str(error)) from error
        return httpx2.Response(
            response.status, headers=response.raw_headers, stream=_Body(response)
        )

    async def aclose(self) -> None:
        await self._session.close()


class _Body(httpx2.AsyncByteStream):
    """Pauses the network while the reader is busy, which then receives one large block."""

    def __init__(self, response: ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content, connection = self._response.content, self._response.connection
        transport = connection.transport if connection else None
        try:
            while block := await content.readany():
                if transport is None or content.is_eof():  # the connection may have other users now
                    yield block
                else:
                    transport.pause_reading()
                    yield block
                    transport.resume_reading()
        except (ClientError, OSError, RuntimeError) as error:  # the last if framing is invalid
            raise httpx2.ReadError(str(error)) from error

    async def aclose(self) -> None:
        self._response.close()  # a connection that was read to its end is reused
