"""What a server may send before its answer begins: a few heads, and no flood of them."""

import asyncio

from aiohttp import ClientError, ClientSession
from aiohttp.client_proto import ResponseHandler
import pytest

from copilot_admin.agent.fetching.connecting import MOST_HEADS, BoundedConnector, TooManyHeads
from copilot_admin.agent.fetching.names import OF_RECEIVERS
from copilot_admin.agent.fetching.pieces import next_piece, told_when_it_breaks
from tests.agent.providers.upstream import serving
from tests.polling import HANGS_SECONDS

INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def answers(*sent, times=1):
    """What comes of each of some requests over one connector; a server sends the same to each."""

    async def handler(request, reply):
        await reply.raw(b"".join(sent))

    async def ask(session, url):
        async with session.get(url) as response:
            return await response.read()

    async def run():
        async with (
            serving(handler) as server,
            ClientSession(connector=BoundedConnector(OF_RECEIVERS)) as own,
        ):
            return [await ask(own, server.url) for _ in range(times)]

    return asyncio.run(run())


def test_some_interim_answers_are_passed_over_before_each_answer():
    assert answers(*[INTERIM] * (MOST_HEADS - 1), ANSWER, times=3) == [b"hi"] * 3


def chunked(*pieces):
    """An answer in chunks."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = (b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return b"".join((head, *chunks, b"0\r\n\r\n"))


@pytest.fixture
def fed(monkeypatch):
    """What aiohttp's protocol is handed to take apart."""
    fed = []
    received = ResponseHandler.data_received

    def watched(self, data):
        fed.append(data)
        received(self, data)

    monkeypatch.setattr(ResponseHandler, "data_received", watched)
    return fed


def test_a_body_for_which_reading_has_to_stop_and_go_on_comes_whole():
    large = [bytes([97 + number % 26]) * 50_000 for number in range(40)]
    small = [b"%d " % number for number in range(20_000)]
    for pieces in (large, small):
        assert answers(chunked(*pieces), times=2) == [b"".join(pieces)] * 2


def test_nothing_is_parsed_again_where_reading_never_stopped(fed):
    assert answers(chunked(b"one", b"two", b"three")) == [b"onetwothree"]
    assert b"" not in fed


@pytest.mark.parametrize(
    "flood", [INTERIM * MOST_HEADS, INTERIM * 20_000], ids=["one too many", "a flood"]
)
def test_more_are_no_answer(flood):
    with pytest.raises(TooManyHeads):
        answers(flood, ANSWER)


def test_of_line_ends_before_a_head_a_few_are_taken_by_themselves(fed):
    assert answers(b"\r\n\r\n" * 1000, ANSWER) == [b"hi"]
    assert len([one for one in fed if one]) <= 2 * (MOST_HEADS + 1)  # it may be read in two


def pieces(sent):
    """What comes of a body, piece by piece, and whether it broke."""

    async def handler(request, reply):
        await reply.raw(sent)
        await reply.left.wait()

    async def run():
        came = []
        async with (
            serving(handler) as server,
            asyncio.timeout(HANGS_SECONDS),
            ClientSession(connector=BoundedConnector(OF_RECEIVERS)) as own,
            own.get(server.url) as response,
        ):
            with told_when_it_breaks(response):
                try:
                    while piece := await next_piece(response):
                        came.append(piece)
                except ClientError:
                    return response.status, b"".join(came), True
            return response.status, b"".join(came), False

    return asyncio.run(run())


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("before", [b"", INTERIM, INTERIM * (MOST_HEADS - 2)])
@pytest.mark.parametrize(
    ("body", "heard"),
    [
        (b"5\r\nwords\r\nno length\r\n", (200, b"words", True)),
        (b"no length\r\n", (200, b"", True)),
        (b"5\r\nwords\r\n0\r\n\r\n", (200, b"words", False)),
        (b"9\r\nwo\r\n\r\nrds\r\n0\r\n\r\n", (200, b"wo\r\n\r\nrds", False)),
    ],
)
def test_what_came_in_one_read_with_the_head_is_heard_where_the_rest_breaks(before, body, heard):
    """Nothing was: its server was told to be unreachable, and asked again."""
    assert pieces(before + CHUNKED + body) == heard


def test_a_head_that_is_none_is_no_answer():
    with pytest.raises(ClientError):
        answers(b"HTTP/1.1 what\r\n\r\n", ANSWER)
