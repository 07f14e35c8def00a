"""Connections to an OpenAI-compatible server: packed, used again, and closed."""

import asyncio
from contextlib import aclosing
import gzip
import json

import pytest

from copilot_admin.agent.llm.provider_sessions import connection_for
from copilot_admin.agent.providers import openai_compatible
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import (
    Finish,
    TextDelta,
)
from tests.agent.providers.openai_asking import (
    CALL,
    deltas_of,
    hello,
    streamed,
)
from tests.agent.providers.upstream import serving, text_chunk
from tests.polling import HANGS_SECONDS


def test_compressed_stream_is_read_all_the_same():
    async def handler(request, reply):
        assert request.headers["accept-encoding"] == "identity"
        await reply.start(Content_Encoding="gzip")
        body = f"data: {json.dumps(text_chunk('Hi'))}\n\ndata: [DONE]\n\n"
        await reply.send(gzip.compress(body.encode()))
        await reply.end()

    deltas, _ = streamed(handler)
    assert deltas[0] == TextDelta("Hi")


def test_closed_stream_hangs_up_on_the_server():
    async def run():
        hung_up = asyncio.Event()

        async def handler(request, reply):
            await reply.start()
            await reply.events(text_chunk("one"))
            await reply.left.wait()
            hung_up.set()

        async with serving(handler) as server:
            async with aclosing(server.provider().stream(CALL)) as deltas:
                assert await anext(deltas) == TextDelta("one")
            async with asyncio.timeout(HANGS_SECONDS):
                await hung_up.wait()

    asyncio.run(run())


@pytest.mark.parametrize("words", [0, 1])
def test_cancelled_stream_hangs_up_too(words):
    async def run():
        left = asyncio.Event()

        async def handler(request, reply):
            if words:
                await reply.start()
                await reply.events(text_chunk("one"))
            asked.set()
            await reply.left.wait()
            left.set()

        asked = asyncio.Event()
        async with serving(handler) as server:
            task = asyncio.ensure_future(deltas_of(server.provider(), read=server.read))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.timeout(HANGS_SECONDS):
                await left.wait()

    asyncio.run(run())


def test_connection_is_used_again_after_a_whole_answer(monkeypatch):
    monkeypatch.setattr(openai_compatible, "_DRAIN_SECONDS", 5)

    async def run():
        async with serving(hello) as server:
            for _ in range(3):
                await deltas_of(server.provider(), read=server.read)
            return len(server.requests), server.connections

    assert asyncio.run(run()) == (3, 1)


def test_server_that_keeps_the_connection_open_after_done_does_not_delay_the_end():
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Hi"), "[DONE]")
        await reply.was_read()
        await reply.send(b": late\n\n")
        await reply.left.wait()

    async def run():
        async with serving(handler) as server, asyncio.timeout(HANGS_SECONDS):
            return await deltas_of(server.provider(), read=server.read)

    assert asyncio.run(run())[-1] == Finish("stop")


def test_one_client_for_each_loop_address_and_key():
    async def run():
        one = await connection_for(base_url="http://a", api_key="k")
        same = await connection_for(base_url="http://a", api_key="k")
        other = await connection_for(base_url="http://a", api_key="l")
        await OpenAICompatible.aclose_shared()
        await OpenAICompatible.aclose_shared()
        return one is same, one is other, one

    same, other, first = asyncio.run(run())
    assert (same, other) == (True, False)
    assert asyncio.run(run())[2] is not first


def test_clients_of_a_loop_that_ends_are_closed_with_it():
    async def run():
        session = (await connection_for(base_url="http://a", api_key="k")).session
        assert not session.closed
        return session

    assert asyncio.run(run()).closed
