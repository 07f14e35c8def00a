"""The ASGI middleware of every request: ids, CORS, security headers, checks and metrics."""

import asyncio
from collections.abc import Callable, Iterable
from time import monotonic
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host
from django.utils.translation import gettext_noop

from copilot_admin.config.observability import MetricsAccess
from copilot_admin.errors import (
    Forbidden,
    HeadersTooLarge,
    MalformedBody,
    MethodNotAllowed,
    RequestError,
    Unauthorized,
)
from copilot_admin.http.auth_throttle import record_failure
from copilot_admin.http.errors import send_error, send_response
from copilot_admin.http.scope import (
    IDS_KEY,
    METHODS,
    REQUEST_ID_KEY,
    App,
    Headers,
    Message,
    Receive,
    Scope,
    Send,
    get_client_address,
    get_header,
    get_joined_header,
    get_route_name,
    is_api,
    is_component_api,
)
from copilot_admin.ids import new_ids, request_id
from copilot_admin.models import AllowedOrigin
from copilot_admin.telemetry.metrics import ServerMetrics

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
CSP_WITH_OWN_FRAMES = f"{CONTENT_SECURITY_POLICY}; frame-src 'self'"  # pages that show HTML in one
SECURITY_HEADERS: Headers = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
MAX_HEADER_BYTES = 64 * 1024  # uvicorn with httptools has no limit
REQUEST_ID_HEADER = b"x-appbuilder-request-id"
_HEADERS_TOO_LARGE = gettext_noop(
    "The request headers are larger than the 64 KB this server accepts. Send fewer headers or "
    "cookies, and a shorter URL."
)
_NUL_IN_URL = gettext_noop("The URL contains a NUL character (%00). Remove it.")
_FORBIDDEN_ORIGIN = (
    "Pages of this origin may not call the API. Ask an administrator to allow it under Connect, "
    "or add it to CORS_ORIGINS."
)
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


# CORS headers are on every error response too: without them a browser reports "CORS" instead of the
# reason. Credentials are never allowed. Source: https://fetch.spec.whatwg.org/#http-cors-protocol
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


class HttpMiddleware:
    """ASGI middleware around everything that answers HTTP requests.

    API requests get their ids in the scope, under `IDS_KEY` and `REQUEST_ID_KEY`. A response
    that sets a security header itself keeps its own.
    """

    def __init__(
        self,
        app: App,
        *,
        origins: AllowedOrigins = ALLOWED_ORIGINS,
        extra_headers: Iterable[str] = (),
        counter: ServerMetrics | None = None,
    ) -> None:
        self.app = app
        self.origins = origins
        self.extra_headers = tuple(extra_headers)
        self.counter = counter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"].startswith("//"):  # Workspace appends to a base URL that ends with a slash
            scope = {**scope, "path": f"/{scope['path'].lstrip('/')}"}
        started, status = monotonic(), "none"
        route, counter = get_route_name(scope["path"]), self.counter
        added = self._add_ids(scope) if is_api(scope["path"]) else []

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
                message["headers"] = _merge_headers(message.get("headers", ()), added)
                if counter is not None:
                    counter.observe("http_response_start_seconds", monotonic() - started, route)
            await send(message)

        try:
            await self._respond(scope, receive, send_with_headers)
        finally:
            if counter is not None:
                method = scope["method"] if scope["method"] in METHODS else "other"
                counter.count("http_requests", method, route, status)

    def _add_ids(self, scope: Scope) -> Headers:
        ids = new_ids(get_header(scope, b"x-trace-id"), get_header(scope, b"traceparent"))
        scope[IDS_KEY] = ids
        headers = [
            (b"x-trace-id", ids.trace_id.encode()),
            (b"x-completion-id", str(ids.run_id).encode()),
            *build_cors_headers(get_header(scope, b"origin"), self.origins),
        ]
        if is_component_api(scope["path"]):
            scope[REQUEST_ID_KEY] = request_id(get_header(scope, REQUEST_ID_HEADER))
            headers.append((REQUEST_ID_HEADER, scope[REQUEST_ID_KEY].encode()))
        return headers

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = self._check(scope)
        is_preflight = scope["method"] == "OPTIONS" and is_api(scope["path"])
        if error is not None:
            await send_error(scope, send, error)
        elif is_preflight and get_header(scope, b"access-control-request-method"):
            is_allowed = get_header(scope, b"origin") in self.origins
            headers = build_preflight_headers(scope, self.extra_headers) if is_allowed else []
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self.app(scope, receive, send)

    def _check(self, scope: Scope) -> RequestError | None:
        query: bytes = scope.get("query_string", b"")
        size = len(scope["path"]) + len(query)
        size += sum(len(name) + len(value) for name, value in scope["headers"])
        if size > MAX_HEADER_BYTES:
            return HeadersTooLarge(_HEADERS_TOO_LARGE)
        if "\0" in scope["path"] or b"%00" in query:  # PostgreSQL has no such text
            return MalformedBody(_NUL_IN_URL, code="malformed-request")
        # A form of another site sends `text/plain` without a preflight, so CORS alone won't do.
        if scope["method"] == "POST" and is_api(scope["path"]):
            origin = get_header(scope, b"origin")
            if origin is not None and origin not in self.origins and not is_own_origin(scope):
                return Forbidden(_FORBIDDEN_ORIGIN, code="forbidden-origin")
        return None


def _merge_headers(given: Iterable[tuple[bytes, bytes]], added: Headers) -> Headers:
    headers = [*given, *added]
    names = {name.lower() for name, _ in headers}
    headers += [row for row in SECURITY_HEADERS if row[0] not in names]
    vary = [value for name, value in headers if name.lower() == b"vary"]
    if len(vary) > 1:
        headers = [row for row in headers if row[0].lower() != b"vary"]
        headers.append((b"vary", b", ".join(vary)))
    return headers


def serve_metrics(
    app: App, *, metrics: ServerMetrics, readers: MetricsAccess, refresh: Callable[[], None]
) -> App:
    """Return an application that also serves `/metrics` to its readers; `refresh` updates gauges."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/metrics":
            await app(scope, receive, send)
            return
        try:
            _check_reader(scope, readers)
        except RequestError as error:
            await send_error(scope, send, error)
            return
        await asyncio.to_thread(refresh)
        accept = get_joined_header(scope, "accept") or ""
        text, content_type = await asyncio.to_thread(metrics.format_text, accept)
        headers = {"Cache-Control": "no-store"}
        await send_response(send, HttpResponse(text, content_type, headers=headers))

    return serve


def _check_reader(scope: Scope, readers: MetricsAccess) -> None:
    address = get_client_address(scope)
    if not readers.allows_address(address):
        raise Forbidden("Metrics are not available from this address.")
    authorization = get_joined_header(scope, "authorization") or ""
    if not readers.allows_token(authorization):
        if authorization:
            record_failure(address)
        raise Unauthorized("Send the metrics token as 'Authorization: Bearer TOKEN'.")
    if scope["method"] not in ("GET", "HEAD"):
        raise MethodNotAllowed("Metrics are read-only. Send GET.", allowed="GET, HEAD")
