"""No call brings an image into Workspace that loads by itself."""

import json

import pytest

from copilot_admin.agent.client_functions.registry import Situation, function_named
from copilot_admin.agent.client_functions.samples import FULL_QUERY, WIDGET_UUID
from tests.agent.client_functions.offered_calls import asked, written
from tests.agent.engine_inputs import make_spec


def test_a_new_widget_leaves_without_images_that_load_by_themselves():
    image, link = "![a](http://e/x)", "[a](http://e/x)"
    widget = {"widget_type": "note", "name": "N", "data": image, "description": image}
    assert asked("add_generative_widget", **widget) == {
        "widget_type": "note", "name": "N", "data": link, "description": link,
    }  # fmt: skip


IMAGE, LINK = "![a](http://e/x)", "[a](http://e/x)"


@pytest.mark.parametrize(
    ("function", "given"),
    [
        ("add_widget_to_dashboard",
         {"data_sources": [{"id": WIDGET_UUID, "input_args": {"symbol": IMAGE}}]}),
        ("add_widget_to_dashboard",
         {"data_sources": [{"id": WIDGET_UUID, "input_args": {"inner_tab": IMAGE}}]}),
        ("update_widget_in_dashboard",
         {"data_sources": [{"id": WIDGET_UUID, "input_args": {"symbol": [{"x": IMAGE}, 1]}}]}),
        ("add_generative_widget",
         {"widget_type": "note", "name": IMAGE, "data": "x", "inner_tab": IMAGE}),
        ("manage_navigation_bar", {"operation": "add_tabs", "tabs": [IMAGE]}),
        ("save_skill", {"name": IMAGE, "instructions": IMAGE}),
        ("get_skill_content", {"slug": "memo", "reason": IMAGE}),
        ("assign_tasks_to_agents",
         {"task_requests": [{"description": IMAGE, "assigned_agent_id": "macro"}]}),
    ],
)  # fmt: skip
def test_no_argument_of_a_function_brings_an_image_that_loads_by_itself(function, given):
    asked_for = json.dumps(asked(function, **given))
    assert LINK in asked_for
    assert IMAGE not in asked_for


def test_an_image_from_where_the_builder_allows_stays_in_a_note_and_a_skill():
    spec = make_spec(features=frozenset({"generative-ui"}), html_sources=("http://e",))
    situation = Situation(spec=spec, query=FULL_QUERY)
    given = {"name": "S", "instructions": IMAGE}
    [offer] = function_named("save_skill").offers(situation)
    assert offer.arguments(written(offer, given)) == given


def test_rows_of_a_new_widget_have_no_image_in_them_and_its_chart_names_the_same_columns():
    rows = [{"day": IMAGE, IMAGE: 1, "more": [{"x": "<img src=http://e/x>"}]}]
    drawn = {"chartType": "bar", "xKey": "day", "yKey": [IMAGE]}
    clean = [{"day": LINK, LINK: 1, "more": [{"x": "< img src=http://e/x>"}]}]
    widget = {"name": "N", "data": rows}
    table = asked("add_generative_widget", **widget, widget_type="table")
    chart = asked("add_generative_widget", **widget, widget_type="chart", chart_params=drawn)
    assert (table["data"], chart["data"]) == (clean, clean)
    assert chart["chart_params"] == drawn | {"yKey": [LINK]}


def test_names_of_what_is_new_on_the_dashboard_have_no_image_in_them():
    image, link = "![a](https://a.example/?b)", "[a](https://a.example/?b)"
    widget = {"widget_type": "note", "name": image, "data": "Hello"}
    assert asked("add_generative_widget", **widget)["name"] == link
    named = {"operation": "add_tabs", "tabs": [image]}
    assert asked("manage_navigation_bar", **named)["tabs"] == [{"name": link}]
    renamed = {"operation": "rename_tabs", "rename_map": {image: image}}
    assert asked("manage_navigation_bar", **renamed)["rename_map"] == {image: link}
    gone = {"operation": "remove_tabs", "tabs": [image]}
    assert asked("manage_navigation_bar", **gone)["tabs"] == [{"name": image}]
