"""What is found in a prompt: placeholders that mean nothing, and more than a window holds."""

import pytest

from protocol.data import DataMessage
from protocol.features import CustomFeature
from tests.copilots.checklist.subjects import findings, found

NOT_CLOSED = "A placeholder in the prompt is not closed. Add }} after “{{ %s”."


def errors_in(prompt: str) -> list[str]:
    return [one.sentence for one in findings(system_prompt=prompt) if one.is_error]


def test_a_draft_about_which_there_is_nothing_to_say():
    assert found() == []


def test_an_unknown_placeholder_stops_publishing():
    assert found(system_prompt="{{ nobody }}, {{ nobody }}") == [
        ("error", "system_prompt", "The prompt has the unknown placeholder {{ nobody }}.")
    ]


def test_a_long_name_is_cut_in_the_sentence():
    (sentence,) = errors_in(f"{{{{ {'x' * 100} }}}}")
    assert sentence == f"The prompt has the unknown placeholder {{{{ {'x' * 59}… }}}}."


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Today is {{ today.", "today"),
        ("Today is {{ today } for all.", "today"),
        ("{{ today } and {{ now }}", "today"),
        ("Ends with {{", "…"),
        ("{{ {{ today }}", "…"),
    ],
)
def test_a_placeholder_without_an_end_stops_publishing(prompt, name):
    assert errors_in(prompt) == [NOT_CLOSED % name]


def test_commands_go_on_publishing_a_prompt_that_ends_open():
    (finding,) = findings(system_prompt="{{ today")
    assert finding.only_for_people


@pytest.mark.parametrize(
    "prompt", ["{ today }", "It is {today}.", "{today}} or {{ today }}", "{{ now }} {today}{today}"]
)
def test_a_name_in_single_braces_is_told(prompt):
    assert found(system_prompt=prompt) == [
        (
            "warning",
            "system_prompt",
            "The prompt has {today} in single braces, which isn't replaced. Write {{ today }}.",
        )
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "{{ today }}",
        "{{today}}, {{ now }}",
        'Answer {"a": {"today": 1}} as JSON.',
        "A } and a { and {nobody} and {}",
        "} {{ today }}",
    ],
)
def test_other_braces_are_the_builders_own(prompt):
    assert found(system_prompt=prompt) == []


def test_an_empty_prompt_is_told():
    expected = "The prompt is empty. Add instructions."
    assert found(system_prompt=" \n") == [("warning", "system_prompt", expected)]


def test_a_prompt_beyond_the_window_is_told_as_an_estimate():
    assert found(system_prompt="x" * 40_000, model="openai/gpt-4-0613") == [
        (
            "warning",
            "system_prompt",
            "Prompt and context data have about 10,000 tokens. The model "
            "“openai/gpt-4-0613” supports 8,192, including question and "
            "answer.",
        )
    ]


def test_data_notes_count_and_so_do_models_that_may_be_picked():
    notes = (DataMessage(kind="prices", description="x" * 40_000),)
    assert len(found(data=notes, model="gpt-4o", models=(("gpt-4o", ""), ("gpt-4", "")))) == 1


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-4.1", "gpt-4-turbo", "small-1", "gpt-4x", "gpt-5"]
)
def test_a_prompt_that_fits_or_may_fit_is_right(model):
    assert found(system_prompt="x" * 40_000, model=model) == []


def test_a_switch_of_another_provider_is_not_judged_by_the_name_of_its_model():
    other = CustomFeature(key="a", label="A", model="gpt-4", provider="Theirs")
    assert found(system_prompt="x" * 40_000, custom_features=(other,)) == []
