"""Refuses requests whose headers are too large, before anything looks at one of them."""

from copilot_admin.edge.asgi_types import App, Receive, Scope, Send
from copilot_admin.edge.lingering import Incoming, refuse
from copilot_admin.errors import HeadersTooLarge

MOST_HEADER_BYTES = 64 * 1024  # names, values and the address; nginx and browsers stay far below
MOST_HEADERS = 1000  # each takes some 200 bytes of memory, however short; browsers send twenty
_SEPARATORS = 4  # of each header: a colon, a space, the end of the line


class HeaderLimits:
    """ASGI middleware; a WebSocket is closed before it opens, which clients see as a 403."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "lifespan" or _is_within(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1009})
        else:
            error = HeadersTooLarge(
                "The headers of the request are larger than the 64 KB this server accepts, or more "
                "than a thousand. Send fewer headers or cookies, and a shorter address."
            )
            await refuse(scope, Incoming(receive), send, error)


def _is_within(scope: Scope) -> bool:
    return len(scope["headers"]) <= MOST_HEADERS and size_of_head(scope) <= MOST_HEADER_BYTES


def size_of_head(scope: Scope) -> int:
    """The bytes of the address and of all headers."""
    address = len(scope.get("raw_path") or scope["path"]) + len(scope.get("query_string", b""))
    rows = scope["headers"]
    return address + sum(len(name) + len(value) + _SEPARATORS for name, value in rows)
