"""The one way out for files: fetches an address that a request named, and nothing that is private.

Whoever sends a question chooses the address, so every address that is connected to is looked at,
also after a redirect and whatever a name server says: no private, local or metadata network unless
the operator has allowed it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from ipaddress import IPv4Network, IPv6Network, ip_network
import socket
from typing import TypeAlias
from urllib.parse import urljoin, urlsplit

from aiohttp import (
    AddrInfoType,
    ClientError,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)

from copilot_admin.engine.fetching.addresses import address_of, is_forbidden, is_public
from copilot_admin.engine.fetching.sizes import MOST_BYTES
from copilot_admin.errors import CopilotError

SECONDS = 30.0
MOST_REDIRECTS = 3
_MOVED = (301, 302, 303, 307, 308)
_EXPIRED = (401, 403, 404, 410)
_Network: TypeAlias = IPv4Network | IPv6Network


class FetchFailed(CopilotError):
    """A file could not be fetched; the text says why."""


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
    ) -> None:
        """Prepares fetching.

        Args:
            allowed: Hosts, addresses or networks from which files may be fetched although they
                are private; link-local and metadata addresses never are.
            seconds: For one file; None: `SECONDS`.
            most_bytes: Of one file; None: `MOST_BYTES`.
        """
        self._seconds = SECONDS if seconds is None else seconds
        self._most_bytes = MOST_BYTES if most_bytes is None else most_bytes
        self._hosts = frozenset(one.lower() for one in allowed)
        self._networks = tuple(_networks(allowed))

    async def fetch(self, url: str) -> bytes:
        """The bytes behind an address.

        Raises:
            FetchFailed: They cannot be had.
        """
        try:
            async with asyncio.timeout(self._seconds):
                for _ in range(MOST_REDIRECTS + 1):
                    found = await self._hop(url)
                    if isinstance(found, bytes):
                        return found
                    url = urljoin(url, found)
        except TimeoutError:
            raise FetchFailed(f"It did not arrive within {self._seconds:.0f} seconds.") from None
        except ValueError as error:
            raise FetchFailed("The link leads nowhere.") from error
        except (ClientError, OSError) as error:
            raise FetchFailed(_why(error)) from error
        raise FetchFailed("The link leads nowhere.")

    async def _hop(self, url: str) -> bytes | str:
        """The bytes, or where they are to be had: each hop is trusted, or not, by its own host."""
        host = _host_of(url)
        if host is None:
            raise FetchFailed("The link is no http or https address.")
        connector = TCPConnector(socket_factory=self._sockets(host))
        jar = DummyCookieJar()
        async with ClientSession(connector=connector, cookie_jar=jar, trust_env=False) as session:
            return await self._body(session, url)

    async def _body(self, session: ClientSession, url: str) -> bytes | str:
        limits = ClientTimeout(total=self._seconds)
        async with session.get(url, allow_redirects=False, timeout=limits) as response:
            if response.status in _MOVED and "Location" in response.headers:
                return response.headers["Location"]
            if response.status in _EXPIRED:
                raise FetchFailed(
                    f"The link has expired or is not open: the server answered {response.status}."
                )
            if response.status >= 300:
                raise FetchFailed(f"The server answered {response.status}.")
            body = BytesIO()  # hands its bytes out without another copy
            async for part in response.content.iter_chunked(64 * 1024):
                body.write(part)
                if body.tell() > self._most_bytes:
                    raise FetchFailed(f"It is larger than {self._most_bytes // 2**20} MB.")
            return body.getvalue()

    def _sockets(self, host: str) -> Callable[[AddrInfoType], socket.socket]:
        """Makes the sockets of a request, looking at the very addresses that are connected to."""
        trusted = host.lower() in self._hosts

        def permitted(address: AddrInfoType) -> socket.socket:
            family, kind, protocol, _, where = address
            text = str(where[0]).partition("%")[0]
            if not self._may_reach(text, trusted=trusted):
                raise PrivateAddress(text)
            return socket.socket(family=family, type=kind, proto=protocol)

        return permitted

    def _may_reach(self, text: str, *, trusted: bool) -> bool:
        if is_forbidden(text):
            return False
        address = address_of(text)
        allowed = address is not None and any(address in one for one in self._networks)
        return is_public(text) or trusted or allowed


def _host_of(url: str) -> str | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return parts.hostname if parts.scheme in ("http", "https") else None


def _networks(allowed: Sequence[str]) -> list[_Network]:
    found: list[_Network] = []
    for text in allowed:
        with suppress(ValueError):  # it is the name of a host
            found.append(ip_network(text, strict=False))
    return found


def _why(error: BaseException) -> str:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, PrivateAddress):
            return "The link leads into a private network, from which nothing is fetched."
        seen = seen.__cause__ or seen.__context__
    return "The server behind the link could not be reached."
