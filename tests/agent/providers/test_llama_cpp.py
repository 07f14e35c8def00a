"""A real model server streams, counts its tokens, stops, and says why it refuses."""

import asyncio
from importlib.util import find_spec
import subprocess
import sys

import pytest

from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import (
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    UsageSource,
)
from copilot_admin.agent.values.spec import ProviderSpec, Timeouts
from copilot_admin.errors import ProviderRefused
from tests.agent.providers.openai_asking import deltas_of

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(find_spec("xllamacpp") is None, reason="`make nightly` installs xllamacpp"),
]


@pytest.fixture(scope="module")
def provider():
    command = [sys.executable, "-m", "tests.agent.providers.model_file_server"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        url = server.stdout.readline().strip()
        slow = Timeouts(first_token=300, between_tokens=300)
        spec = ProviderSpec(name="Local", kind="local", base_url=f"{url}/v1", timeouts=slow)
        yield OpenAICompatible(spec)
        server.stdin.close()


def ask(provider, question, **parameters):
    message = ModelMessage(role=ModelRole.USER, text=question)
    parameters = {"temperature": 0, "seed": 1, **parameters}
    call = ModelCall(model="smollm2", messages=(message,), parameters=parameters)
    return asyncio.run(deltas_of(provider, call=call))


def test_the_models_are_listed(provider):
    [model] = asyncio.run(provider.models())
    assert "SmolLM2" in model


def test_an_answer_is_streamed_with_the_tokens_that_the_server_counted(provider):
    *texts, usage, finish = ask(provider, "What is the capital of France?", max_tokens=40)
    assert len([one for one in texts if isinstance(one, TextDelta)]) > 1
    assert usage.source is UsageSource.PROVIDER
    assert usage.input_tokens > 5
    assert 0 < usage.output_tokens <= 40
    assert finish in (Finish("stop"), Finish("length"))


def test_an_answer_that_was_cut_says_so(provider):
    *_, usage, finish = ask(provider, "Tell me a long story.", max_tokens=5)
    assert (usage.output_tokens, finish) == (5, Finish("length"))


def test_a_question_that_is_too_long_is_refused_in_words_that_say_what_to_do(provider):
    with pytest.raises(ProviderRefused) as error:
        ask(provider, "word " * 4000)
    assert "too long" in error.value.public
    assert "exceeds the available context size" in error.value.detail
