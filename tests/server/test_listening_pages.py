"""WebSockets of pages that only listen: how they are opened, and what they may send."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from copilot_admin.http.header_limits import MOST_HEADERS
from copilot_admin.server.http_protocol import BoundedHeads
from copilot_admin.server.listening_pages import MOST_BYTES, WITHIN_SECONDS, ListeningPages
from tests.agent.virtual_time import run_at_once
from tests.server.test_http_protocol import Wire

HEAD = (
    b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
FINAL, TEXT, BINARY, PING, PONG = 0x80, 1, 2, 9, 10
CONTINUATION = 0
POLICY_VIOLATION = b"\x88\x1a\x03\xf0a live page only listens"


def frame(kind: int, words: bytes = b"", *, final: int = FINAL) -> bytes:
    """A short frame of a client, whose mask leaves the words as they are."""
    return bytes([final | kind, 0x80 | len(words)]) + bytes(4) + words


async def accepting(scope: Any, receive: Any, send: Any) -> None:
    """Opens the socket, and tells what comes until it is closed."""
    heard.append(await receive())
    await send({"type": "websocket.accept"})
    while heard[-1]["type"] != "websocket.disconnect":
        heard.append(await receive())


heard: list[dict[str, Any]] = []


def wire_after(head: bytes, *pieces: bytes, pause: float = 0.0) -> Wire:
    """The wire when an opening and what follows it have come."""
    wire = Wire()
    heard.clear()

    async def scenario() -> None:
        state = ServerState()
        config = uvicorn.Config(
            accepting, log_config=None, ws=ListeningPages, ws_max_size=4096, ws_ping_interval=None
        )
        first = BoundedHeads(config=config, server_state=state, app_state={})
        protocols: list[Any] = [first]
        wire.set_protocol = protocols.append  # type: ignore[attr-defined]
        first.connection_made(wire)  # type: ignore[arg-type]
        first.data_received(head)
        await asyncio.sleep(0.01)  # the application opens the socket
        for piece in pieces:
            await asyncio.sleep(pause)
            if not wire.closed:
                protocols[-1].data_received(piece)
        wire.closed_at_once = wire.closed
        protocols[-1].connection_lost(ConnectionResetError())
        await asyncio.gather(*state.tasks)

    run_at_once(scenario())
    return wire


def heads() -> Sequence[Any]:
    long = b"X-Identity: %b\r\n" % (b"t" * 10_000)
    return (
        pytest.param(b"", id="plain"),
        pytest.param(long * 5, id="long lines of a proxy"),
        pytest.param(b"X: 1\r\n" * (MOST_HEADERS - 6), id="many lines"),
    )


@pytest.mark.parametrize("more", heads())
def test_a_head_within_the_limits_of_the_edge_opens_a_socket(more):
    assert wire_after(HEAD + more + b"\r\n").written.startswith(b"HTTP/1.1 101 ")


@pytest.mark.parametrize(
    "more", [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"], ids=str
)
def test_an_opening_that_cannot_be_read_is_refused_and_ended(more):
    wire = wire_after(HEAD + more + b"\r\n")
    assert wire.written.startswith(b"HTTP/1.1 400 Bad Request\r\n") and wire.closed_at_once
    assert heard == []


@pytest.mark.parametrize(
    "sent",
    [
        frame(TEXT, b"Hello"),
        frame(TEXT, b"\xff"),
        frame(BINARY, final=0) + frame(CONTINUATION, final=0) * 100,
        frame(PONG) * 100,
    ],
    ids=["text", "no text", "parts", "pongs"],
)
def test_what_a_page_sends_is_neither_kept_nor_told(sent, caplog):
    wire = wire_after(HEAD + b"\r\n", sent)
    assert [one["type"] for one in heard] == ["websocket.connect", "websocket.disconnect"]
    assert not wire.closed_at_once
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


@pytest.mark.parametrize("kind", [TEXT, PING, PONG])
def test_who_says_too_much_is_sent_away(kind):
    one = frame(kind, b"x")
    flood = one * (2 * MOST_BYTES // len(one))
    wire = wire_after(HEAD + b"\r\n", flood)
    assert wire.closed_at_once and wire.written.endswith(POLICY_VIOLATION)
    assert wire.written.count(b"\x8a\x01x") <= MOST_BYTES // len(one)  # answers to pings


def test_a_page_that_is_open_for_long_may_answer_each_ping():
    some = frame(PONG, b"x" * 100) * (MOST_BYTES // 2 // 106)
    wire = wire_after(HEAD + b"\r\n", *[some] * 10, pause=WITHIN_SECONDS / 2 + 1)
    assert not wire.closed_at_once
