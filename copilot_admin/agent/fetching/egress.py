"""The egress client of files, links and webhooks: it reaches no private address through any name.

The sender of a question chooses the URL, so the client checks every address that it connects to,
also after a redirect: no private, local or metadata network unless the operator has allowed it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from ipaddress import IPv4Network, IPv6Network, ip_network
import socket
from typing import Any, TypeAlias
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

from aiohttp import (
    AddrInfoType,
    ClientError,
    ClientPayloadError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
    ThreadedResolver,
)

from copilot_admin.agent.fetching.addresses import (
    address_of,
    is_forbidden,
    is_public,
    is_this_machine,
    parts_of,
)
from copilot_admin.agent.fetching.tls_faults import tls_fault
from copilot_admin.errors import CopilotError, iter_causes

MAX_BYTES = 50 * 1024 * 1024  # of one file
DEFAULT_TIMEOUT_SECONDS = 30.0
MAX_CONCURRENT = 6  # files in memory at a time, in one event loop
MAX_WAIT_SECONDS = 10.0
MAX_REDIRECTS = 3
POST_SECONDS = 10.0  # receivers should defer slow work until they have answered
MAX_ANSWER_BYTES = 1000  # of a receiver
BUSY = "The server is fetching as many files as it can. Ask again in a minute."
_PRIVATE = "The link leads into a private network, from which nothing is fetched."
_ALLOW = "The operator of this server can allow it in COPILOT_FETCH_ALLOW."
_NOWHERE = "The link leads nowhere."
_UNREACHED = "The server behind the link could not be reached."
_BROKE = "The file did not arrive whole."
_MOVED = (301, 302, 303, 307, 308)
_EXPIRED = (401, 403, 404, 410)
_Network: TypeAlias = IPv4Network | IPv6Network
# Opens the bytes behind a URL; they count towards the limit until the end of the block.
Fetch: TypeAlias = Callable[[str], AbstractAsyncContextManager[bytes]]
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class FetchFailed(CopilotError):
    """A request failed; the text has the reason, and `detail` that for builders and operators."""

    def __init__(self, public: str, *, detail: str = "", is_private: bool = False) -> None:
        super().__init__(public)
        self.detail = detail or public
        self.is_private = is_private


class PrivateAddress(OSError):
    """An address belongs to a forbidden network."""


class Egress:
    """Sends requests to URLs from untrusted sources, and fetches files."""

    def __init__(
        self,
        allowed: Sequence[str] = (),
        *,
        seconds: float = DEFAULT_TIMEOUT_SECONDS,
        most_bytes: int = MAX_BYTES,
        keeps_https: bool = False,
        uses_proxy: bool = True,
    ) -> None:
        """Prepare fetching with limits for one file.

        `allowed` hosts, addresses or networks may be reached although they are private; link-local
        and metadata addresses never are. If it `keeps_https`, redirects from https to http are
        rejected: anyone on the network path could alter the content.
        """
        self._uses_proxy = uses_proxy
        self._keeps_https = keeps_https
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._hosts = frozenset(one.lower() for one in allowed)
        self._networks = _networks(allowed)

    @asynccontextmanager
    async def fetch(self, url: str) -> AsyncGenerator[bytes, None]:
        """Open the bytes behind a URL; the block occupies one of the concurrent fetches."""
        loop = asyncio.get_running_loop()
        slots = _slots.setdefault(loop, asyncio.Semaphore(MAX_CONCURRENT))
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await slots.acquire()
        except TimeoutError:
            raise FetchFailed(BUSY) from None
        try:
            yield await self._follow(url)
        finally:
            slots.release()

    async def post(
        self, url: str, body: bytes, *, headers: Mapping[str, str], seconds: float = POST_SECONDS
    ) -> tuple[int, str]:
        """Post a body; return the status and the beginning of the answer, which is untrusted."""
        answer = b""
        try:
            async with self.request(
                "POST", url, seconds=seconds, data=body, headers=headers
            ) as response:
                async for part in response.content.iter_any():
                    answer += part
                    if len(answer) >= MAX_ANSWER_BYTES:
                        break
                response.close()  # the rest of the body
        except (TimeoutError, ClientError, OSError, ValueError) as error:
            raise _failed(error, url, seconds) from error
        return response.status, answer[:MAX_ANSWER_BYTES].decode("utf-8", "replace")

    @asynccontextmanager
    async def request(
        self, method: str, url: str, *, seconds: float, **options: Any
    ) -> AsyncGenerator[ClientResponse, None]:
        """Send one request, through the environment's proxy if there is one; follow no redirect.

        It may raise an `OSError` such as `PrivateAddress`, a `ClientError` or a `ValueError`.
        """
        host = _host_of(url)
        if not host:
            raise ValueError(url)
        proxy = find_proxy(url) if self._uses_proxy else None
        if proxy:
            await self._check_target(url, host)
        connector = TCPConnector(
            resolver=ThreadedResolver(),
            socket_factory=None if proxy else self._sockets(host),
        )
        async with (
            ClientSession(connector=connector, cookie_jar=DummyCookieJar()) as session,
            session.request(
                method,
                url,
                allow_redirects=False,
                proxy=proxy,
                timeout=ClientTimeout(total=seconds),
                **options,
            ) as response,
        ):
            yield response

    def refuses(self, url: str) -> bool:
        """Return true if a URL's host, judged by its spelling, may not be reached."""
        host = _host_of(url)
        text = "127.0.0.1" if is_this_machine(host) else host
        return address_of(text) is not None and not self._may_reach(text, host)

    async def _follow(self, url: str) -> bytes:
        try:
            async with asyncio.timeout(self._seconds):
                for _ in range(MAX_REDIRECTS + 1):
                    found = await self._hop(url)
                    if isinstance(found, bytes):
                        return found
                    found = urljoin(url, found)
                    is_downgrade = parts_of(url).scheme == "https" != parts_of(found).scheme
                    if self._keeps_https and is_downgrade:
                        raise FetchFailed("The link leads away from https.")
                    url = found
        except (TimeoutError, ClientError, OSError, ValueError) as error:
            raise _failed(error, url, self._seconds) from error
        raise FetchFailed(_NOWHERE)

    async def _hop(self, url: str) -> bytes | str:
        """Return the body, or the target of a redirect."""
        if not _host_of(url):
            raise FetchFailed("The link is no http or https address, or too long.")
        async with self.request("GET", url, seconds=self._seconds) as response:
            status = response.status
            if status in _MOVED and "Location" in response.headers:
                return response.headers["Location"]
            if status in _EXPIRED:
                text = f"The link has expired or is not open: the server answered {status}."
                raise FetchFailed(text)
            if status >= 300:
                raise FetchFailed(f"The server answered {status}.")
            self._check_size(response.content_length or 0)
            body = bytearray()
            async for part in response.content.iter_any():
                body += part
                self._check_size(len(body))
            return _in_utf8(bytes(body), response)

    def _check_size(self, size: int) -> None:
        if size > self._most_bytes:
            raise FetchFailed(f"It is larger than {self._most_bytes // 2**20} MB.")

    async def _check_target(self, url: str, host: str) -> None:
        """Check a proxied request's target; the proxy checks names that only it can resolve."""
        if self.refuses(url):
            raise PrivateAddress(host)
        with suppress(socket.gaierror):
            for found in await ThreadedResolver().resolve(host):
                if not self._may_reach(found["host"], host):
                    raise PrivateAddress(found["host"])

    def _sockets(self, host: str) -> Callable[[AddrInfoType], socket.socket]:
        """Create the sockets of a request, checking the addresses that they connect to."""

        def permitted(address: AddrInfoType) -> socket.socket:
            family, kind, protocol, _, where = address
            # First of all: if the family is unavailable, the error is the same for every name.
            made = socket.socket(family=family, type=kind, proto=protocol)
            text = str(where[0]).partition("%")[0]
            if not self._may_reach(text, host):
                made.close()
                raise PrivateAddress(text)
            return made

        return permitted

    def _may_reach(self, text: str, host: str) -> bool:
        """Return whether an address may be reached, by its own or the allowed name of its host."""
        if is_forbidden(text):
            return False
        address = address_of(text)
        allowed = address is not None and any(address in one for one in self._networks)
        return is_public(text) or host.lower() in self._hosts or allowed


