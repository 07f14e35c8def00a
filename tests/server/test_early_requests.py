"""Requests that come before the answers to earlier ones."""

import asyncio
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

import pytest
from uvicorn.server import ServerState

from copilot_admin.server.early_requests import CHUNKED_PIECE_BYTES, MOST_HELD_BYTES, PIECE_BYTES
from tests.agent.virtual_time import run_at_once
from tests.http.test_edge import echo
from tests.server.test_http_protocol import Wire, protocol_of

GET = b"GET / HTTP/1.1\r\n\r\n"
POST = b"POST / HTTP/1.1\r\n"
BODY = b"x" * (100 * 1024)
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


class Slow:
    """Answers as `echo`, when it is told to; notes who has left."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.begun = asyncio.Event()
        self.sizes: list[int] = []
        self.left = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        self.sizes.append(len(body))
        self.begun.set()
        leaving = asyncio.ensure_future(receive())
        going_on = asyncio.ensure_future(self.go_on.wait())
        await asyncio.wait({leaving, going_on}, return_when=asyncio.FIRST_COMPLETED)
        self.left = leaving.done()
        leaving.cancel()
        going_on.cancel()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def everything_answered(state: ServerState) -> None:
    while state.tasks:
        await asyncio.gather(*state.tasks)


def answers_to(pieces: Iterable[bytes]) -> tuple[int, bool]:
    """How many answers there are, and whether the connection is closed behind them."""
    wire = Wire()

    async def scenario() -> None:
        state = ServerState()
        protocol = protocol_of(wire, app=echo, state=state)
        for piece in pieces:
            protocol.data_received(piece)
        await everything_answered(state)

    run_at_once(scenario())
    return wire.written.count(b"HTTP/1.1 200 OK\r\n"), wire.closed


def test_each_is_answered_in_its_turn():
    assert answers_to([GET * 1000]) == (1000, False)
    assert answers_to([GET * 10, GET[:7], GET[7:], GET * 10]) == (21, False)


def test_none_knows_what_the_one_before_it_has_left_behind():
    left = ContextVar("left", default=0)
    seen: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(left.get())
        left.set(len(seen))
        await echo(scope, receive, send)

    async def scenario() -> None:
        state = ServerState()
        protocol = protocol_of(Wire(), app=app, state=state)
        protocol.data_received(GET * 3 + GET[:7])
        protocol.data_received(GET[7:] + GET * 100)
        await everything_answered(state)

    run_at_once(scenario())
    assert seen == [0] * 104


def test_who_sends_too_many_gets_those_that_are_due_and_has_to_come_again():
    number, is_closed = answers_to([GET * (2 * MOST_HELD_BYTES // len(GET)), GET])
    assert 1 <= number <= PIECE_BYTES // len(GET) + 1
    assert is_closed


def test_what_follows_a_request_that_ends_its_connection_is_not_asked():
    assert answers_to([b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n" + GET * 1000]) == (1, True)


@pytest.mark.parametrize(
    ("first", "rest", "most"),
    [
        (GET, b"", PIECE_BYTES),
        (POST + b"Content-Length: 2\r\n\r\nh", b"i", PIECE_BYTES),
        (CHUNKED + b"2\r\nhi\r\n", b"0\r\n\r\n", CHUNKED_PIECE_BYTES),
    ],
    ids=["no body", "a body", "chunks"],
)
def test_of_a_flood_few_are_taken_apart_at_once(first, rest, most):
    async def scenario() -> int:
        app = Slow()
        protocol = protocol_of(Wire(), app=app, state=ServerState())
        protocol.data_received(first)
        protocol.data_received(rest + GET * (MOST_HELD_BYTES // len(GET)))
        return len(protocol.pipeline)

    assert 1 <= run_at_once(scenario()) <= most // len(GET) + 1


@pytest.mark.parametrize("early", [b"", GET, GET * 1000], ids=["none", "one", "many"])
def test_who_leaves_is_noticed_whatever_he_has_sent_ahead(early):
    async def scenario() -> tuple[list[int], bool]:
        app, state = Slow(), ServerState()
        protocol = protocol_of(Wire(), app=app, state=state)
        protocol.data_received(GET + early)
        await app.begun.wait()
        protocol.connection_lost(None)
        await everything_answered(state)
        return app.sizes, app.left

    assert run_at_once(scenario()) == ([0], True)


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY),
    ],
    ids=["a length", "chunks"],
)
@pytest.mark.parametrize("size", [1000, 64 * 1024, 256 * 1024])
def test_a_body_that_came_early_is_whole(body, size):
    sent = GET + POST + body + GET

    async def scenario() -> list[int]:
        app, state = Slow(), ServerState()
        protocol = protocol_of(Wire(), app=app, state=state)
        for start in range(0, len(sent), size):
            protocol.data_received(sent[start : start + size])
        await app.begun.wait()
        app.go_on.set()
        await everything_answered(state)
        return app.sizes

    assert run_at_once(scenario()) == [0, len(BODY), 0]
