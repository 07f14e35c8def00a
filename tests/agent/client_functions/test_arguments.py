"""What Workspace is sent for a call, and what the model is told of a wrong one."""

from dataclasses import replace
import json
from typing import Any

import pytest

from copilot_admin.agent.client_functions.registry import function_named
from tests.agent.answer_requests import make_query
from tests.agent.client_functions.samples import (
    FULL_QUERY,
    WIDGET_UUID,
    made_call,
    mistake,
    sent,
    tools_of,
)

IMAGE, LINK = "![a](http://e/x)", "[a](http://e/x)"
ROWS = [{"day": "Mon", "price": 1}]
SOURCE = {"widget_uuid": WIDGET_UUID, "origin": "OpenBB API", "id": "price"}
CHANGED = {"origin": "OpenBB API", "id": "price", "input_args": {"symbol": "AAPL"}}
TASK = {"id": "1", "description": "Do.", "assigned_agent_id": "macro"}
LINE = {"chartType": "line", "xKey": "day", "yKey": ["price"]}
PIE = {"chartType": "pie", "angleKey": "price", "calloutLabelKey": "day"}
NO_CHART = "A chart needs 'chart_params' with 'chartType', 'xKey' and at least one key in 'yKey'."
NO_TEXT = "A widget of the type '{}' needs a text as 'data'."


def widget(kind: str, data: Any, **more: Any) -> dict[str, Any]:
    return {"widget_type": kind, "name": "N", "data": data, **more}


def chart(params: Any, rows: Any = ROWS) -> dict[str, Any]:
    return widget("chart", rows, chart_params=params)


INHERITED = {"options_endpoint_input_args": {"ticker": "TSLA"}}
OPTIONS = {"origin": "OpenBB API", "id": "price", "param": "venue", **INHERITED}
IN_A_TAB = {"widget_uuid": WIDGET_UUID, "input_args": {"inner_tab": "Rates"}}
RENAMED = {"operation": "rename_tabs", "rename_map": {"a": "b"}}


@pytest.mark.parametrize(
    ("function", "given", "arguments"),
    [
        ("get_params_options", {"widget": WIDGET_UUID, "param": "venue"},
         {"param_options_queries": [OPTIONS]}),
        ("add_widget_to_dashboard", {"data_sources": [IN_A_TAB, {"id": WIDGET_UUID}]},
         {"data_sources": [
             {**SOURCE, "input_args": {"symbol": "TSLA", "days": 5, "inner_tab": "Rates"}},
             {**SOURCE, "input_args": {"symbol": "TSLA", "days": 5}}]}),
        ("update_widget_in_dashboard", {"data_sources": [CHANGED]},
         {"data_sources": [{**SOURCE, "input_args": {"symbol": "AAPL", "days": 5}}]}),
        ("add_generative_widget", widget("html", "<p>x</p>", description="d"),
         widget("html", "<p>x</p>", description="d")),
        ("add_generative_widget", widget("table", ROWS, inner_tab="Rates"),
         widget("table", ROWS, inner_tab="Rates")),
        ("add_generative_widget", chart(LINE), chart(LINE)),
        ("add_generative_widget", chart(PIE), chart({**PIE, "xKey": "day", "yKey": ["price"]})),
        ("manage_navigation_bar", RENAMED, RENAMED),
        ("manage_navigation_bar", {"operation": "create", "tabs": ["a", {"name": "b"}]},
         {"operation": "create", "tabs": [{"name": "a"}, {"name": "b"}]}),
        ("get_skill_content", {"slug": "/brief", "reason": "fits"},
         {"slug": "brief", "reason": "fits"}),
        ("save_skill", {"name": "Brief", "instructions": ""}, {"name": "Brief"}),
        ("execute_agent_tool", {"q": "rates"},
         {"server_id": "srv-1", "tool_name": "kb.search/docs", "parameters": {"q": "rates"}}),
        ("assign_tasks_to_agents",
         {"task_requests": [{"description": "Do.", "assigned_agent_id": "macro"}]},
         {"task_requests": [{**TASK, "assigned_holder_url": "https://m"}]}),
    ],
)  # fmt: skip
def test_arguments_are_those_that_workspace_expects(function, given, arguments):
    assert sent(function, **given) == arguments


