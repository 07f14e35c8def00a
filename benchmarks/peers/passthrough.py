"""The cheapest proxy: forwards the question and the bytes of the answer."""

import os
from typing import Any

import aiohttp

UPSTREAM = os.environ.get("UPSTREAM", "")
HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8")]

_sessions: list[aiohttp.ClientSession] = []


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Forward one request."""
    if scope["type"] != "http":
        return
    body = await _body(receive)
    async with _session().post(f"{UPSTREAM}/chat/completions", data=body) as response:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        async for piece in response.content.iter_any():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


def _session() -> aiohttp.ClientSession:
    if not _sessions:
        _sessions.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
    return _sessions[0]


async def _body(receive: Any) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)
