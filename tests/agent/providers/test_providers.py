"""What every provider promises, whatever it asks."""

import asyncio
from contextlib import aclosing
import re

import pytest

from copilot_admin.agent.providers.registry import PROVIDERS, make_provider
from copilot_admin.agent.values.model_call import (
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
)
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import NotReady
from tests.agent.providers.upstream import serving

KINDS = {provider.kind: provider for provider in PROVIDERS}
CALL = ModelCall(model="m", messages=(ModelMessage(role=ModelRole.USER, text="Hi"),))


def with_provider(kind, use):
    """What is made of a provider whose server answers as the samples of its class say."""

    async def serve(request, reply):
        sample = KINDS[kind].samples[request.path.partition("?")[0].removeprefix("/v1")]
        await reply.start(type=sample.content_type)
        await reply.send(sample.body.encode())
        await reply.end()

    async def run():
        async with serving(serve) as server:
            spec = ProviderSpec(
                name="p", kind=kind, base_url=f"{server.url}/v1", api_key="sk-secret"
            )
            return await use(make_provider(spec))

    return asyncio.run(run())


@pytest.mark.parametrize("kind", KINDS)
class TestEveryProvider:
    def test_has_a_label_and_is_found_by_its_kind(self, kind):
        assert KINDS[kind].label
        assert re.fullmatch(r"[a-z][a-z0-9_-]{0,49}", kind)  # as long as its column

    def test_streams_text_and_ends_with_its_one_finish(self, kind):
        async def use(provider):
            return [delta async for delta in provider.stream(CALL)]

        deltas = with_provider(kind, use)
        assert any(isinstance(delta, TextDelta) for delta in deltas)
        assert [delta for delta in deltas if isinstance(delta, Finish)] == deltas[-1:]

    def test_can_be_closed_after_any_delta(self, kind):
        async def use(provider):
            for stop in range(3):
                async with aclosing(provider.stream(CALL)) as deltas:
                    for _ in range(stop):
                        await anext(deltas)

        with_provider(kind, use)

    def test_lists_models(self, kind):
        async def use(provider):
            return await provider.models()

        assert with_provider(kind, use)

    def test_never_shows_its_key(self, kind):
        async def use(provider):
            return f"{provider!r} {provider}"

        assert "sk-secret" not in with_provider(kind, use)


def test_unknown_kind_is_explained_with_the_kinds_there_are():
    with pytest.raises(NotReady) as caught:
        make_provider(ProviderSpec(name="p", kind="carrier-pigeon"))
    assert caught.value.public == (
        f"There is no kind of provider called 'carrier-pigeon'. Pick one of: {', '.join(KINDS)}."
    )
