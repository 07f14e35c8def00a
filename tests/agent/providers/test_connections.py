"""Connections to servers: what every provider promises, packed, used again, and closed; models."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
import gzip
import json
import re

import pytest

from copilot_admin.agent.providers import openai_compatible
from copilot_admin.agent.providers.http_client import close_clients, get_client
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.providers.registry import PROVIDERS, make_provider
from copilot_admin.agent.values.model_call import Finish, TextDelta
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import NotReady, ProviderBroke, ProviderRefused, ProviderUnavailable
from tests.agent.providers.openai_asking import (
    CALL,
    deltas_of,
    hello,
    make_spec,
    refusing,
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


@pytest.mark.parametrize("words", [0, 1])
@pytest.mark.parametrize("cancels", [False, True])
def test_closed_or_cancelled_stream_hangs_up_on_the_server(words, cancels):
    async def run():
        asked, left = asyncio.Event(), asyncio.Event()

        async def handler(request, reply):
            if words:
                await reply.start()
                await reply.events(text_chunk("one"))
            asked.set()
            await reply.left.wait()
            left.set()

        async with serving(handler) as server, asyncio.timeout(HANGS_SECONDS):
            if words and not cancels:
                async with aclosing(server.provider().stream(CALL)) as deltas:
                    assert await anext(deltas) == TextDelta("one")
            else:
                task = asyncio.ensure_future(deltas_of(server.provider(), read=server.read))
                await asked.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
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


@pytest.mark.parametrize("closes", [True, False])
def test_clients_are_shared_in_a_loop_and_closed_with_it(closes):
    async def run():
        spec = ProviderSpec(name="p", kind="k", base_url="http://a", api_key="k")
        one, same, other = [
            await get_client(one, OpenAICompatible.make_client)
            for one in (spec, spec, replace(spec, api_key="l"))
        ]
        if closes:
            await close_clients()
            await close_clients()
        return one is same, one is other, one

    same, other, client = asyncio.run(run())
    assert (same, other, client.is_closed()) == (True, False, True)


def models_of(handler, **timeouts):
    async def run():
        async with serving(handler) as server:
            return await server.provider(**timeouts).models()

    return asyncio.run(run())


@pytest.mark.parametrize(
    "body",
    [
        {"data": [{"id": "b"}, {"id": "a"}, {"id": 7}, "x", {"id": "a"}]},
        {"models": [{"name": "a"}, {"name": "b"}]},
        [{"id": one} for one in ("a", "b", "x" * 201, "a\x00", "a\nb", "\u202eb")],
    ],
)
def test_models_are_listed_in_order(body):
    assert models_of(refusing(200, body)) == ("a", "b")


def test_address_that_lists_no_models_is_explained():
    with pytest.raises(ProviderBroke, match="often in /v1"):
        models_of(refusing(200, "<html>"))


def test_models_of_a_silent_or_refusing_server():
    async def silent(request, reply):
        await reply.left.wait()

    with pytest.raises(ProviderUnavailable):
        models_of(silent, first_token=0.05)
    with pytest.raises(ProviderRefused):
        models_of(refusing(401, {}))


KINDS = {provider.kind: provider for provider in PROVIDERS}


SAMPLES = {
    "models": '{"data": [{"id": "small"}]}',
    "completions": (
        'data: {"choices": [{"index": 0, "delta": {"content": "Hello"}}]}\n\n'
        'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
        "data: [DONE]\n\n"
    ),
}


def deltas_and_models(kind, *, stop=None):
    """What a provider makes of a server that answers with the samples."""

    async def serve(request, reply):
        await reply.start()
        await reply.send(SAMPLES[request.path.partition("?")[0].rpartition("/")[2]].encode())
        await reply.end()

    async def run():
        async with serving(serve) as server:
            spec = make_spec(f"{server.url}/v1", kind=kind, key="sk-secret")
            provider = make_provider(spec)
            assert "sk-secret" not in f"{provider!r} {provider}"
            async with aclosing(provider.stream(CALL)) as stream:
                deltas = [await anext(stream) for _ in range(stop or 0)]
                if stop is None:
                    deltas = [delta async for delta in stream]
            return deltas, await provider.models()

    return asyncio.run(run())


@pytest.mark.parametrize("kind", KINDS)
def test_every_provider_has_a_label_and_streams_text_with_one_finish_at_the_end(kind):
    assert KINDS[kind].label
    assert re.fullmatch(r"[a-z][a-z0-9_-]{0,49}", kind)  # as long as its column
    deltas, models = deltas_and_models(kind)
    assert any(isinstance(delta, TextDelta) for delta in deltas)
    assert [delta for delta in deltas if isinstance(delta, Finish)] == deltas[-1:]
    assert models


@pytest.mark.parametrize("stop", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_every_provider_can_be_closed_after_any_delta(kind, stop):
    assert len(deltas_and_models(kind, stop=stop)[0]) == stop


def test_unknown_kind_is_explained_with_the_kinds_there_are():
    with pytest.raises(NotReady, match=", ".join(KINDS)):
        make_provider(make_spec(kind="carrier-pigeon"))
