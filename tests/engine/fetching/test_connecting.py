"""What a server may send before its answer begins: a few heads, and no flood of them."""

import asyncio

from aiohttp import ClientSession
import pytest

from copilot_admin.engine.fetching.connecting import MOST_HEADS, BoundedConnector, TooManyHeads
from copilot_admin.engine.fetching.names import OF_RECEIVERS
from tests.engine.providers.upstream import serving

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


@pytest.mark.parametrize(
    "flood", [INTERIM * MOST_HEADS, INTERIM * 20_000], ids=["one too many", "a flood"]
)
def test_more_are_no_answer(flood):
    with pytest.raises(TooManyHeads):
        answers(flood, ANSWER)
