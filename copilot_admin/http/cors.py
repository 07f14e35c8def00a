"""Lets the known Workspace origins call the API from a browser, and nobody else.

Outside Django, so that the answers of the edge itself (413, 408) carry the headers too: without
them a browser shows its user "CORS" instead of the reason. Preflights are answered further inside:
the limits of headers hold for them as for every request. Never credentials: the API has no
cookies. Source: https://fetch.spec.whatwg.org/#http-cors-protocol
"""

from collections.abc import Collection, Iterable

from copilot_admin.http.allowed_origins import AllowedOrigins
from copilot_admin.http.asgi_types import (
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
    """ASGI middleware that marks answers for allowed origins, refusals of the edge among them.

    Args:
        app: What answers.
        origins: Those that are allowed at the moment of a request, exactly.
    """

    def __init__(self, app: App, *, origins: AllowedOrigins) -> None:
        self.app = app
        self.origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or not is_api(scope["path"]):
            await self.app(scope, receive, send)
            return
        marks = _marks(_allowed(scope, self.origins))

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _merged(message.get("headers", ()), marks)
            await send(message)

        await self.app(scope, receive, send_marked)


class Preflights:
    """ASGI middleware that answers preflights; inside the limits of headers, which hold for them too.

    Args:
        app: What answers everything else.
        origins: As `Cors` has them, which marks these answers.
        extra_headers: Names of request headers allowed besides the usual ones.
    """

    def __init__(
        self, app: App, *, origins: AllowedOrigins, extra_headers: Collection[str] = ()
    ) -> None:
        self.app = app
        self.origins = origins
        self.allowed_headers = ", ".join((*ALLOWED_HEADERS, *extra_headers)).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if not _is_preflight(scope):
            await self.app(scope, receive, send)
            return
        is_allowed = _allowed(scope, self.origins) is not None
        headers = self._permissions(scope) if is_allowed else []
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _permissions(self, scope: Scope) -> Headers:
        headers = [
            (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
            (b"access-control-allow-headers", self.allowed_headers),
            (b"access-control-max-age", PREFLIGHT_SECONDS),
        ]
        if header(scope, b"access-control-request-private-network") == b"true":
            headers.append((b"access-control-allow-private-network", b"true"))
        return headers


def _is_preflight(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "OPTIONS" or not is_api(scope["path"]):
        return False
    return bool(header(scope, b"access-control-request-method"))


def _allowed(scope: Scope, origins: AllowedOrigins) -> bytes | None:
    """The origin of a request, if it is one that may."""
    origin = header(scope, b"origin")
    return origin if origin in origins else None


def _marks(allowed: bytes | None) -> Headers:
    if allowed is None:
        return [(b"vary", b"Origin")]
    return [
        (b"vary", b"Origin"),
        (b"access-control-allow-origin", allowed),
        (b"access-control-expose-headers", EXPOSED),
    ]


def _merged(given: Iterable[tuple[bytes, bytes]], marks: Headers) -> Headers:
    """The answer's headers with ours; several `Vary` become one."""
    headers = [*given, *marks]
    vary = b", ".join(value for key, value in headers if key.lower() == b"vary")
    return [*((key, value) for key, value in headers if key.lower() != b"vary"), (b"vary", vary)]
