"""Leaves cookies out that take long to read and are nobody's: values with very many backslashes.

Before Python 3.11.10 the library takes a backslash out of a value by looking through all the rest of
it: a cookie of 60 KB, which anybody may send, took 6 seconds with the interpreter's lock.
"""

from copilot_admin.http.asgi_types import App, Receive, Scope, Send, is_api

MOST_BYTES = 4096  # of one with backslashes: browsers keep none that is longer; 30 ms
MOST_IN_ALL = 2 * MOST_BYTES


class BoundedCookies:
    """ASGI middleware for pages and WebSockets; the API reads no cookies."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] in ("http", "websocket") and not is_api(scope["path"]):
            scope = _bounded(scope)
        await self.app(scope, receive, send)


def _bounded(scope: Scope) -> Scope:
    rows = scope["headers"]
    size = sum(len(value) for name, value in rows if name == b"cookie" and b"\\" in value)
    if size <= MOST_BYTES:
        return scope
    left, headers = MOST_IN_ALL, []
    for name, value in rows:
        if name == b"cookie":
            value, left = _readable(value, left)
        headers.append((name, value))
    return {**scope, "headers": headers}


def _readable(value: bytes, left: int) -> tuple[bytes, int]:
    """The cookies of a header that are read, and how many bytes with backslashes may follow."""
    kept = []
    for cookie in value.split(b";"):
        if b"\\" in cookie:
            if len(cookie) > min(MOST_BYTES, left):
                continue
            left -= len(cookie)
        kept.append(cookie)
    return b";".join(kept), left
