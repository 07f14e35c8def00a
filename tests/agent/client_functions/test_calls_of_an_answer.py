"""Which call of an answer leaves first, how a wrong one is repaired, and how often the client is asked."""

from dataclasses import replace

import pytest

from copilot_admin.agent.client_functions.samples import FULL_QUERY, MCP_TOOL, WIDGET_UUID
from copilot_admin.agent.values.engine_input import Recollection, ServerTool
from copilot_admin.agent.values.model_call import ToolCall
from copilot_admin.agent.values.spec import WidgetDataMode
from protocol.events import FunctionCall, StatusUpdate
from tests.agent.engine_inputs import (
    make_engine_input,
    make_query,
    make_spec,
    outputs_of,
    recalling,
)
from tests.agent.scripted import ScriptedProvider, Step, call, text


def test_selected_widgets_come_before_every_other_call():
    spec = make_spec(widget_data=WidgetDataMode.FETCH)
    with ScriptedProvider([]) as provider:
        [event] = outputs_of(make_engine_input(provider, query=FULL_QUERY, spec=spec))
    assert event.function == "get_widget_data"
    both = Step(
        (
            ToolCall(id="1", name="kb_search_docs", arguments='{"q": "x"}'),
            ToolCall(id="2", name="get_widget_data", arguments=f'{{"widgets": [{{"id": "{WIDGET_UUID}"}}]}}'),
            *text("").actions[-1:],
        )
    )  # fmt: skip
    with ScriptedProvider([both]) as provider:
        [event] = outputs_of(make_engine_input(provider, query=FULL_QUERY))
    assert event.function == "get_widget_data"


def test_after_a_wrong_call_for_data_a_right_one_for_a_tool_leaves():
    both = Step(
        (
            ToolCall(id="1", name="get_widget_data", arguments="{}"),
            ToolCall(id="2", name="kb_search_docs", arguments='{"q": "x"}'),
            *text("").actions[-1:],
        )
    )
    with ScriptedProvider([both]) as provider:
        [event] = outputs_of(make_engine_input(provider, query=FULL_QUERY))
    assert event.function == "execute_agent_tool"


def test_a_wrong_call_is_repaired_once_and_then_explained():
    script = [call("kb_search_docs"), call("kb_search_docs"), text("Without it.")]
    with ScriptedProvider(script) as provider:
        outputs = outputs_of(make_engine_input(provider, query=FULL_QUERY))
    warning = next(one for one in outputs if isinstance(one, StatusUpdate))
    assert "q must be given" in warning.message
    assert provider.calls[2].tools == ()
    assert [one.name for one in outputs if isinstance(one, ServerTool)] == ["kb_search_docs"] * 2


@pytest.mark.parametrize("widget_data", [WidgetDataMode.ASK, WidgetDataMode.OFF])
def test_the_client_is_not_asked_for_ever(widget_data):
    spent = recalling(Recollection(client_calls={"execute_agent_tool": 16}))
    script = [call("kb_search_docs", q="x"), text("Done.")]
    query = replace(make_query(), tools=(MCP_TOOL,))
    with ScriptedProvider(script) as provider:
        outputs = outputs_of(
            make_engine_input(
                provider, query=query, recall=spent, spec=make_spec(widget_data=widget_data)
            )
        )
    assert provider.calls[1].tools == ()
    assert any(isinstance(one, StatusUpdate) for one in outputs)
    assert "Answer with what you have." in provider.calls[1].messages[-1].text


def test_words_before_a_client_call_are_held_back():
    script = [call("kb_search_docs", q="x", before=("I will look.",))]
    with ScriptedProvider(script) as provider:
        outputs = outputs_of(make_engine_input(provider, query=FULL_QUERY))
    assert [type(one) for one in outputs] == [FunctionCall]
