"""The one way out for files: fetches an address that a request named, and nothing that is private.

Whoever sends a question chooses the address, so every address that is connected to is looked at,
also after a redirect and whatever a name server says: no private, local or metadata network unless
the operator has allowed it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from io import BytesIO
from ipaddress import IPv4Network, IPv6Network, ip_network
import socket
from typing import TypeAlias
import zlib

from aiohttp import (
    AddrInfoType,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
)

from copilot_admin.agent.fetching.addresses import (
    LONGEST_ADDRESS,
    address_of,
    is_forbidden,
    is_public,
    led_to,
    parts_of,
)
from copilot_admin.agent.fetching.connecting import BoundedConnector, tls_fault
from copilot_admin.agent.fetching.names import OF_LINKS
from copilot_admin.agent.fetching.packing import MOST_BYTES, is_strange, layers_of, unpacked
from copilot_admin.agent.fetching.pieces import chunks_of
from copilot_admin.agent.fetching.room import FetchRoom, Held, NoRoom
from copilot_admin.errors import CopilotError, iter_causes

SECONDS = 30.0
# Of all files that are fetched and not yet read: three of the largest, or seven of 20 MB.
MOST_IN_MEMORY = 150 * 1024 * 1024
ROOM_SECONDS = 10.0
BUSY = "The server is fetching as many files as it can. Ask again in a minute."
_PRIVATE = "The link leads into a private network, from which nothing is fetched."
_NOWHERE = "The link leads nowhere."
_UNREACHED = "The server behind the link could not be reached."
MOST_REDIRECTS = 3
_MOVED = (301, 302, 303, 307, 308)
_EXPIRED = (401, 403, 404, 410)
# Room that a file is given for what it says of its size; one that says so and sends little holds it.
_MOST_AHEAD = 20 * 1024 * 1024
_STEP = 1024 * 1024  # bytes, by which it takes more after that
# Of a body in pieces of its server's (chunked) so many may be smaller than that on the average: each
# costs 2 us, and eight links to files in pieces of a byte kept everybody waiting for 1.5 s.
_MOST_PIECES = 5000
_LEAST_PIECE = 64  # bytes
_Network: TypeAlias = IPv4Network | IPv6Network
# Gets the bytes behind an address; they are counted until the end of the block.
Fetch: TypeAlias = Callable[[str], AbstractAsyncContextManager[bytes]]
ROOM = FetchRoom(MOST_IN_MEMORY, seconds=ROOM_SECONDS)


class FetchFailed(CopilotError):
    """A file could not be fetched; the text says why.

    Attributes:
        detail: Why, for builders and operators; mostly the same text.
    """

    def __init__(self, public: str, *, detail: str = "") -> None:
        super().__init__(public)
        self.detail = detail or public


class PrivateAddress(OSError):
    """An address belongs to a network that is not fetched from."""


class Egress:
    """Fetches files for one server."""

    def __init__(
        self,
        allowed: Sequence[str] = (),
        *,
        seconds: float | None = None,
        most_bytes: int | None = None,
        room: FetchRoom = ROOM,
        keeps_https: bool = False,
    ) -> None:
        """Prepares fetching.

        Args:
            allowed: Hosts, addresses or networks from which files may be fetched although they
                are private; link-local and metadata addresses never are.
            seconds: For one file; None: `SECONDS`.
            most_bytes: Of one file; None: `MOST_BYTES`.
            room: What all files share that are in memory at the same time.
            keeps_https: Whether a redirect from https to http is refused: anybody between could
                change what comes.
        """
        self._keeps_https = keeps_https
        self._room = room
        self._seconds = SECONDS if seconds is None else seconds
        self._most_bytes = MOST_BYTES if most_bytes is None else most_bytes
        self._hosts = frozenset(one.lower() for one in allowed)
        self._networks = tuple(_networks(allowed))

    @asynccontextmanager
    async def fetch(self, url: str) -> AsyncGenerator[bytes, None]:
        """The bytes behind an address, for as long as the block lasts.

        Raises:
            FetchFailed: They cannot be had.
        """
        with self._room.held() as held:
            yield await self._fetched(url, held)

    async def _fetched(self, url: str, held: Held) -> bytes:
        try:
            async with asyncio.timeout(self._seconds):
                for _ in range(MOST_REDIRECTS + 1):
                    found = await self._hop(url, held)
                    if isinstance(found, bytes):
                        return found
                    url = self._redirected(url, led_to(url, found))
        except TimeoutError:
            raise FetchFailed(f"It did not arrive within {self._seconds:.0f} seconds.") from None
        except NoRoom:
            raise FetchFailed(BUSY) from None
        except (ClientError, OSError, ValueError) as error:
            raise _failed(error, url) from error
        raise FetchFailed(_NOWHERE)

    def _redirected(self, url: str, to: str) -> str:
        if self._keeps_https and parts_of(url).scheme == "https" != parts_of(to).scheme:
            raise FetchFailed("The link leads away from https.")
        return to

    async def _hop(self, url: str, held: Held) -> bytes | str:
        if len(url) > LONGEST_ADDRESS:
            raise FetchFailed(f"The link has more than {LONGEST_ADDRESS:,} characters.")
        host = _host_of(url)
        if host is None:
            raise FetchFailed("The link is no http or https address.")
        connector = BoundedConnector(OF_LINKS, socket_factory=self.sockets(host))
        jar = DummyCookieJar()
        async with ClientSession(
            connector=connector, cookie_jar=jar, trust_env=False, auto_decompress=False
        ) as session:
            limits = ClientTimeout(total=self._seconds)
            async with session.get(url, allow_redirects=False, timeout=limits) as response:
                if response.status in _MOVED and "Location" in response.headers:
                    return response.headers["Location"]
                _check_status(response.status)
                return await self._body(response, held)

    async def _body(self, response: ClientResponse, held: Held) -> bytes:
        declared = response.content_length or 0  # of what is packed, it is less than comes out
        self._check_size(declared)
        await held.grow(min(declared, _MOST_AHEAD))
        body = BytesIO()  # hands its bytes out without another copy
        async with aclosing(_parts(response)) as parts:
            async for part in parts:
                size = body.tell() + len(part)
                self._check_size(size)
                if size > held.size:
                    await held.grow(min(size + _STEP, self._most_bytes))
                body.write(part)
        held.shrink(body.tell())
        return body.getvalue()

    def _check_size(self, size: int) -> None:
        if size > self._most_bytes:
            raise FetchFailed(f"It is larger than {self._most_bytes // 2**20} MB.")

    def refuses(self, url: str) -> bool:
        """Whether the host of an address may not be reached, as far as is known before it is asked.

        Where a name leads is looked at when it is connected to.
        """
        host = _host_of(url) or ""
        text = "127.0.0.1" if _is_this_machine(host) else host
        is_literal = address_of(text) is not None
        return is_literal and not self._may_reach(text, trusted=host.lower() in self._hosts)

    def sockets(self, host: str) -> Callable[[AddrInfoType], socket.socket]:
        """Makes the sockets of a request, looking at the very addresses that are connected to."""
        trusted = host.lower() in self._hosts

        def permitted(address: AddrInfoType) -> socket.socket:
            family, kind, protocol, _, where = address
            # Before anything else: where none can be made, strangers are told so of every name alike.
            made = socket.socket(family=family, type=kind, proto=protocol)
            text = str(where[0]).partition("%")[0]
            if not self._may_reach(text, trusted=trusted):
                made.close()
                raise PrivateAddress(text)
            return made

        return permitted

    def _may_reach(self, text: str, *, trusted: bool) -> bool:
        if is_forbidden(text):
            return False
        address = address_of(text)
        allowed = address is not None and any(address in one for one in self._networks)
        return is_public(text) or trusted or allowed


async def _parts(response: ClientResponse) -> AsyncGenerator[bytes, None]:
    encoding = response.headers.get("Content-Encoding", "")
    if is_strange(encoding):
        raise FetchFailed("It is packed in a way that nobody asked for.")
    layers = layers_of(encoding)
    number = size = 0
    async with aclosing(chunks_of(response)) as chunks:
        async for chunk in chunks:
            number, size = number + 1, size + len(chunk)
            if number > _MOST_PIECES and size < number * _LEAST_PIECE:
                raise FetchFailed("It comes in thousands of pieces of a few bytes each.")
            try:
                for part in unpacked(chunk, layers):
                    yield part
                    if layers:
                        await asyncio.sleep(0)
            except zlib.error as error:
                raise FetchFailed("It is not packed as its server says.") from error


def _check_status(status: int) -> None:
    if status in _EXPIRED:
        raise FetchFailed(f"The link has expired or is not open: the server answered {status}.")
    if status >= 300:
        raise FetchFailed(f"The server answered {status}.")


def _host_of(url: str) -> str | None:
    try:
        parts = parts_of(url)
    except ValueError:
        return None
    return parts.hostname if parts.scheme in ("http", "https") else None


def _is_this_machine(host: str) -> bool:
    return ("." + host.lower().rstrip(".")).endswith(".localhost")


def _networks(allowed: Sequence[str]) -> list[_Network]:
    found: list[_Network] = []
    for text in allowed:
        with suppress(ValueError):  # it is the name of a host
            found.append(ip_network(text, strict=False))
    return found


def is_private(error: BaseException) -> bool:
    return any(isinstance(one, PrivateAddress) for one in iter_causes(error))


def _failed(error: BaseException, url: str) -> FetchFailed:
    """What is said of a connection that failed.

    Whether a name leads into a private network tells a stranger which names the network has; of an
    address in numbers he knows it. Of a certificate he only learns where he may reach the server.
    """
    if fault := tls_fault(error):
        said = fault.said("the server behind the link")
        return FetchFailed(said, detail=f"{said} {fault.advice()}")
    if isinstance(error, ValueError):
        return FetchFailed(_NOWHERE)
    if not is_private(error):
        return FetchFailed(_UNREACHED)
    host = _host_of(url) or ""
    if address_of(host) is not None or _is_this_machine(host):
        return FetchFailed(_PRIVATE)
    return FetchFailed(_UNREACHED, detail=_PRIVATE)
