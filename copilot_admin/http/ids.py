"""Gives every request of the API its ids, and every answer the same as headers."""

from copilot_admin.http.asgi_types import (
    REQUEST_ID_KEY,
    App,
    Message,
    Receive,
    Scope,
    Send,
    header,
    is_api,
    is_component_api,
)
from copilot_admin.ids import new_ids, request_id

SCOPE_KEY = "copilot_admin.ids"
REQUEST_ID_HEADER = b"x-appbuilder-request-id"


class RequestIds:
    """ASGI middleware; views find the ids in the scope under `SCOPE_KEY`.

    Requests of the component API have one more, under `REQUEST_ID_KEY`.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or not is_api(scope["path"]):
            await self.app(scope, receive, send)
            return
        ids = new_ids(header(scope, b"x-trace-id"), header(scope, b"traceparent"))
        scope[SCOPE_KEY] = ids
        marks = [
            (b"x-trace-id", ids.trace_id.encode()),
            (b"x-completion-id", str(ids.run_id).encode()),
        ]
        if is_component_api(scope["path"]):
            own = scope[REQUEST_ID_KEY] = request_id(header(scope, REQUEST_ID_HEADER))
            marks.append((REQUEST_ID_HEADER, own.encode()))

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *marks]
            await send(message)

        await self.app(scope, receive, send_marked)
