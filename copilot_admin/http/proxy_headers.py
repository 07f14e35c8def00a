"""Headers that only named proxies may set: taken out of every request, and kept for who knows the proxies.

Who a proxy is says the connection itself, never `X-Forwarded-For`, which anybody may write. Inside,
nobody can read such a header of a stranger, as it is not there any more. Several readers may want
the same header, each of proxies of its own.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from copilot_admin.config.networks import Network, is_in
from copilot_admin.http.asgi_types import App, Headers, Receive, Scope, Send

PEER_KEY = "copilot_admin.peer"  # in the scope: the address at the other end of the connection
APART_KEY = "copilot_admin.proxy_headers"  # in the scope: headers that were taken out, of anybody


def trust_forwarded_headers(app: App, proxies: str) -> App:
    """Read `X-Forwarded-For` and `-Proto` of trusted proxies; the scope keeps the peer's address."""
    forwarded = cast(App, ProxyHeadersMiddleware(cast(Any, app), trusted_hosts=proxies))

    async def remember_peer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("client"):
            scope[PEER_KEY] = scope["client"][0]
        await forwarded(scope, receive, send)

    return remember_peer


def names_of(headers: Collection[str]) -> frozenset[bytes]:
    """Names of headers, as they are looked for."""
    return frozenset(_dashed(name.encode()) for name in headers)


def set_apart(scope: Scope, names: Collection[bytes]) -> tuple[Scope, Headers]:
    """The request without the headers of some names, and those headers.

    Args:
        scope: Of a request; somebody may have set headers of it apart before.
        names: As `names_of` makes them.
    """
    rows: Headers = scope["headers"]
    before: Headers = scope.get(APART_KEY, [])
    found = [row for row in rows if _dashed(row[0]) in names]
    if found:
        others = [row for row in rows if _dashed(row[0]) not in names]
        before = [*before, *found]
        scope = {**scope, "headers": others, APART_KEY: before}
    return scope, [row for row in before if _dashed(row[0]) in names]


def values_of(header: str, rows: Headers) -> tuple[bytes, ...]:
    """The values of a header; one whose name is only like it is a client's, not a proxy's."""
    return tuple(value for name, value in rows if header and bytes(name).lower() == header.encode())


def is_from(scope: Scope, proxies: Sequence[Network]) -> bool:
    """Whether a named proxy is connected; nobody is, where the server does not say who is."""
    return is_in(str(scope.get(PEER_KEY, "")), proxies)


class ProxyHeaders:
    """ASGI middleware that reads what named proxies say; where no header is set up, nothing is done.

    Args:
        app: Gets the requests without the headers.
        headers: Which ones.
        proxies: Whose are read.
        key: In the scope, under which stands what they say.
        read: What some headers say; None: nothing.
    """

    def __init__(
        self,
        app: App,
        *,
        headers: Collection[str],
        proxies: Sequence[Network],
        key: str,
        read: Callable[[Headers], object | None],
    ) -> None:
        self.app = app
        self._names = names_of(headers)
        self.proxies = proxies
        self._key = key
        self._read = read

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if self._names and scope["type"] in ("http", "websocket"):
            scope = self.apart(scope)
        await self.app(scope, receive, send)

    def apart(self, scope: Scope) -> Scope:
        """The request without the headers, and with what they say if a named proxy set them."""
        scope, rows = set_apart(scope, self._names)
        if not rows or not is_from(scope, self.proxies):
            return scope
        said = self._read(rows)
        return scope if said is None else {**scope, self._key: said}


def _dashed(name: bytes) -> bytes:
    """A header's name as Django reads it, which takes `X_User` for `X-User`."""
    return bytes(name).lower().replace(b"_", b"-")
