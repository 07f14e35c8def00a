"""Similar questions, asked of a scripted model."""

import asyncio

import pytest

from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.components.similar_question import SimilarQuestion
from copilot_admin.errors import ComponentFailed
from protocol.components import create_output
from tests.agent.components.sample_components import client_of
from tests.agent.components.test_base import counted
from tests.agent.scripted import ScriptedProvider, text

QUESTION = "Where is the {best} ice cream?"


def outputs(provider, query=QUESTION, **inputs):
    system = {"_sys_model": client_of(provider, temperature=0.7), **inputs}
    run = ComponentRun(SimilarQuestion, {"query": query}, system)

    async def collect():
        return [output async for output in run.stream()]

    return asyncio.run(collect())


def test_the_text_streams_as_the_model_writes_it_and_the_tokens_come_last():
    with ScriptedProvider([counted("Which ", "ice?", tokens=(40, 9))]) as provider:
        given = outputs(provider)
    usage = {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49, "name": "small"}
    assert given == [
        create_output("text", "Which ", name="text"),
        create_output("text", "ice?", name="text"),
        create_output("text", "", name="text", usage=usage),
    ]


def test_the_model_is_asked_once_with_the_question_alone():
    with ScriptedProvider([text("x")]) as provider:
        given = outputs(provider, f"  {QUESTION}\n", _sys_origin_query="other")
    assert given == [create_output("text", "x", name="text")]
    (call,) = provider.calls
    (message,) = call.messages
    assert message.text.startswith("Write 5 questions that are similar to the question below")
    assert message.text.endswith(f"<question>\n{QUESTION}\n</question>\n")
    assert (call.model, call.tools) == ("small", ())


@pytest.mark.parametrize(
    ("configs", "sent"),
    [
        (None, {"temperature": 0.7}),
        ({"temperature": 0.0, "top_p": 0.5}, {"temperature": 0.0, "top_p": 0.5}),
    ],
)
def test_the_caller_may_set_temperature_and_top_p(configs, sent):
    with ScriptedProvider([text("x")]) as provider:
        outputs(provider, model_configs=configs)
    assert provider.calls[0].parameters == sent


@pytest.mark.parametrize("pieces", [(), (" ", "\n")])
def test_a_model_that_writes_nothing_has_failed(pieces):
    with (
        ScriptedProvider([text(*pieces)]) as provider,
        pytest.raises(ComponentFailed, match="wrote no similar question"),
    ):
        outputs(provider)
