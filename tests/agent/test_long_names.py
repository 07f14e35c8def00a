"""What a model is told of a wrong call repeats no name without an end."""

from dataclasses import replace

import pytest

from copilot_admin.agent.text import MAX_NAME_LENGTH, MAX_NAMES, join_names, quote
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from copilot_admin.agent.values.spec import ComponentUse
from protocol.models import Widgets
from tests.agent.answer_requests import (
    make_query,
    make_request,
    make_spec,
    make_widget,
    outputs_of,
)
from tests.agent.client_functions.samples import FULL_QUERY, WIDGET_UUID
from tests.agent.scripted import ScriptedProvider, call, text

COMPONENTS = ("calculator", "table_analyst")
LONG = "x" * 100_000
ROWS = [{LONG: "a", "b": "text", "c": 1}]
NAMED = {"name": "T", "description": "D", "rows": ROWS}
WRONG = [
    ("get_widget_data", {"widgets": [{"id": LONG}]}),
    ("get_widget_data", {"widgets": [{"id": WIDGET_UUID, "params": {LONG: 1}}]}),
    ("get_widget_data", {"widgets": [{"id": WIDGET_UUID, "params": {LONG: 1}, LONG: LONG}]}),
    ("get_params_options", {"widget": LONG, "param": "venue"}),
    ("get_params_options", {"widget": WIDGET_UUID, "param": LONG}),
    ("get_skill_content", {"slug": LONG}),
    ("update_widget_in_dashboard", {"data_sources": [{"widget_uuid": LONG}]}),
    ("assign_tasks_to_agents", {"task_requests": [{"assigned_agent_id": LONG, "description": ""}]}),
    ("execute_agent_tool", {"tool_name": LONG}),
    ("manage_navigation_bar", {"operation": "rename_tabs", "rename_map": {LONG: [LONG]}}),
    ("chart", {**NAMED, "type": "bar", "x": "b", "y": ["d"]}),
    ("chart", {**NAMED, "type": "bar", "x": LONG, "y": [LONG]}),
    ("chart", {**NAMED, "type": "bar", "x": "b", "y": [LONG * 2]}),
    ("table", {**NAMED, "rows": [{LONG: [LONG]}]}),
    ("calculator", {LONG: 1}),
    ("calculator", {"expression": LONG}),
    ("table_analyst", {"rows": ROWS, "operations": [{"op": "sort", "by": LONG * 2}]}),
]


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_a_wrong_call_is_told_in_a_sentence_whatever_it_names(name, arguments):
    spec = make_spec(
        tools=("chart", "table"),
        components=(*(ComponentUse(name=one, version="v1") for one in COMPONENTS),),
    )
    with ScriptedProvider([call(name, **arguments), text("Sorry.")]) as provider:
        outputs_of(make_request(provider, query=FULL_QUERY, spec=spec))
    told = provider.calls[1].messages[-1].text
    assert "x" * (MAX_NAME_LENGTH + 1) not in told
    assert len(told) < 2000


def test_a_wrong_call_among_thousands_of_tools_is_told_the_first_of_them():
    tools = tuple({"name": f"tool{number:05}"} for number in range(2000))
    query = replace(make_query(), tools=tools)
    for script in (call("gone"), call("execute_agent_tool", tool_name="gone")):
        with ScriptedProvider([script, text("Sorry.")]) as provider:
            outputs_of(make_request(provider, query=query))
        told = provider.calls[1].messages[-1].text
        assert told.endswith(f"tool{MAX_NAMES - 1:05}, ….")


def test_an_endless_list_of_what_a_tool_must_be_given_is_not_repeated():
    names = [f"argument{number}" for number in range(1_000)]
    schema = {"properties": {name: {"type": "string"} for name in names}, "required": names}
    tool = {"name": "t", "input_schema": schema}
    with ScriptedProvider([call("t"), text("Sorry.")]) as provider:
        outputs_of(make_request(provider, query=replace(make_query(), tools=(tool,))))
    told = provider.calls[1].messages[-1].text
    assert told.endswith(f"argument{MAX_NAMES - 1}, … must be given.")


def test_names_of_the_client_are_cut_as_well():
    widget = make_widget(name="Price", widget_id=LONG)
    query = replace(make_query(), widgets=Widgets(secondary=(widget,)))
    with ScriptedProvider(
        [call("get_widget_data", widgets=[{"id": "gone"}]), text("Sorry.")]
    ) as provider:
        outputs_of(make_request(provider, query=query))
    assert "x" * (MAX_NAME_LENGTH + 1) not in provider.calls[1].messages[-1].text


def test_a_mistake_has_ten_thousand_characters_at_most():
    assert len(ToolMistake(LONG).public) == 10_001
    assert ToolMistake("Write less.").public == "Write less."


def test_short_names_stay_as_they_are():
    assert (quote("it's"), quote(None), join_names([])) == ('"it\'s"', "'None'", "")
    assert join_names(map(str, range(MAX_NAMES))).endswith(f", {MAX_NAMES - 1}")
