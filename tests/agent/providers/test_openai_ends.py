"""How an answer of an OpenAI-compatible server ends: well, cut, broken, or without a word that it has."""

import asyncio

import pytest

from copilot_admin.agent.providers import openai_compatible
from copilot_admin.agent.values.model_call import ALIVE, Finish, TextDelta, Usage, UsageSource
from copilot_admin.errors import ProviderUnavailable
from tests.agent.providers.openai_asking import COUNTED, USAGE, deltas_of, failed, hello, streamed
from tests.agent.providers.upstream import finish_chunk, serving, text_chunk
from tests.polling import HANGS_SECONDS


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


def test_connection_that_breaks_after_words_leaves_a_cut_answer():
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Half"))
        await reply.was_read()
        reply.cut()

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("Half"), Finish(None)]


async def cut(reply):
    reply.cut()


async def ended(reply):
    await reply.end()


@pytest.mark.parametrize("breaks", [cut, ended])
@pytest.mark.parametrize(
    "half", [b'data: {"choices": [{"del', b'data: {"error": {"mess', b"data:{"]
)
def test_body_that_ends_amid_its_first_event_broke_off_and_is_asked_again(breaks, half):
    async def handler(request, reply):
        await reply.start()
        await reply.send(half)
        await breaks(reply)

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderUnavailable, [])
    assert error.public.startswith("The model's provider broke off before its answer began.")


def test_connection_that_breaks_after_the_finish_loses_nothing():
    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Whole"), finish_chunk())
        await reply.was_read()
        reply.cut()

    deltas, _ = streamed(handler)
    assert [deltas[0], deltas[-1]] == [TextDelta("Whole"), Finish("stop")]


async def silent(reply):
    await reply.left.wait()


async def sighing(reply):
    while not reply.left.is_set():
        await reply.send(b": alive\n\n")
        await asyncio.sleep(0)


@pytest.mark.parametrize("goes_on", [silent, sighing])
@pytest.mark.parametrize("late", [(), (USAGE,)], ids=["at once", "after the tokens"])
def test_server_that_says_no_more_after_the_finish_is_not_waited_for(late, goes_on, monkeypatch):
    monkeypatch.setattr(openai_compatible, "_LAST_WORDS_SECONDS", 0.05)

    async def handler(request, reply):
        await reply.start()
        await reply.events(text_chunk("Whole"), finish_chunk())
        await reply.was_read()
        if late:
            await reply.events(*late)
        await goes_on(reply)

    async def run():
        async with serving(handler) as server, asyncio.timeout(HANGS_SECONDS):
            return await deltas_of(server.provider(), read=server.read)

    estimated = Usage(input_tokens=1, output_tokens=2, source=UsageSource.ESTIMATED)
    counted = COUNTED if late else estimated
    deltas = [delta for delta in asyncio.run(run()) if delta is not ALIVE]
    assert deltas == [TextDelta("Whole"), counted, Finish("stop")]


@pytest.mark.parametrize("head", [True, False])
def test_connection_that_breaks_before_words_may_be_tried_again(head):
    async def handler(request, reply):
        if head:
            await reply.start()
        reply.cut()

    error, seen = failed(handler)
    assert (type(error), seen) == (ProviderUnavailable, [])