def _in_utf8(body: bytes, response: ClientResponse) -> bytes:
    """Return a text as UTF-8 if only its header names another encoding."""
    is_named = b"charset=" in body[:2048].lower()
    if response.charset is None or is_named or not response.content_type.startswith("text/"):
        return body
    with suppress(UnicodeError):
        body.decode()
        return body
    with suppress(UnicodeError, LookupError):
        return body.decode(response.charset).encode()
    return body


def find_proxy(url: str) -> str | None:
    """Return the proxy that HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY name for a URL.

    The local machine is never reached through a proxy. NO_PROXY may list networks: 10.0.0.0/8.
    """
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    host = parts.hostname or ""
    address = address_of(host)
    direct = _networks(["127.0.0.0/8", "::1", *proxies.get("no", "").split(",")])
    is_direct = address is not None and any(address in network for network in direct)
    if not proxy or is_direct or is_this_machine(host):
        return None
    if proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _host_of(url: str) -> str:
    """Return the host of an http(s) URL, else an empty text."""
    try:
        parts = parts_of(url)
        return parts.hostname or "" if parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _networks(texts: Iterable[str]) -> list[_Network]:
    found: list[_Network] = []
    for text in texts:
        with suppress(ValueError):  # it is the name of a host
            found.append(ip_network(text.strip(), strict=False))
    return found


def _failed(error: BaseException, url: str, seconds: float) -> FetchFailed:
    """Return the error for a failed connection.

    The text doesn't reveal that a name resolves to a private network: a stranger could learn which
    names the network has. A numeric address reveals nothing new.
    """
    if isinstance(error, TimeoutError):
        return FetchFailed(f"It did not arrive within {seconds:g} seconds.")
    if fault := tls_fault(error):
        text = fault.describe("the server behind the link")
        return FetchFailed(text, detail=f"{text} Its operator should {fault.advice}.")
    if isinstance(error, ValueError):
        return FetchFailed(_NOWHERE)
    if isinstance(error, ClientPayloadError):
        return FetchFailed(_BROKE)
    if not any(isinstance(one, PrivateAddress) for one in iter_causes(error)):
        return FetchFailed(_UNREACHED)
    host = _host_of(url)
    is_plain = address_of(host) is not None or is_this_machine(host)
    text = _PRIVATE if is_plain else _UNREACHED
    return FetchFailed(text, detail=f"{_PRIVATE} {_ALLOW}", is_private=True)
