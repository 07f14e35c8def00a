"""What a model asks of a dashboard and changes on it: options, widgets, tabs, parameters."""

from dataclasses import replace
import json

import pytest

from copilot_admin.agent.client_functions.registry import function_named
from copilot_admin.agent.client_functions.samples import FULL_QUERY, NEWS, PRICES, WIDGET_UUID
from copilot_admin.agent.toolkits.ranking import ranked, scores, words_of
from copilot_admin.agent.values.model_call import ModelRole, TextDelta
from protocol.models import HumanMessage, WidgetParam, Widgets
from tests.agent.client_functions.offered_calls import asked, mistake
from tests.agent.engine_inputs import make_engine_input, make_query, make_widget, outputs_of
from tests.agent.scripted import ScriptedProvider, call, text


def test_options_are_asked_for_with_what_the_endpoint_inherits():
    assert asked("get_params_options", widget=WIDGET_UUID, param="venue") == {
        "param_options_queries": [
            {
                "origin": "OpenBB API",
                "id": "price",
                "param": "venue",
                "options_endpoint_input_args": {"ticker": "TSLA"},
            }
        ]
    }


def test_wrong_questions_for_options_are_told():
    assert mistake("get_params_options", widget="x", param="venue") == (
        f"There are no options to get for 'x'. Widgets with some: {WIDGET_UUID}."
    )
    assert mistake("get_params_options", widget=WIDGET_UUID, param="days") == (
        f"The parameter 'days' of '{WIDGET_UUID}' has no options to get. Those that have: symbol, venue."
    )


def test_a_question_for_options_of_a_widget_that_is_gone_is_named_by_its_place():
    options = function_named("get_params_options")
    arguments = {"param_options_queries": [{"origin": "o", "id": "i", "param": "p"}]}
    assert options.recalled(arguments, make_query()) == (
        "get_params_options",
        {"widget": "o/i", "param": "p"},
    )
    assert options.recalled({}, make_query()) == ("get_params_options", {})


def test_a_widget_is_added_and_changed_with_the_arguments_it_has():
    source = {"widget_uuid": WIDGET_UUID, "origin": "OpenBB API", "id": "price"}
    in_a_tab = {"widget_uuid": WIDGET_UUID, "input_args": {"inner_tab": "Rates"}}
    assert asked("add_widget_to_dashboard", data_sources=[in_a_tab, {"id": WIDGET_UUID}]) == {
        "data_sources": [
            {**source, "input_args": {"symbol": "TSLA", "days": 5, "inner_tab": "Rates"}},
            {**source, "input_args": {"symbol": "TSLA", "days": 5}},
        ]
    }
    changed = {"origin": "OpenBB API", "id": "price", "input_args": {"symbol": "AAPL"}}
    assert asked("update_widget_in_dashboard", data_sources=[changed]) == {
        "data_sources": [{**source, "input_args": {"symbol": "AAPL", "days": 5}}]
    }


def test_wrong_changes_of_the_dashboard_are_told():
    assert "no widget with the id 'x'" in mistake(
        "add_widget_to_dashboard", data_sources=[{"widget_uuid": "x"}]
    )
    assert "data_sources: " in mistake("add_widget_to_dashboard", data_sources=[])
    assert "has no parameter 'y'" in mistake(
        "update_widget_in_dashboard",
        data_sources=[{"widget_uuid": WIDGET_UUID, "input_args": {"y": 1}}],
    )
    assert mistake("update_widget_in_dashboard", data_sources=[{"widget_uuid": WIDGET_UUID}]) == (
        f"The widget '{WIDGET_UUID}' needs 'input_args': what to change."
    )
    assert (
        mistake(
            "update_widget_in_dashboard",
            replace(
                FULL_QUERY, widgets=Widgets(primary=(PRICES, replace(NEWS, params=PRICES.params)))
            ),
            data_sources=[{"id": "news", "input_args": {"days": 1}}],
        )
        == "The widget 'news' is not on the dashboard. Add it instead."
    )


