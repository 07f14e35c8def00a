"""Error messages for a model truncate long names."""

from dataclasses import replace

import pytest

from copilot_admin.agent.text import MAX_NAME_LENGTH, MAX_NAMES, join_names, quote
from copilot_admin.agent.values.spec import ComponentUse
from tests.agent.answer_requests import (
    make_query,
    make_request,
    make_spec,
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
    ("get_params_options", {"widget": LONG, "param": "venue"}),
    ("update_widget_in_dashboard", {"data_sources": [{"widget_uuid": LONG}]}),
    ("assign_tasks_to_agents", {"task_requests": [{"assigned_agent_id": LONG, "description": ""}]}),
    ("execute_agent_tool", {"tool_name": LONG}),
    ("manage_navigation_bar", {"operation": "rename_tabs", "rename_map": {LONG: [LONG]}}),
    ("chart", {**NAMED, "type": "bar", "x": LONG, "y": [LONG]}),
    ("table", {**NAMED, "rows": [{LONG: [LONG]}]}),
    ("calculator", {"expression": LONG}),
    ("table_analyst", {"rows": ROWS, "operations": [{"op": "sort", "by": LONG * 2}]}),
]


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_long_names_are_truncated_in_an_error_message(name, arguments):
    spec = make_spec(
        tools=("chart", "table"),
        components=(*(ComponentUse(name=one, version="v1") for one in COMPONENTS),),
    )
    with ScriptedProvider([call(name, **arguments), text("Sorry.")]) as provider:
        outputs_of(make_request(provider, query=FULL_QUERY, spec=spec))
    told = provider.calls[1].messages[-1].text
    assert "x" * (MAX_NAME_LENGTH + 1) not in told
    assert len(told) < 2000


def test_an_unknown_tool_is_answered_with_the_first_of_many_tools():
    tools = tuple({"name": f"tool{number:05}"} for number in range(2000))
    query = replace(make_query(), tools=tools)
    for script in (call("gone"), call("execute_agent_tool", tool_name="gone")):
        with ScriptedProvider([script, text("Sorry.")]) as provider:
            outputs_of(make_request(provider, query=query))
        told = provider.calls[1].messages[-1].text
        assert told.endswith(f"tool{MAX_NAMES - 1:05}, ….")


def test_short_names_stay_as_they_are():
    assert (quote("it's"), quote(None), join_names([])) == ('"it\'s"', "'None'", "")
    assert join_names(map(str, range(MAX_NAMES))).endswith(f", {MAX_NAMES - 1}")
