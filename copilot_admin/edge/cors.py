"""Lets the known Workspace origins call the API from a browser, and nobody else.

Outside Django, so that the answers of the edge itself (413, 408) carry the headers too: without
them a browser shows its user "CORS" instead of the reason. Never credentials: the API has no
cookies. Source: https://fetch.spec.whatwg.org/#http-cors-protocol
"""

from collections.abc import Collection, Iterable

from copilot_admin.edge.allowed_origins import AllowedOrigins
from copilot_admin.edge.asgi_types import (
    App,
    Headers,
    Message,
    Receive,
    Scope,
    Send,
    header,
    is_api,
)

EXPOSED = b"X-Trace-Id, X-Completion-Id, Retry-After"
ALLOWED_HEADERS = ("content-type", "x-trace-id", "authorization", "x-api-key")
PREFLIGHT_SECONDS = b"600"  # Chrome caps at two hours; ten minutes follow a changed setting soon


class Cors:
    """ASGI middleware that answers preflights and marks answers for allowed origins."""

    def __init__(
        self, app: App, *, origins: AllowedOrigins, extra_headers: Collection[str] = ()
    ) -> None:
        """Allows exactly the origins that are allowed at the moment of a request.

        Args:
            app: What answers everything but preflights.
            origins: Those that are.
            extra_headers: Names of request headers allowed besides the usual ones.
        """
        self.app = app
        self.origins = origins
        self.allowed_headers = ", ".join((*ALLOWED_HEADERS, *extra_headers)).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or not is_api(scope["path"]):
            await self.app(scope, receive, send)
            return
        allowed = self._allowed(scope)
        if scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method"):
            await self._preflight(send, allowed, private=_asks_for_private_network(scope))
            return

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _merged(message.get("headers", ()), self._marks(allowed))
            await send(message)

        await self.app(scope, receive, send_marked)

    def _allowed(self, scope: Scope) -> bytes | None:
        origin = header(scope, b"origin")
        return origin if origin in self.origins else None

    def _marks(self, allowed: bytes | None) -> Headers:
        if allowed is None:
            return [(b"vary", b"Origin")]
        return [
            (b"vary", b"Origin"),
            (b"access-control-allow-origin", allowed),
            (b"access-control-expose-headers", EXPOSED),
        ]

    async def _preflight(self, send: Send, allowed: bytes | None, *, private: bool) -> None:
        headers = self._marks(allowed)
        if allowed is not None:
            headers += [
                (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
                (b"access-control-allow-headers", self.allowed_headers),
                (b"access-control-max-age", PREFLIGHT_SECONDS),
            ]
            if private:
                headers.append((b"access-control-allow-private-network", b"true"))
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _asks_for_private_network(scope: Scope) -> bool:
    return header(scope, b"access-control-request-private-network") == b"true"


def _merged(given: Iterable[tuple[bytes, bytes]], marks: Headers) -> Headers:
    """The answer's headers with ours; several `Vary` become one."""
    headers = [*given, *marks]
    vary = b", ".join(value for key, value in headers if key.lower() == b"vary")
    return [*((key, value) for key, value in headers if key.lower() != b"vary"), (b"vary", vary)]
