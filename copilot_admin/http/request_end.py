"""Ends the requests of programs on one thread that they share, instead of on a new one each.

Django closes every response on a thread, and makes one for each request: two starts of a thread
for what otherwise needs none.
"""

from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import ThreadSensitiveContext

from copilot_admin.http.asgi_types import App, Receive, Scope, Send
from copilot_admin.http.pages_middleware import is_for_machines


class SharedRequestEnd:
    """ASGI middleware for the API and health; pages keep a thread of their own for their views."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="request-end")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or not is_for_machines(scope["path"]):
            await self.app(scope, receive, send)
            return
        async with ThreadSensitiveContext(executor=self.executor):
            await self.app(scope, receive, send)
