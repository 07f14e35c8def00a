"""Django's handler, which takes bodies as they are and lets go of them early.

The edge has read each body whole: the stock handler writes it into a file, by the megabyte in the
event loop, and reads it back. And a task that it cancels keeps it alive, with request and response,
until the garbage collector comes by.
"""

from io import BytesIO
from typing import IO, Any

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest

from copilot_admin.edge.asgi_types import Message, Receive


class Handler(ASGIHandler):
    """The handler of this server."""

    async def read_body(self, receive: Receive) -> IO[Any]:  # type: ignore[override]  # any file will do
        """The body as a file, without a copy where it came in one message.

        Raises:
            RequestAborted: The client has left.
        """
        first = await receive()
        if first["type"] == "http.disconnect":
            raise RequestAborted
        if first.get("more_body", False):  # somebody put Django behind another edge
            return await super().read_body(_behind(first, receive))
        return BytesIO(first.get("body", b""))


def forget_body(request: HttpRequest) -> None:
    """Lets go of a body that was read: the request outlives its answer."""
    request._body = b""  # there is no public way
    request._stream = BytesIO()  # it holds the body as well


def _behind(first: Message, receive: Receive) -> Receive:
    waiting = [first]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received
