"""Requests that come in one moment begin a few at a time; between these the event loop looks round.

All that came together would otherwise run to where they first wait, one behind the other: a thousand
held up every stream, and whoever asks whether the server is alive, for seconds.
"""

import asyncio
from collections import deque

from copilot_admin.http.asgi_types import App, Receive, Scope, Send
from copilot_admin.http.pages_middleware import HEALTH_PATHS

AT_ONCE = 4  # some 5 ms


class FairStarts:
    """ASGI middleware around everything; used in one event loop."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._begun = 0  # in this round of the event loop
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request; who asks for health does not wait."""
        if scope["type"] != "lifespan" and scope["path"] not in HEALTH_PATHS:
            await self._begin()
        await self.app(scope, receive, send)

    async def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        if self._begun == 0:
            loop.call_soon(self._next_round)
        if self._begun < AT_ONCE:
            self._begun += 1
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next_round(self) -> None:
        self._begun = 0
        while self._waiting and self._begun < AT_ONCE:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._begun += 1
        if self._begun:
            asyncio.get_running_loop().call_soon(self._next_round)
