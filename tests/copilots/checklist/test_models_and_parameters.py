"""What is found about models, their provider, and the numbers that they are asked with."""

from dataclasses import replace

import pytest

from copilot_admin.agent.values.spec import CallLimit
from copilot_admin.copilots.checklist.subject import DraftFacts
from protocol.features import CustomFeature
from tests.copilots.checklist.subjects import OURS, findings, found

LISTED = DraftFacts(models={"Ours": ("small-1", "small-2"), "Theirs": ("big-1",)})
OPENAI = replace(OURS, base_url="https://api.openai.com/v1")


def test_no_model_stops_publishing():
    assert found(model=" ") == [("error", "model", "Choose a model.")]


def test_a_model_that_the_provider_does_not_list_is_told():
    sentence = "The provider “Ours” doesn't list the model “smal-1”. Check the spelling."
    assert found(facts=LISTED, model="smal-1") == [("warning", "model", sentence)]


def test_models_of_picker_and_controls_are_looked_up_where_they_are():
    web = CustomFeature(key="web", label="Web", model="big-2", provider="Theirs")
    picker = (("small-1", ""), ("small-3", ""))
    assert found(facts=LISTED, models=picker, custom_features=(web,)) == [
        (
            "warning",
            "model_choices",
            ("The provider “Ours” doesn't list the model “small-3”. Check the spelling."),
        ),
        (
            "warning",
            "custom_features",
            ("The provider “Theirs” doesn't list the model “big-2”. Check the spelling."),
        ),
    ]


@pytest.mark.parametrize("models", [{}, {"Ours": ()}, {"Theirs": ("big-1",)}])
def test_a_list_that_is_not_known_says_nothing(models):
    assert found(facts=DraftFacts(models=models), model="smal-1") == []


def test_what_is_listed_is_right():
    web = CustomFeature(key="web", label="Web", model="big-1", provider="Theirs")
    same = CustomFeature(key="same", label="Same", model="small-2")
    assert found(facts=LISTED, custom_features=(web, same)) == []


def test_a_model_that_holds_no_conversations_is_told():
    sentence = "The model “text-embedding-3-small” isn't a chat model. Choose another."
    assert found(model="text-embedding-3-small") == [("warning", "model", sentence)]


def test_a_picker_without_the_model_itself_is_told():
    assert found(models=(("small-2", "Small"),)) == [
        (
            "warning",
            "model_choices",
            "The model picker doesn't include the default model “small-1”. Add it.",
        )
    ]


def test_a_vendor_without_a_key_is_told():
    assert found(provider=OPENAI) == [
        (
            "warning",
            "provider",
            "The provider “Ours” has no API key, but api.openai.com requires one.",
        )
    ]


@pytest.mark.parametrize(
    "provider",
    [
        replace(OPENAI, api_key="sk-1"),
        replace(OURS, base_url="https://api.openai.com.example/v1"),
        replace(OURS, base_url="http://["),
        replace(OURS, base_url=""),
    ],
)
def test_a_key_or_another_server_is_right(provider):
    assert found(provider=provider) == []


@pytest.mark.parametrize(
    ("parameters", "input", "sentence"),
    [
        ({"temperature": 3}, "temperature", "'temperature' must be a number from 0 to 2, not 3."),
        (
            {"temperature": 10**400},
            "temperature",
            "'temperature' must be a number from 0 to 2, not 10000000000000000000.",
        ),
        (
            {"temperature": -0.1},
            "temperature",
            "'temperature' must be a number from 0 to 2, not -0.1.",
        ),
        ({"temperature": "1"}, "temperature", "'temperature' must be a number from 0 to 2, not 1."),
        (
            {"temperature": True},
            "temperature",
            "'temperature' must be a number from 0 to 2, not True.",
        ),
        ({"top_p": 1.5}, "top_p", "'top_p' must be a number from 0 to 1, not 1.5."),
        (
            {"max_tokens": 0},
            "max_tokens",
            "'max_tokens' must be a whole number of at least 1, not 0.",
        ),
        (
            {"max_completion_tokens": 1.5},
            "more_parameters",
            "'max_completion_tokens' must be a whole number of at least 1, not 1.5.",
        ),
        (
            {"presence_penalty": 2.1},
            "more_parameters",
            "'presence_penalty' must be a number from -2 to 2, not 2.1.",
        ),
    ],
)
def test_a_parameter_out_of_range_stops_publishing(parameters, input, sentence):
    assert found(parameters=parameters) == [("error", input, f"The parameter {sentence}")]


@pytest.mark.parametrize(
    "parameters",
    [
        {"temperature": 0, "max_tokens": 1},
        {"temperature": 2, "frequency_penalty": -2},
        {"top_p": 1, "seed": -5},
        {"temperature": None, "top_p": 1},
        {"stop": ["a"]},
    ],
)
def test_parameters_in_range_are_right(parameters):
    assert found(parameters=parameters) == []


def test_a_reserved_parameter_stops_publishing_for_commands_too():
    (one,) = findings(parameters={"stream": False})
    sentence = "The parameter 'stream' is set by the server. Remove it."
    assert (one.is_error, one.sentence, one.only_for_people) == (True, sentence, False)


def test_commands_go_on_publishing_numbers_out_of_range():
    assert [one.only_for_people for one in findings(parameters={"top_p": 2})] == [True]


def test_temperature_and_top_p_together_are_told():
    sentence = "Temperature and top p are both set. Set one: some models refuse both."
    assert found(parameters={"temperature": 1, "top_p": 1}) == [("warning", "top_p", sentence)]


def test_two_names_of_one_length_are_told():
    sentence = "'max_tokens' and 'max_completion_tokens' are both set. Set one of them."
    assert found(parameters={"max_tokens": 9, "max_completion_tokens": 9}) == [
        ("warning", "more_parameters", sentence)
    ]


def test_a_temperature_for_a_model_that_reasons_is_told():
    sentence = "The model “o3-mini” doesn't support a temperature. Clear it."
    assert found(model="o3-mini", parameters={"temperature": 1}) == [
        ("warning", "temperature", sentence)
    ]
    assert found(model="o3-mini") == []
    assert found(model="o30", parameters={"temperature": 1}) == []


def test_limits_that_no_question_could_keep_to_stop_publishing():
    limits = (CallLimit(function="save_skill", most=101),)
    assert found(max_data_tokens=99, max_client_calls=0, client_call_limits=limits)[:3] == [
        ("error", "max_data_tokens", "The data limit of a question must be at least 100 tokens."),
        ("error", "max_client_calls", "A call limit must be a number from 1 to 100, not 0."),
        ("error", "client_call_limits", "A call limit must be a number from 1 to 100, not 101."),
    ]


def test_a_limit_above_that_of_all_together_is_told():
    limits = (CallLimit(function="save_skill", most=5),)
    sentence = "“save_skill” allows 5 calls, but the total limit is 4 calls."
    assert found(max_client_calls=4, client_call_limits=limits) == [
        ("warning", "client_call_limits", sentence)
    ]
    assert found(max_client_calls=5, client_call_limits=limits) == []
