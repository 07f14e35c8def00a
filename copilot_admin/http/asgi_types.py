"""The ASGI callables, as types, what is asked of a request, and the answers that the edge gives itself."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
import json
from typing import Any, TypeAlias

from copilot_admin.errors import RequestError, RetryableError

# ASGI messages are open dictionaries by specification; `Any` is what they hold.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

REQUEST_ID_KEY = "copilot_admin.request_id"  # in the scope, of requests of the component API
HANG_UP_KEY = "copilot_admin.hang_up"  # in the scope: what ends the connection of a slow client
API_PATHS = ("/v1/", "/v2/")
COMPONENT_PATH = "/v2/"
DISCOVERY_PATHS = ("/copilots.json", "/agents.json")


def is_api(path: str) -> bool:
    """Whether a path belongs to the HTTP API, which other origins may call without cookies."""
    return path.startswith(API_PATHS) or path in DISCOVERY_PATHS


def is_query(path: str) -> bool:
    """Whether a path is that of a copilot's query endpoint, which streams."""
    return path.startswith("/v1/copilots/") and path.endswith("/query")


def is_component_api(path: str) -> bool:
    """Whether a path belongs to the component API, whose errors have a shape of their own."""
    return path.startswith(COMPONENT_PATH)


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first value of a request header, given in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def whole_header(scope: Scope, name: str) -> str | None:
    """A request header as Django reads it: what came several times is one."""
    wanted = name.lower().encode()
    values = [value for key, value in scope["headers"] if key == wanted]
    return b",".join(values).decode("latin-1") if values else None


def once_more(message: Message, receive: Receive) -> Receive:
    """A `receive` that gives a message that was taken out, then whatever the server says."""
    waiting = [message]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received


def error_body(error: RequestError, *, request_id: str | None) -> dict[str, str]:
    """What an error looks like: `{"detail": what to do, "code": slug}`.

    Args:
        error: To be said.
        request_id: Of a request of the component API, whose clients read `message` instead.
    """
    if request_id is None:
        return {"detail": error.public, "code": error.code}
    return {"request_id": request_id, "code": error.code, "message": error.public}


def when_again(error: RequestError) -> dict[str, str]:
    """The headers that say when a request that was refused for now may be sent again."""
    return {"Retry-After": str(error.retry_after)} if isinstance(error, RetryableError) else {}


def rows_of(headers: Mapping[str, str]) -> Headers:
    """Headers as ASGI has them."""
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


async def send_error(
    scope: Scope, send: Send, error: RequestError, *, headers: Headers | None = None
) -> None:
    """Answers a request with an error."""
    body = json.dumps(error_body(error, request_id=scope.get(REQUEST_ID_KEY))).encode()
    kind = (b"content-type", b"application/json")
    rows = [kind, *(headers or []), *rows_of(when_again(error))]
    await send_answer(send, body, status=error.status, headers=rows)


async def send_answer(send: Send, body: bytes, *, status: int, headers: Headers) -> None:
    """Sends a whole answer, which nobody may keep."""
    length = (b"content-length", str(len(body)).encode())
    rows = [*headers, length, (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": rows})
    await send({"type": "http.response.body", "body": body})
