"""Every client function is offered where it can be done and leaves as Workspace wants it: the contract."""

from dataclasses import replace
import re
from typing import get_args

from openbb_ai.models import FunctionCallSSE, FunctionCallSSEData
import pytest

from copilot_admin.agent.client_functions.registry import Situation, function_named, names
from copilot_admin.agent.client_functions.samples import FULL_QUERY
from copilot_admin.agent.values.model_call import ToolCall
from copilot_admin.agent.values.spec import WidgetDataMode
from protocol.dialects import say
from protocol.events import FunctionCall, MessageChunk
from protocol.features import FEATURE_KEYS
from protocol.models import Generation
from tests.agent.client_functions.offered_calls import offers, written
from tests.agent.engine_inputs import make_engine_input, make_query, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, Step, call, text

FUNCTIONS = {name: function for name in names() if (function := function_named(name))}
SAMPLES = [
    pytest.param(name, sample, id=f"{name}-{number}")
    for name, function in FUNCTIONS.items()
    for number, sample in enumerate(function.samples, 1)
]
# The functions that the peer's release knows; Workspace may know more by now.
PEER = get_args(FunctionCallSSEData.model_fields["function"].annotation)


def offered(name, sample):
    """The offer that a sample calls."""
    offer = offers(sample.query)[sample.tool or name]
    assert offer.function == name
    return offer


CALLED = [one for one in SAMPLES if offered(*one.values).arguments]
ANSWERED = [one for one in SAMPLES if offered(*one.values).answer]


def test_every_function_has_a_sample():
    assert [name for name, function in FUNCTIONS.items() if not function.samples] == []
    assert set(PEER) - set(names()) == {"get_widget_data"}  # which has rules of its own
    assert function_named("telepathy") is None


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_every_function_is_offered_with_a_schema(name, sample):
    schema = offered(name, sample).schema
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", schema.name)
    assert schema.parameters["type"] == "object"
    assert schema.description


@pytest.mark.parametrize(("name", "sample"), CALLED)
def test_every_function_leaves_as_the_peer_reads_it(name, sample):
    offer = offered(name, sample)
    with ScriptedProvider([call(offer.schema.name, **sample.arguments)]) as provider:
        [event] = outputs_of(make_engine_input(provider, query=sample.query))
    assert isinstance(event, FunctionCall)
    assert event.function == name
    assert event.extra_state
    assert event.extra_state["copilot_function_call_arguments"] == event.input_arguments
    [(_, data)] = say(event, Generation.THREE)
    assert data["function"] == name
    if name in PEER:
        assert FunctionCallSSE.model_validate({"data": data}).data.function == name


@pytest.mark.parametrize(("name", "sample"), ANSWERED)
def test_what_needs_no_client_is_answered_in_words(name, sample):
    offer = offered(name, sample)
    assert offer.answer(written(offer, sample.arguments))


@pytest.mark.parametrize(("name", "sample"), CALLED)
def test_a_call_that_comes_back_is_told_in_words_that_would_make_it_again(name, sample):
    offer = offered(name, sample)
    arguments = offer.arguments(written(offer, sample.arguments))
    tool, told = function_named(name).recalled(arguments, sample.query)
    assert tool == offer.schema.name
    assert told.keys() >= sample.arguments.keys()
    assert offer.arguments(written(offer, told)) == arguments


@pytest.mark.parametrize("generation", [Generation.ONE, Generation.TWO])
def test_older_clients_know_none_of_them(generation):
    assert offers(replace(FULL_QUERY, generation=generation)) == {}


def test_nothing_is_offered_where_nothing_can_be_done():
    known = set(PEER)
    assert not known & set(offers(make_query()))
    state = replace(make_query(), workspace_state={"current_dashboard_info": {}})
    assert not known & set(offers(state))
    changing = set(offers(state, features=frozenset({"generative-ui"})))
    assert changing >= {"add_generative_widget", "manage_navigation_bar"}
    assert not changing & {"add_widget_to_dashboard", "update_widget_in_dashboard"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_is_for_a_request_that_brings_nothing_but_a_question(name):
    spec = make_spec(features=FEATURE_KEYS)
    situation = Situation(spec=spec, query=make_query())
    assert [*FUNCTIONS[name].offers(situation)] == []


@pytest.mark.parametrize(
    "arguments",
    [
        *("null", "[]", ""),
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("7", "1.5", "true", '"text"')),
    ],
)
def test_arguments_that_are_no_object_are_a_mistake_of_any_tool_and_the_answer_goes_on(arguments):
    spec = replace(make_spec(), tools=("table", "chart", "html"), widget_data=WidgetDataMode.ASK)
    with ScriptedProvider([text("Hello.")]) as provider:
        outputs_of(make_engine_input(provider, query=FULL_QUERY, spec=spec))
        offered = [tool.name for tool in provider.calls[0].tools]
    assert {"kb_search_docs", "get_widget_data", "table"} < {*offered}
    for name in offered:
        made = ToolCall(id="1", name=name, arguments=arguments)
        steps = [Step((made, *text("").actions[-1:])), text("Another.")]
        with ScriptedProvider(steps) as provider:
            outputs = outputs_of(make_engine_input(provider, query=FULL_QUERY, spec=spec))
        assert MessageChunk("Another.") in outputs or isinstance(outputs[-1], FunctionCall), name
