"""Servers that speak the API of OpenAI, with all their quirks."""

import asyncio

from copilot_admin.agent.providers import openai_compatible
from copilot_admin.agent.values.model_call import (
    Finish,
    TextDelta,
)
from tests.agent.providers.openai_asking import (
    COUNTED,
    deltas_of,
    hello,
    streamed,
)
from tests.agent.providers.upstream import finish_chunk, serving, text_chunk


def test_answer_is_streamed_with_usage_and_finish():
    deltas, server = streamed(hello)
    assert deltas == [TextDelta("Hello"), COUNTED, Finish("stop")]
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer sk-test"
    assert request.json == {
        "model": "small",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_words_that_follow_the_first_are_read_at_a_tick(monkeypatch):
    asked, tick = asyncio.Event(), asyncio.Event()

    async def hold():
        asked.set()
        await tick.wait()

    monkeypatch.setattr(openai_compatible, "_wait_for_tick", hold)

    async def handler(request, reply):
        await reply.start()
        await reply.events({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
        await reply.events(text_chunk("first"))
        await asked.wait()
        for word in (" second", " third"):
            await reply.events(text_chunk(word))
            for _ in range(10):  # turns of the loop in which a reader would have read
                await asyncio.sleep(0)
        tick.set()
        await reply.events(finish_chunk(), "[DONE]")
        await reply.end()

    async def run():
        async with serving(handler) as server:
            return await deltas_of(server.provider(), read=server.read)

    deltas = [delta for delta in asyncio.run(run()) if isinstance(delta, TextDelta)]
    assert deltas == [TextDelta("first"), TextDelta(" second third")]
