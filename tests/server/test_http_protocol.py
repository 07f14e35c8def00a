"""Heads of requests, byte by byte, before there is an application to look at them."""

import asyncio
from collections.abc import Iterable
import json
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from copilot_admin.server.http_protocol import MOST_HEAD_BYTES, BoundedHeads
from tests.edge.test_edge import echo

START = b"POST / HTTP/1.1\r\nHost: a\r\n"
PIECE = 64 * 1024


class Wire:
    """What the protocol needs of a transport, and what it wrote to it."""

    def __init__(self) -> None:
        self.written = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str) -> Any:
        return None

    def pause_reading(self) -> None:
        """Bodies come as fast as the test hands them over."""

    def resume_reading(self) -> None:
        """See `pause_reading`."""


def wire_after(pieces: Iterable[bytes]) -> Wire:
    """The wire when pieces have come and what they asked for is answered."""
    wire = Wire()

    async def scenario() -> None:
        state = ServerState()
        config = uvicorn.Config(echo, log_config=None)
        protocol = BoundedHeads(config=config, server_state=state, app_state={})
        protocol.connection_made(wire)  # type: ignore[arg-type]
        for piece in pieces:
            if not wire.closed:
                protocol.data_received(piece)
        while state.tasks:
            await asyncio.gather(*state.tasks)

    asyncio.run(scenario())
    return wire


@pytest.mark.parametrize(
    "pieces",
    [
        [START + b"X: ", *[b"x" * PIECE] * 5],
        [START, *[b"X: yyy\r\n" * (PIECE // 8)] * 5],
        [b"POST /", *[b"x" * PIECE] * 5],
    ],
    ids=["a value", "many headers", "an address"],
)
def test_a_head_without_an_end_is_given_up(pieces):
    wire = wire_after(pieces)
    head, _, body = wire.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert json.loads(body) == {
        "detail": "The headers of the request have no end. Send fewer.",
        "code": "headers-too-large",
    }
    assert f"content-length: {len(body)}".encode() in head
    assert wire.closed


def test_a_head_that_ends_in_time_is_the_applications_to_judge():
    wire = wire_after([START + b"X: ", *[b"x" * PIECE] * 3, b"\r\nContent-Length: 2\r\n\r\nhi"])
    assert (wire.written.startswith(b"HTTP/1.1 200 OK"), wire.closed) == (True, False)


def test_a_body_is_no_head():
    body = [b"x" * PIECE] * 8
    length = f"Content-Length: {8 * PIECE}\r\n\r\n".encode()
    assert wire_after([START + length, *body]).written.startswith(b"HTTP/1.1 200 OK")


def test_what_is_no_request_is_refused_once():
    wire = wire_after([b"\0" * (2 * MOST_HEAD_BYTES)])
    assert (wire.written.startswith(b"HTTP/1.1 400"), wire.closed) == (True, True)
