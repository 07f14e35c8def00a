"""A real model server streams, counts its tokens, stops, and says why it refuses."""

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
import subprocess
import sys

import pytest

from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import (
    Alive,
    Delta,
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    Usage,
    UsageSource,
)
from copilot_admin.agent.values.spec import ProviderSpec, Timeouts
from copilot_admin.errors import ProviderRefused
from protocol.json import Json

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(find_spec("xllamacpp") is None, reason="`make nightly` installs xllamacpp"),
]


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenAICompatible]:
    command = [sys.executable, "-m", "tests.agent.providers.model_file_server"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        url = server.stdout.readline().strip()
        slow = Timeouts(first_token=300, between_tokens=300)
        yield OpenAICompatible(
            ProviderSpec(
                name="Local", kind="openai_compatible", base_url=f"{url}/v1", timeouts=slow
            )
        )
        server.stdin.close()


def ask(provider: OpenAICompatible, question: str, **parameters: Json) -> list[Delta]:
    call = ModelCall(
        model="smollm2",
        messages=(ModelMessage(role=ModelRole.USER, text=question),),
        parameters={"temperature": 0, "seed": 1, **parameters},
    )

    async def collect() -> list[Delta]:
        return [one async for one in provider.stream(call) if not isinstance(one, Alive)]

    return asyncio.run(collect())


def test_the_models_are_listed(provider: OpenAICompatible) -> None:
    [model] = asyncio.run(provider.models())
    assert "SmolLM2" in model


def test_an_answer_is_streamed_with_the_tokens_that_the_server_counted(
    provider: OpenAICompatible,
) -> None:
    *texts, usage, finish = ask(provider, "What is the capital of France?", max_tokens=40)
    assert all(isinstance(one, TextDelta) for one in texts)
    assert len(texts) > 1
    assert isinstance(usage, Usage)
    assert usage.source is UsageSource.PROVIDER
    assert usage.input_tokens > 5
    assert 0 < usage.output_tokens <= 40
    assert finish in (Finish("stop"), Finish("length"))


def test_an_answer_that_was_cut_says_so(provider: OpenAICompatible) -> None:
    *_, usage, finish = ask(provider, "Tell me a long story.", max_tokens=5)
    assert isinstance(usage, Usage)
    assert (usage.output_tokens, finish) == (5, Finish("length"))


def test_a_question_that_is_too_long_is_refused_in_words_that_say_what_to_do(
    provider: OpenAICompatible,
) -> None:
    with pytest.raises(ProviderRefused) as error:
        ask(provider, "word " * 4000)
    assert "too long" in error.value.public
    assert "exceeds the available context size" in error.value.detail
