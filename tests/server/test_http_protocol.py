"""Heads of requests, byte by byte, before there is an application to look at them."""

import asyncio
from collections.abc import Iterable
import json
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from copilot_admin.http.header_limits import MOST_HEADER_BYTES, MOST_HEADERS
from copilot_admin.server import http_protocol
from copilot_admin.server.http_protocol import (
    HEAD_SECONDS,
    LINGERING_SECONDS,
    MOST_HEAD_BYTES,
    BoundedHeads,
)
from tests.agent.virtual_time import run_at_once
from tests.http.test_edge import echo

START = b"POST / HTTP/1.1\r\nHost: a\r\n"
IN_CHUNKS = b"Transfer-Encoding: chunked\r\n\r\n"
PIECE = 64 * 1024
MUCH = 16 * 2**20  # more than the sockets of a connection hold


class Wire:
    """What the protocol needs of a transport, and what it wrote to it."""

    def __init__(self) -> None:
        self.written = b""
        self.ended = False
        self.closed = self.closed_at_once = self.aborted = False
        self.untaken = 0

    def write(self, data: bytes) -> None:
        assert not self.ended
        assert not self.closed
        self.written += data

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def get_write_buffer_size(self) -> int:
        return self.untaken

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str) -> Any:
        return None

    def pause_reading(self) -> None:
        """Bodies come as fast as the test hands them over."""

    def resume_reading(self) -> None:
        """See `pause_reading`."""


def protocol_of(wire: Wire | None, *, app: Any, state: ServerState) -> BoundedHeads:
    """The protocol of a connection; without a wire it gets one from its server."""
    config = uvicorn.Config(app, log_config=None)
    protocol = BoundedHeads(config=config, server_state=state, app_state={})
    if wire is not None:
        protocol.connection_made(wire)  # type: ignore[arg-type]
    return protocol


def wire_after(pieces: Iterable[bytes], *, app: Any = echo) -> Wire:
    """The wire when pieces have come and what they asked for is answered."""
    wire = Wire()

    async def scenario() -> None:
        state = ServerState()
        protocol = protocol_of(wire, app=app, state=state)
        for piece in pieces:
            if not wire.closed:
                protocol.data_received(piece)
        while state.tasks:
            await asyncio.gather(*state.tasks)
        wire.closed_at_once = wire.closed
        if wire.ended:
            await asyncio.sleep(LINGERING_SECONDS)

    run_at_once(scenario())
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
        "detail": "The headers of the request have no end. Send fewer headers or cookies, and a "
        "shorter address.",
        "code": "headers-too-large",
    }
    assert f"content-length: {len(body)}".encode() in head
    assert (wire.ended, wire.closed_at_once, wire.closed) == (True, False, True)


def test_an_address_that_the_parser_does_not_read_is_told_to_be_too_long():
    wire = wire_after([b"GET /?", b"x" * MOST_HEADER_BYTES, b" HTTP/1.1\r\nHost: a\r\n\r\n"])
    head, _, body = wire.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert json.loads(body) == {
        "detail": "The address of the request is longer than the 64 KB this server accepts. "
        "Send a shorter one.",
        "code": "headers-too-large",
    }


BROWSER = b"Host: a\r\nAccept: text/html,*/*;q=0.8\r\nAccept-Language: ar\r\n"
PAGE, API = b"GET /admin/ HTTP/1.1\r\n", b"GET //agents.json?a HTTP/1.1\r\n"


@pytest.mark.parametrize(
    ("pieces", "status", "words"),
    [
        ([PAGE, BROWSER, b"Cookie: a=", *[b"x" * PIECE] * 5], 431, "have no end"),
        ([PAGE[:8], b"x" * PIECE, PAGE[8:], BROWSER, b"\r\n"], 431, "longer than the 64 KB"),
        ([PAGE, BROWSER, b"Content-Length: x\r\n\r\n"], 400, "Check the client"),
        ([PAGE, BROWSER, IN_CHUNKS, b"1\r\na\r\n" * 2000], 400, "thousands of pieces"),
    ],
    ids=["no end", "an address", "malformed", "pieces"],
)
def test_people_are_refused_with_a_page_in_their_language(settings, pieces, status, words):
    settings.LANGUAGES = [("en", "English"), ("ar", "Arabic")]
    head, _, body = wire_after(pieces).written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"\r\ncontent-type: text/html; charset=utf-8\r\n" in head
    assert b"\r\ncontent-security-policy: default-src 'none'" in head
    assert f"\r\ncontent-length: {len(body)}\r\n".encode() in head
    assert b'lang="ar" dir="rtl"' in body
    assert words.encode() in body


