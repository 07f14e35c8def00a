"""Contract of every client function: its tools, its calls, and calls that come back."""

from dataclasses import replace
import re
from typing import get_args

from openbb_ai.models import FunctionCallSSE, FunctionCallSSEData
import pytest

from copilot_admin.agent.client_functions.base import ToolScope
from copilot_admin.agent.client_functions.registry import CLIENT_FUNCTIONS, function_named, names
from copilot_admin.agent.values.model_call import ToolCall
from copilot_admin.agent.values.spec import WidgetDataMode
from protocol.events import FunctionCall, MessageChunk
from protocol.features import FEATURE_KEYS
from protocol.models import Generation
from protocol.serializers import serialize
from tests.agent.answer_requests import make_query, make_request, make_spec, outputs_of
from tests.agent.client_functions.samples import FULL_QUERY, SAMPLES, made_call, tools_of
from tests.agent.scripted import ScriptedProvider, Step, call, text

# Functions that the released client library knows; Workspace may know more by now.
PEER = get_args(FunctionCallSSEData.model_fields["function"].annotation)
every = pytest.mark.parametrize(("name", "sample"), SAMPLES.items())


def tool_of(name, sample):
    tool = tools_of(sample.query)[sample.tool or name]
    assert tool.function == name
    return tool


def test_every_function_has_a_sample():
    assert list(SAMPLES) == [*names()]
    assert set(PEER) - set(names()) == {"get_widget_data"}  # which has rules of its own
    assert function_named("telepathy") is None


@every
def test_a_tool_has_a_schema(name, sample):
    schema = tool_of(name, sample).schema
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", schema.name)
    assert schema.parameters["type"] == "object"
    assert schema.description


@every
def test_a_call_is_sent_or_answered_here(name, sample):
    tool = tool_of(name, sample)
    if tool.answer:
        assert tool.answer(made_call(tool, sample.arguments))
        return
    with ScriptedProvider([call(tool.schema.name, **sample.arguments)]) as provider:
        [event] = outputs_of(make_request(provider, query=sample.query))
    assert isinstance(event, FunctionCall)
    assert event.function == name
    assert event.extra_state["copilot_function_call_arguments"] == event.input_arguments
    [(_, data)] = serialize(event, Generation.THREE)
    assert data["function"] == name
    if name in PEER:
        assert FunctionCallSSE.model_validate({"data": data}).data.function == name


@every
def test_a_call_that_comes_back_reads_as_one_that_would_make_it_again(name, sample):
    tool = tool_of(name, sample)
    if not tool.arguments:
        return
    arguments = tool.arguments(made_call(tool, sample.arguments))
    shown, made = function_named(name).to_tool_call(arguments, sample.query)
    assert shown == tool.schema.name
    assert made.keys() >= sample.arguments.keys()
    assert tool.arguments(made_call(tool, made)) == arguments


@pytest.mark.parametrize("generation", [Generation.ONE, Generation.TWO])
def test_older_clients_know_no_function(generation):
    assert tools_of(replace(FULL_QUERY, generation=generation)) == {}


def test_a_request_that_brings_only_a_question_has_no_function():
    scope = ToolScope(spec=make_spec(features=FEATURE_KEYS), query=make_query())
    assert [tool for one in CLIENT_FUNCTIONS for tool in one.define_tools(scope)] == []


def test_without_widgets_none_can_be_added_or_changed():
    state = replace(make_query(), workspace_state={"current_dashboard_info": {}})
    assert not set(PEER) & set(tools_of(state))
    changing = set(tools_of(state, features=frozenset({"generative-ui"})))
    assert changing >= {"add_generative_widget", "manage_navigation_bar"}
    assert not changing & {"add_widget_to_dashboard", "update_widget_in_dashboard"}


@pytest.mark.parametrize("arguments", ["null", "[]", "", '"text"'])
def test_arguments_that_are_not_an_object_do_not_end_the_answer(arguments):
    spec = replace(make_spec(), tools=("table", "chart", "html"), widget_data=WidgetDataMode.ASK)
    with ScriptedProvider([text("Hello.")]) as provider:
        outputs_of(make_request(provider, query=FULL_QUERY, spec=spec))
        offered = [tool.name for tool in provider.calls[0].tools]
    assert {"kb_search_docs", "get_widget_data", "table"} < {*offered}
    for name in offered:
        made = ToolCall(id="1", name=name, arguments=arguments)
        steps = [Step((made, *text("").actions[-1:])), text("Another.")]
        with ScriptedProvider(steps) as provider:
            outputs = outputs_of(make_request(provider, query=FULL_QUERY, spec=spec))
        assert MessageChunk("Another.") in outputs or isinstance(outputs[-1], FunctionCall), name
