"""Requests with which a client offers another protocol, and wants an answer all the same."""

import asyncio
from typing import Any

import pytest
from uvicorn.server import ServerState

from tests.agent.virtual_time import run_at_once
from tests.server.test_http_protocol import Wire, cut, protocol_of

# As Java's client sends it with each request over plain HTTP.
OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"
POST = b"POST /asked HTTP/1.1\r\nHost: a\r\n" + OFFER
GET = b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n"
BODY = b"x" * 3000


def seen_of(sent: bytes, *, size: int) -> list[tuple[str, str, bytes]]:
    """What the application saw of the bytes that came in pieces of a size."""
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        seen.append((scope["method"], scope["path"], body))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def scenario() -> None:
        state = ServerState()
        protocol = protocol_of(Wire(), app=app, state=state)
        for start in range(0, len(sent), size):
            protocol.data_received(sent[start : start + size])
        while state.tasks:
            await asyncio.gather(*state.tasks)

    run_at_once(scenario())
    return seen


@pytest.mark.parametrize("size", [1, 7, 1000, 100_000])
@pytest.mark.parametrize(
    "framed",
    [
        b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY),
        b"Transfer-Encoding: chunked\r\n\r\n" + cut(BODY, 1000),
    ],
    ids=["a length", "chunks"],
)
def test_a_body_is_read_and_what_follows_it_is_the_next_request(framed, size):
    asked = ("POST", "/asked", BODY)
    assert seen_of((POST + framed + GET) * 2, size=size) == [asked, ("GET", "/next", b"")] * 2


@pytest.mark.parametrize("size", [1, 100_000])
def test_one_without_a_body_takes_nothing_of_the_next(size):
    first = b"GET /asked HTTP/1.1\r\nHost: a\r\n" + OFFER + b"\r\n"
    seen = [("GET", "/asked", b""), ("GET", "/next", b"")]
    assert seen_of((first + GET) * 2, size=size) == seen * 2


def test_a_body_that_cannot_be_read_is_refused():
    wire = Wire()

    async def scenario() -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            while (await receive())["type"] == "http.request":
                pass

        protocol = protocol_of(wire, app=app, state=ServerState())
        protocol.data_received(POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")

    run_at_once(scenario())
    assert wire.written.startswith(b"HTTP/1.1 400 Bad Request\r\n")