@pytest.mark.parametrize(
    "start", [API + BROWSER, PAGE + b"Accept: */*\r\n"], ids=["the API", "a program"]
)
def test_programs_are_refused_with_json(start):
    head, _, body = wire_after([start, b"X: ", *[b"x" * PIECE] * 5]).written.partition(b"\r\n\r\n")
    assert b"\r\ncontent-type: application/json\r\n" in head
    assert json.loads(body)["code"] == "headers-too-large"


@pytest.mark.parametrize(
    "much",
    [b"Cookie: a=" + b"x" * (MOST_HEADER_BYTES + 1) + b"\r\n", b"X: y\r\n" * (MOST_HEADERS + 9)],
    ids=["a cookie", "many lines"],
)
def test_who_asks_is_known_also_behind_headers_that_are_too_many(much):
    """Else a browser that sends its cookies first gets JSON, and one of another origin nothing."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(row for row in scope["headers"] if row[0] not in (b"cookie", b"x"))
        await echo(scope, receive, send)

    asks = [(b"accept", b"text/html"), (b"accept-language", b"ar"), (b"origin", b"https://a")]
    lines = [*asks, (b"accept", b"again"), (b"te", b"gzip"), *asks]
    wire_after([PAGE, much, *(b"%b: %b\r\n" % line for line in lines), b"\r\n"], app=app)
    assert seen == asks


def test_what_tells_who_asks_is_kept_while_it_is_short():
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(scope["headers"])
        await echo(scope, receive, send)

    cookie = b"Cookie: a=" + b"x" * (MOST_HEADER_BYTES + 1) + b"\r\n"
    wire_after([PAGE, cookie, b"Accept: " + b"y" * 2000 + b"\r\n\r\n"], app=app)
    assert [name for name, _ in seen] == [b"cookie"]


def test_a_head_that_ends_in_time_is_the_applications_to_judge():
    wire = wire_after([START + b"X: ", *[b"x" * PIECE] * 3, b"\r\nContent-Length: 2\r\n\r\nhi"])
    assert (wire.written.startswith(b"HTTP/1.1 200 OK"), wire.closed) == (True, False)


def test_of_many_lines_no_more_are_kept_than_show_that_they_are_too_many():
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["headers"])
        await echo(scope, receive, send)

    for line, most in ((b"X: y\r\n", MOST_HEADERS), (b"X: " + b"y" * 1000 + b"\r\n", 60)):
        wire_after([START, line * most, b"\r\n"], app=app)
        wire_after([START, line * (most + 2000 // len(line) * 10), b"\r\n"], app=app)
    fits, too_many, fit, too_long = map(len, seen)
    assert (fits, too_many, fit) == (MOST_HEADERS + 1, MOST_HEADERS + 1, 61)
    assert MOST_HEADER_BYTES // 1000 < too_long < 70


class TestUnfinishedHeads:
    """Of all connections together they have little room."""

    LONG = START + b"X: y\r\n" * 500  # counted with some 100 KB

    @pytest.fixture(autouse=True)
    def little_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(http_protocol, "MOST_UNFINISHED_BYTES", 3 * len(self.LONG) + 300_000)
        # Protocols of other tests never lose their connections.
        monkeypatch.setattr(http_protocol, "UNFINISHED", http_protocol.UnfinishedHeads())

    def answers(self, pieces: list[bytes]) -> list[bytes]:
        """What four are told that begin long heads and, in turn, say something more."""

        async def scenario() -> list[bytes]:
            wires = [Wire() for _ in range(4)]
            state = ServerState()
            open_ones = [protocol_of(wire, app=echo, state=state) for wire in wires]
            for one in open_ones:
                one.data_received(self.LONG)
            for piece in pieces:
                open_ones[-1].data_received(piece)
            for one in open_ones:
                one.connection_lost(None)
            return [wire.written[:12] for wire in wires]

        said = run_at_once(scenario())
        assert http_protocol.UNFINISHED.bytes == 0
        return said

    def test_who_wants_more_than_is_left_is_put_off(self):
        assert self.answers([]) == [b"", b"", b"", b"HTTP/1.1 503"]

    def test_heads_of_the_usual_size_go_on(self, monkeypatch):
        monkeypatch.setattr(http_protocol, "USUAL_HEAD_BYTES", 200_000)
        assert self.answers([]) == [b""] * 4

    def test_what_has_ended_makes_room(self):
        async def scenario() -> list[bytes]:
            wires = [Wire() for _ in range(9)]
            state = ServerState()
            for wire in wires:
                protocol = protocol_of(wire, app=echo, state=state)
                protocol.data_received(self.LONG)
                protocol.data_received(b"Content-Length: 0\r\n\r\n")
            await asyncio.gather(*state.tasks)
            return [wire.written[:12] for wire in wires]

        assert run_at_once(scenario()) == [b"HTTP/1.1 200"] * 9
        assert http_protocol.UNFINISHED.bytes == 0


def cut(body: bytes, size: int) -> bytes:
    """A body in chunks of a size."""
    parts = (body[at : at + size] for at in range(0, len(body), size))
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize(("size", "status"), [(1, b"400"), (8, b"400"), (24, b"200")])
def test_a_body_in_thousands_of_tiny_pieces_is_refused_in_words(size, status):
    wire = wire_after(
        [START + IN_CHUNKS, cut(b"x" * (http_protocol.MOST_SMALL_PIECES + 700) * size, size)]
    )
    head, _, body = wire.written.partition(b"\r\n\r\n")
    assert head[9:12] == status
    if status == b"400":
        assert json.loads(body)["detail"].startswith("The body comes in thousands of pieces")
        assert wire.ended


def test_a_short_body_may_be_cut_as_small_as_anything():
    wire = wire_after([START + IN_CHUNKS, cut(b"x" * http_protocol.MOST_SMALL_PIECES, 1)])
    assert wire.written[9:12] == b"200"


def test_a_line_that_brings_a_byte_at_a_time_is_no_reason_to_refuse():
    pieces = [b"x"] * (http_protocol.MOST_SMALL_PIECES + 300)
    wire = wire_after([START + b"Content-Length: %d\r\n\r\n" % len(pieces), *pieces])
    assert wire.written[9:12] == b"200"


def test_a_body_is_no_head():
    body = [b"x" * PIECE] * 8
    length = f"Content-Length: {8 * PIECE}\r\n\r\n".encode()
    assert wire_after([START + length, *body]).written.startswith(b"HTTP/1.1 200 OK")


def wire_after_waiting(pieces: Iterable[bytes], *, app: Any = echo) -> Wire:
    """The wire when each piece has come nearly as late as one head may take, and then nothing."""
    wire = Wire()

    async def scenario() -> None:
        state = ServerState()
        protocol = protocol_of(wire, app=app, state=state)
        for piece in pieces:
            protocol.data_received(piece)
            await asyncio.sleep(HEAD_SECONDS - 1)
        await asyncio.sleep(LINGERING_SECONDS + 2)

    run_at_once(scenario())
    return wire


def test_a_head_that_comes_in_drops_is_refused_in_words():
    wire = wire_after_waiting([b"GET /", b" HTTP/1.1\r\n"])
    head, _, body = wire.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert json.loads(body) == {
        "detail": "The headers of the request did not arrive within 20 seconds. Send it again.",
        "code": "headers-timeout",
    }
    assert (wire.ended, wire.closed) == (True, True)


def test_who_connects_and_says_nothing_is_told_nothing():
    wire = wire_after_waiting([b""])
    assert (wire.written, wire.closed) == (b"", True)


def test_empty_lines_after_an_answer_keep_no_connection():
    asked = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    wire = Wire()

    async def scenario() -> None:
        protocol = protocol_of(wire, app=echo, state=ServerState())
        protocol.data_received(asked)
        for _ in range(40):
            await asyncio.sleep(1)  # uvicorn's own time begins anew with each byte
            if not wire.ended:
                protocol.data_received(b"\r\n")

    run_at_once(scenario())
    assert wire.written.startswith(b"HTTP/1.1 200 OK\r\n")
    assert wire.closed


def test_an_answer_may_take_longer_than_a_head():
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(HEAD_SECONDS + 3)
        await echo(scope, receive, send)

    wire = wire_after_waiting([b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET", b""], app=slow)
    assert wire.written.startswith(b"HTTP/1.1 200 OK\r\n")


CHUNKED = START + b"X-User: ann\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"


@pytest.mark.parametrize("size", [1, 100_000], ids=["a byte at a time", "all at once"])
def test_what_follows_a_body_is_no_header(size):
    """A proxy replaces the headers that name a user, and lets a client's trailers pass."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["headers"], (await receive())["body"]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def scenario() -> None:
        state = ServerState()
        protocol = protocol_of(Wire(), app=app, state=state)
        sent = CHUNKED + b"X-Groups: root\r\nX-User: boss\r\n\r\nGET / HTTP/1.1\r\nX-Own: 1\r\n\r\n"
        for start in range(0, len(sent), size):
            protocol.data_received(sent[start : start + size])
        while state.tasks:
            await asyncio.gather(*state.tasks)

    run_at_once(scenario())
    head = [(b"host", b"a"), (b"x-user", b"ann"), (b"transfer-encoding", b"chunked")]
    assert seen == [(head, b"hi"), ([(b"x-own", b"1")], b"")]


