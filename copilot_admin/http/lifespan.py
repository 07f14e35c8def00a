"""Starts and stops what lives as long as the server process.

A server that does not speak the protocol is told of at its first request: it serves nothing where it
may not.

Django does not answer the ASGI `lifespan` protocol, so the edge does.
Source: https://asgi.readthedocs.io/en/latest/specs/lifespan.html
"""

from collections.abc import Awaitable, Callable

from copilot_admin.errors import ConfigurationError, CopilotError, Unavailable
from copilot_admin.http.asgi_types import App, Receive, Scope, Send, send_error

Hook = Callable[[], Awaitable[None]]


class Lifespan:
    """ASGI middleware that runs one hook at the start and one at the stop of the server.

    Args:
        app: What is served.
        start: Raises a `CopilotError` where nothing can be served.
        stop: Is called after the last request.
        unstarted: Is called before the first request of a server that has not started it; raises
            `ConfigurationError` where it may not serve.
    """

    def __init__(
        self, app: App, *, start: Hook, stop: Hook, unstarted: Callable[[], None] = lambda: None
    ) -> None:
        self.app = app
        self.start = start
        self.stop = stop
        self.unstarted = unstarted
        self._may_serve = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves the lifespan, hands everything else on."""
        if scope["type"] != "lifespan":
            await self._serve(scope, receive, send)
            return
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self.start()
                except CopilotError as error:
                    await send({"type": "lifespan.startup.failed", "message": error.public})
                    return
                self._may_serve = True
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._may_serve:
            try:
                self.unstarted()
            except ConfigurationError as error:
                if scope["type"] != "http":
                    raise
                await send_error(scope, send, Unavailable(error.public, code="second-server"))
                return
            self._may_serve = True
        await self.app(scope, receive, send)
