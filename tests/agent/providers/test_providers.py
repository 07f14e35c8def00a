"""What every provider promises, whatever it asks."""

import asyncio
from contextlib import aclosing
import re

import pytest

from copilot_admin.agent.providers.registry import PROVIDERS, make_provider
from copilot_admin.agent.values.model_call import Finish, TextDelta
from copilot_admin.errors import NotReady
from tests.agent.providers.openai_asking import CALL, make_spec
from tests.agent.providers.upstream import serving

KINDS = {provider.kind: provider for provider in PROVIDERS}


def deltas_and_models(kind, *, stop=None):
    """What a provider makes of a server that answers as the samples of its class say."""

    async def serve(request, reply):
        sample = KINDS[kind].samples[request.path.partition("?")[0].removeprefix("/v1")]
        await reply.start(type=sample.content_type)
        await reply.send(sample.body.encode())
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
