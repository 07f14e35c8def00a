"""Which models an OpenAI-compatible server lists."""

import asyncio

import pytest

from copilot_admin.errors import ProviderBroke, ProviderRefused, ProviderUnavailable
from tests.agent.providers.openai_asking import refusing
from tests.agent.providers.upstream import serving


@pytest.mark.parametrize(
    "body",
    [
        {"data": [{"id": "b"}, {"id": "a"}, {"id": 7}, "x", {"id": "a"}]},
        {"models": [{"name": "a"}, {"name": "b"}]},
        [{"id": "a"}, {"id": "b"}],
        [{"id": one} for one in ("a", "b", "x" * 201, "a\x00", "a\nb", "\u202eb")],
    ],
)
def test_models_are_listed_in_order(body):
    async def handler(request, reply):
        assert (request.method, request.path) == ("GET", "/v1/models")
        await refusing(200, body)(request, reply)

    async def run():
        async with serving(handler) as server:
            return await server.provider().models()

    assert asyncio.run(run()) == ("a", "b")


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"7", b"[" * 5000])
def test_address_that_lists_no_models_is_explained(body):
    async def handler(request, reply):
        await reply.start(type="text/html")
        await reply.send(body)
        await reply.end()

    async def run():
        async with serving(handler) as server:
            with pytest.raises(ProviderBroke, match="often in /v1"):
                await server.provider().models()

    asyncio.run(run())


def test_models_of_a_silent_or_refusing_server():
    async def silent(request, reply):
        await reply.left.wait()

    async def run(handler, kind, **timeouts):
        async with serving(handler) as server:
            with pytest.raises(kind):
                await server.provider(**timeouts).models()

    asyncio.run(run(silent, ProviderUnavailable, first_token=0.05))
    asyncio.run(run(refusing(401, {}), ProviderRefused))
