"""Origins that may call the API from a browser, and the CORS headers that say so.

Outside Django, so that every error response carries the headers too: without them a browser
reports "CORS" instead of the reason. Credentials are never allowed: the API has no cookies.
Source: https://fetch.spec.whatwg.org/#http-cors-protocol
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

from copilot_admin.http.scope import (
    App,
    Headers,
    Receive,
    Scope,
    Send,
    get_header,
    get_joined_header,
)
from copilot_admin.models import AllowedOrigin

MAX_ORIGINS = 50  # that operators add; a deployment has a few Workspaces
_EXPOSED_HEADERS = b"X-Trace-Id, X-Completion-Id, Retry-After"
_ALLOWED_HEADERS = ("content-type", "x-trace-id", "authorization", "x-api-key")
_PREFLIGHT_SECONDS = b"600"  # Chrome caps at two hours; ten minutes follow a changed setting soon


class AllowedOrigins:
    """Origins of the deployment and those that operators added, exactly as browsers write them.

    Every request looks here, so the rows of the database are kept in memory, and a periodic
    task refreshes them. If the deployment pins its origins, operators can't add any.
    """

    def __init__(self, given: Iterable[str], *, is_pinned: bool = True) -> None:
        self.given = tuple(given)
        self.is_pinned = is_pinned
        self._all = frozenset(origin.encode() for origin in self.given)

    def __contains__(self, origin: bytes | None) -> bool:
        return origin in self._all

    def load_added(self) -> tuple[str, ...]:
        if self.is_pinned:
            return ()
        return tuple(AllowedOrigin.objects.values_list("origin", flat=True))

    def refresh(self) -> None:
        self._all = frozenset(origin.encode() for origin in (*self.given, *self.load_added()))


ALLOWED_ORIGINS = AllowedOrigins(settings.CORS_ORIGINS, is_pinned=settings.CORS_PINNED)


def build_cors_headers(origin: bytes | None, origins: AllowedOrigins) -> Headers:
    headers = [(b"vary", b"Origin")]
    if origin is not None and origin in origins:
        headers.append((b"access-control-allow-origin", origin))
        headers.append((b"access-control-expose-headers", _EXPOSED_HEADERS))
    return headers


def build_preflight_headers(scope: Scope, extra_headers: Iterable[str]) -> Headers:
    headers = [
        (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
        (b"access-control-allow-headers", ", ".join((*_ALLOWED_HEADERS, *extra_headers)).encode()),
        (b"access-control-max-age", _PREFLIGHT_SECONDS),
    ]
    if get_header(scope, b"access-control-request-private-network") == b"true":
        headers.append((b"access-control-allow-private-network", b"true"))
    return headers


def is_own_origin(scope: Scope) -> bool:
    """Return whether a page of this server sends the request: same host and same port.

    A browser sends the cookies of a host to every port of it, so the port counts too. It leaves
    out the default port in both headers.
    """
    origin = get_joined_header(scope, "origin") or ""
    host = (get_joined_header(scope, "host") or "").lower()
    public = urlsplit(settings.PUBLIC_URL)
    if public.netloc and origin == f"{public.scheme}://{public.netloc}".lower():
        return True
    is_known = validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)
    return is_known and origin in (f"http://{host}", f"https://{host}")


def allow_own_origin(app: App) -> App:
    """Return a WebSocket application that closes sockets of other origins before they open."""

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        if is_own_origin(scope):
            await app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    return check


def get_base_url(request: HttpRequest) -> str:
    """Return PUBLIC_URL, or scheme and host of the request, without a slash at the end."""
    public: str = settings.PUBLIC_URL
    return public.rstrip("/") or f"{request.scheme}://{request.get_host()}"
