"""Everything that Workspace does for a copilot: calls as it reads them, results as it sends them."""

from typing import Any

import pytest

from tests.conformance.strangers import NEWS, NEWS_SOURCE
from tests.conformance.test_widgets import on_dashboard
from tests.workspace.client import text_of
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = [{"day": "Mon", "price": 1.5}]
DONE = [{"status": "success", "message": "Done."}]
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "add a widget": (
        "add_widget_to_dashboard",
        {
            "data_sources": [
                {**NEWS_SOURCE, "input_args": {"ticker": "TSLA", "inner_tab": "overview"}}
            ]
        },
    ),
    "update a widget": (
        "update_widget_in_dashboard",
        {"data_sources": [{**NEWS_SOURCE, "input_args": {"ticker": "TSLA"}}]},
    ),
    "a note": (
        "add_generative_widget",
        {"widget_type": "note", "name": "Three", "data": "1, 2, 3"},
    ),
    "a table": (
        "add_generative_widget",
        {"widget_type": "table", "name": "T", "data": ROWS, "description": "Days."},
    ),
    "a chart": (
        "add_generative_widget",
        {
            "widget_type": "chart",
            "name": "C",
            "data": ROWS,
            "chart_params": {"chartType": "line", "xKey": "day", "yKey": ["price"]},
        },
    ),
    "new tabs": ("manage_navigation_bar", {"operation": "add_tabs", "tabs": [{"name": "Rates"}]}),
    "renamed tabs": (
        "manage_navigation_bar",
        {"operation": "rename_tabs", "rename_map": {"empty": "Rates"}},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_of_the_dashboard_leaves_as_workspace_reads_it(case, chat_with, model):
    function, arguments = CASES[case]
    stranger = chat_with("dashboard-explorer", calls(function, **arguments), says("It is there."))
    first, second = stranger.asks(
        "Do it.",
        functions={function: lambda _: DONE},
        **on_dashboard(workspace_options={"generative-ui": True}),
    )
    [(name, call)] = first
    assert (name, call["function"], call["input_arguments"]) == (
        "copilotFunctionCall",
        function,
        arguments,
    )
    assert call["extra_state"]["copilot_function_call_arguments"] == arguments
    assert "(success) Done." in model.told()
    assert text_of(second) == "It is there."
    made = model.requests[1]["messages"][-2]["tool_calls"][0]["function"]
    assert made["name"] == function, "the model sees its call under the name it used"


def test_options_of_a_parameter_are_asked_for_before_the_data(chat_with, model):
    param = {"name": "ticker", "type": "endpoint", "get_options": True, "current_value": "AAPL",
             "description": "", "options_params": []}  # fmt: skip
    widget = {**NEWS, "params": [param]}
    stranger = chat_with(
        "dashboard-explorer",
        calls("get_params_options", widget=NEWS["uuid"], param="ticker"),
        says("TSLA is one."),
    )
    options = (
        '{"param_options": [{"param": "ticker", "options": [{"label": "T", "value": "TSLA"}]}]}'
    )
    first, _ = stranger.asks(
        "Which?",
        functions={"get_params_options": lambda _: [{"items": [{"content": options}]}]},
        widgets={"primary": [], "secondary": [widget], "extra": []},
    )
    [query] = first[0][1]["input_arguments"]["param_options_queries"]
    assert (query["origin"], query["id"], query["param"]) == ("openbb", "company_news", "ticker")
    assert "TSLA" in model.told()