@pytest.mark.parametrize(
    ("function", "given", "sentence"),
    [
        ("get_params_options", {"widget": "x", "param": "venue"},
         f"There are no options to get for 'x'. Widgets with some: {WIDGET_UUID}."),
        ("get_params_options", {"widget": WIDGET_UUID, "param": "days"},
         f"The parameter 'days' of '{WIDGET_UUID}' has no options to get. "
         "Those that have: symbol, venue."),
        ("add_widget_to_dashboard", {"data_sources": []}, "data_sources: "),
        ("add_widget_to_dashboard", {"data_sources": [{"widget_uuid": "x"}]},
         "There is no widget with the id 'x'."),
        ("update_widget_in_dashboard",
         {"data_sources": [{"widget_uuid": WIDGET_UUID, "input_args": {"y": 1}}]},
         f"The widget '{WIDGET_UUID}' has no parameter 'y'."),
        ("update_widget_in_dashboard", {"data_sources": [{"widget_uuid": WIDGET_UUID}]},
         f"The widget '{WIDGET_UUID}' needs 'input_args': what to change."),
        ("update_widget_in_dashboard", {"data_sources": [{"id": "news"}]},
         "The widget 'news' is not on the dashboard. Add it instead."),
        ("add_generative_widget", widget("note", ROWS), NO_TEXT.format("note")),
        ("add_generative_widget", widget("html", ""), NO_TEXT.format("html")),
        ("add_generative_widget", widget("table", "x"),
         "A widget of the type 'table' needs a list of rows as 'data'."),
        ("add_generative_widget", widget("chart", ROWS), NO_CHART),
        ("add_generative_widget", chart({"chartType": "bar"}), NO_CHART),
        ("add_generative_widget", chart({"chartType": "bar", "xKey": "day"}), NO_CHART),
        ("add_generative_widget", chart({**LINE, "yKey": ["p"]}),
         "The rows have no column 'p'. Their columns: day, price."),
        ("add_generative_widget", chart({**LINE, "chartType": "scatter"}),
         "The column 'day' has text in it; x of a scatter chart takes numbers only."),
        ("add_generative_widget", chart({**LINE, "yKey": ["price"] * 21}), "at most 20 items"),
        ("manage_navigation_bar", {"operation": "rename_tabs"},
         "rename_tabs needs 'rename_map': an object of old to new names."),
        ("manage_navigation_bar", {"operation": "remove_tabs"},
         "remove_tabs needs 'tabs': a list of objects with a 'name'."),
        ("get_skill_content", {"slug": "poem"}, "There is no skill 'poem'. The skills: brief, memo."),
        ("save_skill", {"name": " "},
         "A skill needs a name or instructions. Give at least one of them."),
        ("execute_agent_tool", {}, "q must be given."),
        ("assign_tasks_to_agents", {"task_requests": [{**TASK, "assigned_agent_id": "x"}]},
         "There is no agent 'x'. The agents: macro."),
    ],
)  # fmt: skip
def test_a_wrong_call_is_explained_to_the_model(function, given, sentence):
    assert sentence in mistake(function, **given)


@pytest.mark.parametrize(
    ("given", "found"), [("https://n/", "https://n"), ("", "https://m"), ("x", "https://m")]
)
def test_the_url_decides_between_agents_with_one_id(given, found):
    agents = [{"id": "macro", "holder_url": url} for url in ("https://m", "https://n")]
    query = replace(FULL_QUERY, workspace_state={"agents": agents})
    task = {**TASK, "assigned_holder_url": given}
    made = sent("assign_tasks_to_agents", query, task_requests=[task])
    assert made["task_requests"][0]["assigned_holder_url"] == found


def test_earlier_calls_are_named_as_the_model_made_them():
    options = function_named("get_params_options")
    asked = {"param_options_queries": [{"origin": "o", "id": "i", "param": "p"}]}
    name, made = options.to_tool_call(asked, make_query())
    assert (name, made) == ("get_params_options", {"widget": "o/i", "param": "p"})
    assert options.to_tool_call({}, make_query()) == ("get_params_options", {})
    extra = function_named("get_extra_widget_data")
    assert extra.to_tool_call({"a": 1}, make_query()) == ("get_widget_data", {"a": 1})


@pytest.mark.parametrize(
    ("function", "given"),
    [
        ("update_widget_in_dashboard",
         {"data_sources": [{"id": WIDGET_UUID, "input_args": {"symbol": [{"x": IMAGE}, 1]}}]}),
        ("add_generative_widget",
         {**widget("note", IMAGE, description=IMAGE, inner_tab=IMAGE), "name": IMAGE}),
        ("manage_navigation_bar", {"operation": "rename_tabs", "rename_map": {"a": IMAGE}}),
        ("get_skill_content", {"slug": "memo", "reason": IMAGE}),
    ],
)  # fmt: skip
def test_no_call_brings_an_image_that_loads_by_itself(function, given):
    text = json.dumps(sent(function, **given))
    assert LINK in text
    assert IMAGE not in text


def test_an_image_from_an_allowed_origin_stays_in_a_skill():
    given = {"name": "S", "instructions": IMAGE}
    tool = tools_of(html_sources=("http://e",))["save_skill"]
    assert tool.arguments(made_call(tool, given)) == given


def test_rows_of_a_new_widget_have_no_images_and_its_chart_names_the_same_columns():
    rows = [{"day": IMAGE, IMAGE: 1, "more": [{"x": "<img src=http://e/x>"}]}]
    drawn = {"chartType": "bar", "xKey": "day", "yKey": [IMAGE]}
    made = sent("add_generative_widget", **chart(drawn, rows))
    assert made["data"] == [{"day": LINK, LINK: 1, "more": [{"x": "< img src=http://e/x>"}]}]
    assert made["chart_params"] == drawn | {"yKey": [LINK]}