@pytest.mark.parametrize(
    "pieces",
    [[b"X: ", *[b"x" * PIECE] * 5], [b"X: yyy\r\n" * (PIECE // 8)] * 5],
    ids=["a value", "many lines"],
)
def test_what_follows_a_body_without_an_end_is_given_up(pieces):
    wire = wire_after([CHUNKED, *pieces])
    assert wire.written.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert (wire.ended, wire.closed) == (True, True)


@pytest.mark.parametrize(
    "pieces",
    [
        [b"\0" * (2 * MOST_HEAD_BYTES), b"\0"],
        [START + IN_CHUNKS, b"zz\r\n", b"0\r\n\r\n"],
    ],
    ids=["a request", "a body"],
)
def test_what_cannot_be_read_is_refused_once_and_in_words(pieces):
    wire = wire_after(pieces)
    head, _, body = wire.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert json.loads(body) == {
        "detail": "What was sent is no HTTP request that this server can read. Check the client.",
        "code": "malformed-request",
    }
    assert (wire.ended, wire.closed_at_once, wire.closed) == (True, False, True)


@pytest.mark.parametrize(
    "bad",
    [
        b"\0",
        b"GET / HTTP/9\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
    ids=["a sign", "a version", "a body", "two lengths"],
)
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("at_once", [True, False], ids=["in one packet", "one by one"])
def test_what_came_before_it_is_answered_first(bad, number, at_once):
    asked = [START + b"Content-Length: 2\r\n\r\nhi"] * number
    behind = [b"GET / HTTP/1.1\r\n\r\n"]
    pieces = [b"".join([*asked, bad, *behind])] if at_once else [*asked, bad, *behind]
    wire = wire_after(pieces)
    *answers, refusal = wire.written.split(b"HTTP/1.1 ")[1:]
    assert [answer[:6] + answer[-12:] for answer in answers] == [
        b"200 OK2\r\nhi\r\n0\r\n\r\n"
    ] * number
    assert refusal.startswith(b"400 Bad Request\r\n")
    assert json.loads(refusal.partition(b"\r\n\r\n")[2])["code"] == "malformed-request"
    assert (wire.ended, wire.closed_at_once, wire.closed) == (True, False, True)


def test_who_leaves_before_the_refusal_is_noticed():
    left = asyncio.Event()

    async def wait(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        begun.set()
        assert (await receive())["type"] == "http.disconnect"
        left.set()

    async def scenario() -> Wire:
        wire = Wire()
        protocol = protocol_of(wire, app=wait, state=ServerState())
        protocol.data_received(b"GET / HTTP/1.1\r\n\r\n\0")
        await begun.wait()
        protocol.connection_lost(None)
        await asyncio.gather(*protocol.tasks)
        return wire

    begun = asyncio.Event()
    assert (run_at_once(scenario()).written, left.is_set()) == (b"", True)


def test_an_answer_that_has_begun_before_its_question_ended_is_cut_without_other_words():
    async def begin(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"It is", "more_body": True})
        begun.set()
        assert (await receive())["type"] == "http.request"
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.body", "body": b" over"})

    async def scenario() -> Wire:
        wire = Wire()
        protocol = protocol_of(wire, app=begin, state=ServerState())
        protocol.data_received(START + IN_CHUNKS + b"2\r\nhi\r\n")
        await begun.wait()
        protocol.data_received(b"zz\r\n")
        await asyncio.gather(*protocol.tasks)
        return wire

    begun = asyncio.Event()
    wire = run_at_once(scenario())
    assert wire.written.endswith(b"\r\n\r\n5\r\nIt is\r\n")
    assert wire.ended


@pytest.mark.parametrize(
    ("first", "status"),
    [(START, b"431"), (b"\0", b"400"), (START + b"Content-Length: x\r\n", b"400")],
    ids=["no end", "no request", "no length"],
)
def test_who_goes_on_sending_hears_why_it_was_refused(first, status):
    async def scenario() -> bytes:
        state = ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: protocol_of(None, app=echo, state=state), "127.0.0.1", 0
        )
        async with server:
            address = server.sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(*address)
            writer.write(first)
            for _ in range(MUCH // PIECE):
                writer.write(b"X: yyy\r\n" * (PIECE // 8))
                await writer.drain()
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            while state.connections:  # noqa: ASYNC110  # a server tells nobody that it is alone
                await asyncio.sleep(0)
        return answer

    answer = asyncio.run(scenario())
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert set(json.loads(answer.partition(b"\r\n\r\n")[2])) == {"detail", "code"}
