"""Gives every request under `/v1/` its ids, and every answer both as headers."""

from copilot_admin.edge.asgi_types import App, Message, Receive, Scope, Send, header
from copilot_admin.ids import new_ids

SCOPE_KEY = "copilot_admin.ids"


class RequestIds:
    """ASGI middleware; views find the ids in the scope under `SCOPE_KEY`."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self.app(scope, receive, send)
            return
        ids = new_ids(header(scope, b"x-trace-id"))
        scope[SCOPE_KEY] = ids
        marks = [
            (b"x-trace-id", ids.trace_id.encode()),
            (b"x-completion-id", str(ids.run_id).encode()),
        ]

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *marks]
            await send(message)

        await self.app(scope, receive, send_marked)
