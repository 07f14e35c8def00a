"""Refuses requests whose headers are too large, before anything looks at one of them."""

from django.utils.translation import gettext_noop

from copilot_admin.errors import HeadersTooLarge
from copilot_admin.http.asgi_types import App, Receive, Scope, Send
from copilot_admin.http.lingering import Incoming, refuse

MOST_HEADER_BYTES = 64 * 1024  # names, values and the address; nginx and browsers stay far below
MOST_HEADERS = 1000  # each takes some 200 bytes of memory, however short; browsers send twenty
# Of all of them, as they are read as one. What is in them is taken apart by Python's parser for mails:
# 60 KB of semicolons took 0.1 s, twice for a form. A name with a boundary has a hundred bytes.
MOST_TYPE_BYTES = 1024
_SEPARATORS = 4  # of each header: a colon, a space, the end of the line
_LARGE = gettext_noop(
    "The headers of the request are larger than the 64 KB this server accepts, or more than a thousand. "
    "Send fewer headers or cookies, and a shorter address."
)
_LONG_TYPE = gettext_noop(
    "The Content-Type of the request has more than 1,024 bytes. Send a shorter one."
)


class HeaderLimits:
    """ASGI middleware; a WebSocket is closed before it opens, which clients see as a 403."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        too_much = "" if scope["type"] == "lifespan" else _too_much(scope)
        if not too_much:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1009})
        else:
            await refuse(scope, Incoming(receive), send, HeadersTooLarge(too_much))


def _too_much(scope: Scope) -> str:
    """What of the head is too much, in words; empty where nothing is."""
    rows, size = scope["headers"], size_of_head(scope)
    if len(rows) > MOST_HEADERS or size > MOST_HEADER_BYTES:
        return _LARGE
    if size > MOST_TYPE_BYTES:
        types = sum(len(value) for name, value in rows if name == b"content-type")
        if types > MOST_TYPE_BYTES:
            return _LONG_TYPE
    return ""


def size_of_head(scope: Scope) -> int:
    """The bytes of the address and of all headers."""
    address = len(scope.get("raw_path") or scope["path"]) + len(scope.get("query_string", b""))
    rows = scope["headers"]
    return address + sum(len(name) + len(value) + _SEPARATORS for name, value in rows)
