"""Starts and stops what lives as long as the server process.

Django does not answer the ASGI `lifespan` protocol, so the edge does.
Source: https://asgi.readthedocs.io/en/latest/specs/lifespan.html
"""

from collections.abc import Awaitable, Callable

from copilot_admin.errors import CopilotError
from copilot_admin.http.asgi_types import App, Receive, Scope, Send

Hook = Callable[[], Awaitable[None]]


class Lifespan:
    """ASGI middleware that runs one hook at the start and one at the stop of the server.

    Args:
        app: What is served.
        start: Raises a `CopilotError` where nothing can be served.
        stop: Is called after the last request.
    """

    def __init__(self, app: App, *, start: Hook, stop: Hook) -> None:
        self.app = app
        self.start = start
        self.stop = stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves the lifespan, hands everything else on."""
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self.start()
                except CopilotError as error:
                    await send({"type": "lifespan.startup.failed", "message": error.public})
                    return
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return
