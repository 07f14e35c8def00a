"""Connections to an OpenAI-compatible server: packed, used again, and closed."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
import gzip
import json

import pytest

from copilot_admin.agent.providers import openai_compatible
from copilot_admin.agent.providers.http_client import close_clients, get_client
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import Finish, TextDelta
from copilot_admin.agent.values.spec import ProviderSpec
from tests.agent.providers.openai_asking import CALL, deltas_of, hello, streamed
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


def test_clients_are_shared_in_a_loop_and_closed_with_it():
    async def run(*, closes):
        spec = ProviderSpec(name="p", kind="k", base_url="http://a", api_key="k")
        one, same, other = [
            await get_client(one, OpenAICompatible.make_client)
            for one in (spec, spec, replace(spec, api_key="l"))
        ]
        if closes:
            await close_clients()
            await close_clients()
        return one is same, one is other, one

    for closes in (True, False):
        same, other, client = asyncio.run(run(closes=closes))
        assert (same, other, client.is_closed()) == (True, False, True)
