"""What the user may ask next: last in the stream, and never at the cost of the answer."""

import pytest

from copilot_admin.agent.values.answer_request import StoredTurn
from copilot_admin.agent.values.model_call import Finish, TextDelta, Usage, UsageSource
from copilot_admin.agent.values.spec import CitationMode, FixedStep, StepPlace
from copilot_admin.errors import ProviderRefused
from protocol.events import MessageChunk, PromptSuggestions, StatusUpdate
from protocol.models import Generation
from tests.agent.answer_requests import loading, make_query, make_request, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, broken, text
from tests.agent.scripted import Step as ScriptStep

SPEC = make_spec(
    features=frozenset({"prompt-suggestions"}),
    citations=CitationMode.OFF,
    steps=(FixedStep(at=StepPlace.END, message="Done"),),
)
ON = {"prompt-suggestions": True}


def answered(*script, spec=SPEC, **query):
    query = {"workspace_options": ON, **query}
    with ScriptedProvider(script) as provider:
        ask = make_request(
            provider, spec=spec, query=make_query(**query), load_stored_turn=loading(StoredTurn())
        )
        return outputs_of(ask), provider


def test_suggestions_come_last_behind_the_end_steps():
    outputs, provider = answered(
        text("Rates rose."), text('Here:\n["Why?", " What  next? ", "Why?", 3, "", "x", "y"]')
    )
    assert outputs == [
        MessageChunk("Rates rose."),
        StatusUpdate(message="Done"),
        PromptSuggestions(("Why?", "What next?", "x")),
        Finish("stop"),
    ]
    *_, answer, wish = provider.calls[1].messages
    assert answer.text == "Rates rose."
    assert "JSON list" in wish.text
    assert provider.calls[1].tools == ()


def test_what_the_suggestions_cost_is_counted_and_half_characters_are_replaced():
    usage = Usage(input_tokens=3, output_tokens=2)
    script = ScriptStep((TextDelta(r'["Why \ud83d?"]'), usage, Finish("stop")))
    outputs, _ = answered(text("Rates rose."), script)
    assert usage in outputs
    assert PromptSuggestions(("Why \ufffd?",)) in outputs


@pytest.mark.parametrize(
    "second",
    [
        text("I have no idea."),
        text("[not JSON]"),
        text('["' + "x" * 201 + '"]'),
        broken(ProviderRefused("No.")),
    ],
)
def test_a_model_that_suggests_nothing_harms_no_answer(second):
    outputs, _ = answered(text("Rates rose."), second)
    assert outputs == [
        MessageChunk("Rates rose."),
        StatusUpdate(message="Done"),
        Finish("stop"),
    ]


@pytest.mark.parametrize(
    ("first", "changes"),
    [
        (text("Rates rose."), {"workspace_options": {}}),
        (text("Rates rose."), {"workspace_options": {"prompt-suggestions": "yes"}}),
        (text("Rates rose."), {"generation": Generation.TWO}),
        (text("Rates rose."), {"spec": make_spec(citations=CitationMode.OFF)}),
        (text("Rates r", reason=None), {}),
        (text(""), {}),
    ],
    ids=["switched off", "no switch", "older client", "not offered", "cut", "empty"],
)
def test_nobody_is_given_suggestions_who_does_not_want_them_or_has_no_answer(first, changes):
    outputs, provider = answered(first, **changes)
    assert len(provider.calls) == 1
    assert not any(isinstance(one, PromptSuggestions) for one in outputs)


def test_what_a_model_had_suggested_before_it_broke_is_counted():
    outputs, _ = answered(text("Rates rose."), broken(ProviderRefused("No."), '["Why?'))
    assert [type(one) for one in outputs] == [MessageChunk, StatusUpdate, Usage, Finish]
    assert (outputs[2].output_tokens, outputs[2].source) == (2, UsageSource.ESTIMATED)