ROWS = [{"day": "Mon", "price": 1}]
NO_CHART = "A chart needs 'chart_params' with 'chartType', 'xKey' and at least one key in 'yKey'."


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        (
            {"widget_type": "html", "name": "H", "data": "<p>x</p>", "description": "d"},
            {"widget_type": "html", "data": "<p>x</p>", "name": "H", "description": "d"},
        ),
        (
            {"widget_type": "table", "name": "T", "data": ROWS, "inner_tab": "Rates"},
            {"widget_type": "table", "data": ROWS, "name": "T", "inner_tab": "Rates"},
        ),
        (
            {"widget_type": "chart", "name": "C", "data": ROWS,
             "chart_params": {"chartType": "line", "xKey": "day", "yKey": ["price"]}},
            {"widget_type": "chart", "data": ROWS, "name": "C",
             "chart_params": {"chartType": "line", "xKey": "day", "yKey": ["price"]}},
        ),
        (
            {"widget_type": "chart", "name": "C", "data": ROWS,
             "chart_params": {"chartType": "pie", "angleKey": "price", "calloutLabelKey": "day"}},
            {"widget_type": "chart", "data": ROWS, "name": "C",
             "chart_params": {"chartType": "pie", "xKey": "day", "yKey": ["price"],
                              "angleKey": "price", "calloutLabelKey": "day"}},
        ),
    ],
)  # fmt: skip
def test_a_widget_is_made_of_text_or_rows(given, arguments):
    assert asked("add_generative_widget", **given) == arguments


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"widget_type": "note", "data": ROWS},
            "A widget of the type 'note' needs a text as 'data'.",
        ),
        (
            {"widget_type": "html", "data": ""},
            "A widget of the type 'html' needs a text as 'data'.",
        ),
        (
            {"widget_type": "table", "data": "x"},
            "A widget of the type 'table' needs a list of rows as 'data'.",
        ),
        ({"widget_type": "chart", "data": ROWS}, NO_CHART),
        ({"widget_type": "chart", "data": ROWS, "chart_params": {"chartType": "bar"}}, NO_CHART),
        (
            {"widget_type": "chart", "data": ROWS,
             "chart_params": {"chartType": "bar", "xKey": "day"}},
            NO_CHART,
        ),
        (
            {"widget_type": "chart", "data": ROWS,
             "chart_params": {"chartType": "bar", "xKey": "day", "yKey": ["p"]}},
            "The rows have no column 'p'. Their columns: day, price.",
        ),
        (
            {"widget_type": "chart", "data": ROWS,
             "chart_params": {"chartType": "scatter", "xKey": "day", "yKey": ["price"]}},
            "The column 'day' has text in it; x of a scatter chart takes numbers only. Name another "
            "x, or draw a line or bar chart.",
        ),
        ({"widget_type": "chart", "data": [{"day": "Mon", "p": 1}],
             "chart_params": {"chartType": "bar", "xKey": "day", "yKey": ["p"] * 21}},
         "Wrong arguments for the tool 'add_generative_widget': chart_params.yKey: List should have "
         "at most 20 items after validation, not 21."),
    ],
)  # fmt: skip
def test_a_widget_that_cannot_be_made_is_told(given, told):
    assert mistake("add_generative_widget", name="N", **given) == told


def test_tabs_are_made_and_renamed():
    assert asked("manage_navigation_bar", operation="rename_tabs", rename_map={"a": "b"}) == {
        "operation": "rename_tabs",
        "rename_map": {"a": "b"},
    }
    assert asked("manage_navigation_bar", operation="create", tabs=["a", {"name": "b"}]) == {
        "operation": "create",
        "tabs": [{"name": "a"}, {"name": "b"}],
    }
    assert "needs 'rename_map'" in mistake("manage_navigation_bar", operation="rename_tabs")
    assert "needs 'tabs'" in mistake("manage_navigation_bar", operation="remove_tabs")


def test_the_model_is_told_of_the_dashboard_and_its_tabs():
    with ScriptedProvider([text("It has prices.")]) as provider:
        outputs_of(make_engine_input(provider, query=FULL_QUERY))
    system = provider.calls[0].messages[0]
    assert system.role is ModelRole.SYSTEM
    row = {
        "dashboard": "Morning </data>",
        "tabs": [
            {"tab": "rates", "open": True, "widgets": [{"id": WIDGET_UUID, "name": "Prices"}]},
            {"widgets": []},
        ],
    }
    listed = json.dumps(row).replace("</data>", "<\\/data>")
    assert f'<data source="the open dashboard">\n{listed}\n</data>' in system.text


def test_of_hundreds_of_widgets_the_fitting_ones_are_listed_and_the_rest_is_found():
    widgets = tuple(
        replace(make_widget(number), name=f"Widget {number}", widget_id=f"w{number}")
        for number in range(300)
    )
    gold = replace(widgets[250], name="Gold futures", description="Prices of gold.")
    oil = replace(widgets[270], name="Crude oil")
    extra = (*widgets[:250], gold, *widgets[251:270], oil, *widgets[271:])
    query = make_query(HumanMessage("How is gold doing?"), widgets=Widgets(extra=extra))
    script = [call("find_widgets", query="crude oil"), call("find_widgets"), text("Fine.")]
    with ScriptedProvider(script) as provider:
        outputs_of(make_engine_input(provider, query=query))
    system = provider.calls[0].messages[0].text
    assert system.index("Gold futures") < system.index("Widget 0")
    assert "Crude oil" not in system
    assert "[280 more widgets are not listed; find_widgets finds them]" in system
    found = provider.calls[1].messages[-1].text.splitlines()
    assert found[0] == "The get_widget_data tool can get these:"
    assert len(found) == 11
    assert json.loads(found[1])["name"] == "Crude oil"
    assert "query" in provider.calls[2].messages[-1].text
    assert function_named("get_extra_widget_data").recalled({"a": 1}, query) == (
        "get_widget_data",
        {"a": 1},
    )


def test_texts_are_ranked_by_their_words():
    texts = ["the price of gold", "goldPrice gold gold", "silver", ""]
    assert words_of("stockPrice of A_B-c") == ["stock", "price", "of", "a", "b", "c"]
    assert ranked("gold", texts)[:2] == [1, 0]
    assert scores("copper", texts) == [0, 0, 0, 0]
    assert scores("x", []) == []


def test_parameters_say_whether_they_take_several_values_or_must_be_asked_about():
    param = WidgetParam(name="p", multi_select=True, get_options=True)
    query = make_query(widgets=Widgets(primary=(replace(PRICES, params=(param,)),)))
    with ScriptedProvider([text("x")]) as provider:
        outputs_of(make_engine_input(provider, query=query))
    assert '"several": true, "options": "ask"' in provider.calls[0].messages[0].text
    assert TextDelta("x") in text("x").actions
