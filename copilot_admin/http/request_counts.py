"""Counts requests, and how long it took until their answers began."""

from time import monotonic
from typing import Protocol

from copilot_admin.http.asgi_types import App, Message, Receive, Scope, Send
from copilot_admin.http.route_names import method_name, route_name

NO_ANSWER = "none"


class Counter(Protocol):
    """Whatever counts requests."""

    def count_request(self, method: str, path: str, status: str) -> None:
        """Counts a request that is over."""
        ...

    def time_begin(self, path: str, seconds: float) -> None:
        """Counts how long it took until an answer began."""
        ...


class RequestCounts:
    """ASGI middleware around all others, which counts every answer that leaves them."""

    def __init__(self, app: App, counter: Counter) -> None:
        self.app = app
        self.counter = counter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, name, status = monotonic(), route_name(scope["path"]), NO_ANSWER

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
                self.counter.time_begin(name, monotonic() - began)
            await send(message)

        try:
            await self.app(scope, receive, send_noted)
        finally:
            self.counter.count_request(method_name(scope["method"]), name, status)
