"""Lets all streams end on one thread, instead of on a new one each.

Django closes every response on a thread, and makes one for each request: two starts of a thread
for a stream that otherwise needs none.
"""

from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import ThreadSensitiveContext

from copilot_admin.edge.asgi_types import App, Receive, Scope, Send, may_stream


class SharedRequestEnd:
    """ASGI middleware for what may stream; everything else keeps a thread of its own for its views."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="request-end")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or not may_stream(scope["path"]):
            await self.app(scope, receive, send)
            return
        async with ThreadSensitiveContext(executor=self.executor):
            await self.app(scope, receive, send)
