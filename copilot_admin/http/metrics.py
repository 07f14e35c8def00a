"""The `/metrics` page, outside Django and its sessions."""

import asyncio
from collections.abc import Callable

from copilot_admin.config.observability import MetricsAccess
from copilot_admin.errors import Forbidden, MethodNotAllowed, RequestError, Unauthorized
from copilot_admin.http.auth_throttle import record_failure
from copilot_admin.http.errors import send_error, send_response
from copilot_admin.http.scope import App, Receive, Scope, Send, get_client_address, get_header
from copilot_admin.telemetry.metrics import ServerMetrics


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
            rows = [(b"www-authenticate", b"Bearer")] if isinstance(error, Unauthorized) else []
            await send_error(scope, send, error, headers=rows)
            return
        accept = (get_header(scope, b"accept") or b"").decode("latin-1")
        await asyncio.to_thread(refresh)
        text, content_type = await asyncio.to_thread(metrics.format_text, accept)
        await send_response(send, 200, text, content_type=content_type)

    return serve


def _check_reader(scope: Scope, readers: MetricsAccess) -> None:
    address = get_client_address(scope)
    if not readers.allows_address(address):
        raise Forbidden("Metrics are not available from this address.")
    authorization = (get_header(scope, b"authorization") or b"").decode("latin-1")
    if not readers.allows_token(authorization):
        if authorization:
            record_failure(address)
        raise Unauthorized("Send the metrics token as 'Authorization: Bearer TOKEN'.")
    if scope["method"] not in ("GET", "HEAD"):
        raise MethodNotAllowed("Metrics are read-only. Send GET.", allowed="GET, HEAD")
