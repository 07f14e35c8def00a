"""Similar questions, asked of a scripted model."""

import asyncio

import pytest

from copilot_admin.agent.components.inputs import ModelClient
from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.components.runs import ComponentRun, check_arguments
from copilot_admin.agent.components.similar_question import LONGEST_QUERY, SimilarQuestion
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.values.model_call import Finish, ModelRole, TextDelta, Usage
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.errors import ComponentFailed, ProviderRefused
from protocol.components import create_output, merge, static_findings, total_usage
from protocol.components.contract import outputs_are_json
from tests.agent.scripted import ScriptedProvider, Step, broken, text

QUESTION = "Where is the ice cream better?"


def counted(*pieces, tokens):
    usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
    return Step((*map(TextDelta, pieces), usage, Finish("stop")))


def door_to(provider, **parameters):
    return ModelClient(
        provider, model="small", timeouts=Timeouts(), parameters=parameters, pace=Pace()
    )


def outputs(query=QUESTION, **inputs):
    async def collected():
        return [output async for output in SimilarQuestion().stream(query=query, **inputs)]

    return asyncio.run(collected())


def test_it_keeps_the_contract():
    assert static_findings(SimilarQuestion) == ()
    assert registry().find("similar_question") is SimilarQuestion
    for sample in SimilarQuestion.samples:
        check_arguments(SimilarQuestion, sample)
        with ScriptedProvider([text("Where?\n", "How?")]) as provider:
            given = outputs(**sample, _sys_model=door_to(provider))
        assert list(outputs_are_json(SimilarQuestion, given)) == []


def test_its_name_and_parameters_are_those_of_the_interface():
    assert SimilarQuestion.tool_name() == ["similar_question"]
    parameters = SimilarQuestion.parameters()
    assert list(parameters["properties"]) == ["query"]
    assert parameters["properties"]["query"]["type"] == "string"
    assert parameters["required"] == ["query"]


def test_the_text_streams_as_the_model_writes_it_and_the_tokens_come_last():
    with ScriptedProvider([counted("Which ", "ice?", tokens=(40, 9))]) as provider:
        given = outputs(_sys_model=door_to(provider))
    usage = {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49, "name": "small"}
    assert given == [
        create_output("text", "Which ", name="text"),
        create_output("text", "ice?", name="text"),
        create_output("text", "", name="text", usage=usage),
    ]
    assert merge(given).content[0].text.info == "Which ice?"
    assert total_usage(merge(given)) == (usage,)


def test_a_model_that_counts_no_tokens_gives_no_usage():
    with ScriptedProvider([text("Which?")]) as provider:
        given = outputs(_sys_model=door_to(provider))
    assert given == [create_output("text", "Which?", name="text")]


def test_only_the_tokens_of_this_question_are_counted():
    script = [counted("a", tokens=(40, 9)), counted("b", tokens=(50, 1))]
    with ScriptedProvider(script) as provider:
        door = door_to(provider)
        outputs(_sys_model=door)
        given = outputs(_sys_model=door)
    assert given[-1].content[0].usage == {
        "prompt_tokens": 50,
        "completion_tokens": 1,
        "total_tokens": 51,
        "name": "small",
    }


def test_the_model_is_asked_once_with_the_question_alone():
    with ScriptedProvider([text("x")]) as provider:
        outputs(f"  {QUESTION}\n", _sys_model=door_to(provider), _sys_origin_query="other")
    (asked,) = provider.calls
    (message,) = asked.messages
    assert message.role is ModelRole.USER
    assert message.text.startswith("Write 5 questions that are similar to the question below")
    assert message.text.endswith(f"<question>\n{QUESTION}\n</question>\n")
    assert (asked.model, asked.tools) == ("small", ())


def test_braces_in_a_question_stay_braces():
    with ScriptedProvider([text("x")]) as provider:
        outputs("What is {query}?", _sys_model=door_to(provider))
    assert "\nWhat is {query}?\n" in provider.calls[0].messages[0].text


@pytest.mark.parametrize(
    ("configs", "sent"),
    [
        ({}, {"temperature": 0.7}),
        (None, {"temperature": 0.7}),
        ({"temperature": 0.0, "top_p": 0.5}, {"temperature": 0.0, "top_p": 0.5}),
        ({"top_p": 1.0}, {"temperature": 0.7, "top_p": 1.0}),
    ],
)
def test_the_caller_may_say_how_the_model_chooses_its_words(configs, sent):
    with ScriptedProvider([text("x")]) as provider:
        outputs(_sys_model=door_to(provider, temperature=0.7), model_configs=configs)
    assert provider.calls[0].parameters == sent


@pytest.mark.parametrize("query", ["", "  \n", None])
def test_an_empty_question_is_an_error_and_no_model_is_asked(query):
    with ScriptedProvider([]) as provider, pytest.raises(ValueError, match="There is no question"):
        outputs(query, _sys_model=door_to(provider))


def test_a_question_may_be_long_but_not_endless():
    with ScriptedProvider([text("x")]) as provider:
        outputs("x" * LONGEST_QUERY, _sys_model=door_to(provider))
        with pytest.raises(ValueError, match="longer than 10000 characters"):
            outputs("x" * (LONGEST_QUERY + 1), _sys_model=door_to(provider))


def test_without_a_model_the_error_says_what_to_do():
    with pytest.raises(ValueError, match="Call the component through a copilot"):
        outputs()


def test_a_missing_question_is_an_error_of_the_call():
    with pytest.raises(TypeError):
        SimilarQuestion().tool_eval()


@pytest.mark.parametrize("pieces", [(), (" ", "\n")])
def test_a_model_that_writes_nothing_has_failed(pieces):
    with (
        ScriptedProvider([text(*pieces)]) as provider,
        pytest.raises(ComponentFailed, match="wrote no similar question"),
    ):
        outputs(_sys_model=door_to(provider))


def test_what_the_model_refuses_is_an_error_of_the_component():
    async def run():
        with ScriptedProvider([broken(ProviderRefused("No such model."))]) as provider:
            system = {"_sys_model": door_to(provider)}
            started = ComponentRun(SimilarQuestion, {"query": QUESTION}, system)
            return [output async for output in started.stream()]

    with pytest.raises(ComponentFailed, match=r"could not ask its model\. No such model"):
        asyncio.run(run())
