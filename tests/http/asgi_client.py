"""Calls an ASGI application as a server would, message by message, and takes nothing else from it.

Source: https://asgi.readthedocs.io/en/latest/specs/www.html
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from copilot_admin.http.scope import App

KEYS = {
    "http.response.start": {"type", "status", "headers", "trailers"},
    "http.response.body": {"type", "body", "more_body"},
}


@dataclass
class Answer:
    """Response of an application."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    is_whole: bool = False  # its last piece came

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.headers if key == name]
        assert len(values) < 2, f"{name} came {len(values)} times"
        return values[0] if values else None


def scope(
    path: str, *, method: str = "GET", headers: dict[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    """The scope of an HTTP request."""
    rows = [(key.lower().encode(), value.encode()) for key, value in (headers or {}).items()]
    return {"type": "http", "path": path, "method": method, "headers": rows, **more}


def call(app: App, request: dict[str, Any], *, body: Sequence[bytes] = (b"",)) -> Answer:
    """Sends one request whose body comes in these pieces; a missing last piece is a disconnect."""
    answer = Answer()
    messages = [
        {"type": "http.request", "body": piece, "more_body": index < len(body) - 1}
        for index, piece in enumerate(body)
    ]

    async def receive() -> dict[str, Any]:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        assert set(message) <= KEYS[message["type"]], message
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = [
                (key.decode().lower(), value.decode()) for key, value in message["headers"]
            ]
        else:
            answer.body += message.get("body", b"")
            answer.is_whole = not message.get("more_body", False)

    asyncio.run(app(request, receive, send))  # type: ignore[arg-type]
    return answer


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the body, which comes as one message."""
    message = await receive()
    assert not message.get("more_body")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})
