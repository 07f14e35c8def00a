"""Templates that read widgets and change the dashboard, as the examples of OpenBB do."""

import json
from typing import Any

import pytest

from copilot_admin.models import Copilot
from tests.conformance.strangers import NEWS, NEWS_SOURCE, PRICE, PRICE_SOURCE, content, widgets
from tests.workspace.client import text_of
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)


def test_raw_widget_data_is_fetched_first_and_handed_to_the_model(chat_with, model):
    stranger = chat_with("widget-reader", says("Apple ", "rises."))
    first, second = stranger.asks(
        "What is new?",
        functions={"get_widget_data": content("Apple Reports Record-Breaking Results", "[1, 2]")},
        **widgets(NEWS, PRICE),
    )
    [(name, call)] = first
    assert name == "copilotFunctionCall"
    assert call["function"] == "get_widget_data"
    assert call["input_arguments"] == {"data_sources": [NEWS_SOURCE, PRICE_SOURCE]}
    assert set(call["extra_state"]) >= {"copilot_function_call_arguments"}
    stranger.response(0).starts("copilotFunctionCall").with_({"function": "get_widget_data"})
    assert second == [("copilotMessageChunk", {"delta": "Apple rises."})]
    stranger.response().starts("copilotMessage").with_("Apple rises.").ends("copilotMessage")
    assert "Apple Reports Record-Breaking Results" in model.told()
    assert "[1, 2]" in model.told()
    assert "an analyst who reads the widgets" in model.system()
    assert model.requests[0]["stream"] is True
    assert len(model.requests) == 1, "the model is asked only once the data is there"


def test_a_second_question_fetches_again_and_keeps_the_first_answer(chat_with, model):
    stranger = chat_with("widget-reader", says("One."), says("Two."))
    fetch = {"get_widget_data": content("[1]")}
    stranger.asks("First?", functions=fetch, **widgets(NEWS))
    legs = stranger.asks("Second?", functions=fetch, **widgets(NEWS))
    assert [leg[0][0] for leg in legs] == ["copilotFunctionCall", "copilotMessageChunk"]
    roles = [one["role"] for one in model.requests[1]["messages"]]
    first_turn = ["user", "assistant", "tool", "assistant"]
    assert roles == ["system", *first_turn, *first_turn[:3]]
    assert model.requests[1]["messages"][4]["content"] == "One."


def test_widget_citations_follow_the_text_and_name_widget_and_arguments(chat_with):
    stranger = chat_with("widget-citations", says("It rises."))
    _, events = stranger.asks(
        "What moved?",
        functions={"get_widget_data": content("[1]", "[2]")},
        **widgets(NEWS, PRICE),
    )
    assert [name for name, _ in events] == ["copilotMessageChunk", "copilotCitationCollection"]
    news, price = events[1][1]["citations"]
    assert news.pop("id") != price.pop("id")
    assert news["source_info"] == {
        "type": "widget",
        "uuid": NEWS["uuid"],
        "origin": "openbb",
        "widget_id": "company_news",
        "name": "Company News",
        "description": "News about a company",
        "metadata": {"input_args": {"ticker": "AAPL"}},
        "citable": True,
    }
    assert news["details"] == [{"Name": "Company News", "ticker": "AAPL"}]
    assert price["source_info"]["metadata"] == {"input_args": {}}
    stranger.response().ends("copilotCitationCollection")


ACTIONS = ["Opened the dashboard Mine", "Removed the widget Prices"]


def on_dashboard(**more: object) -> dict[str, object]:
    """The dashboard of the examples: one widget on a tab, none selected."""
    tabs = [
        {"tab_id": "overview", "widgets": [{"widget_uuid": NEWS["uuid"], "name": "Company News"}]},
        {"tab_id": "empty", "widgets": None},
    ]
    info = {"id": "1", "name": "Mine", "current_tab_id": "overview", "tabs": tabs}
    return {
        **widgets(secondary=(NEWS,)),
        "workspace_state": {
            "current_dashboard_info": info,
            "current_page_context": "dashboard",
            "action_history": ACTIONS,
        },
        **more,
    }


@pytest.mark.parametrize(
    ("options", "may_change"),
    [({"generative-ui": True}, True), (["generative-ui"], True), ({}, False), ([], False)],
    ids=["on", "on in a list", "off", "off in a list"],
)
def test_the_dashboard_may_be_changed_only_while_the_user_lets_it(
    options, may_change, chat_with, model
):
    stranger = chat_with("dashboard-explorer", says("Well."))
    stranger.asks("Change it.", **on_dashboard(workspace_options=options))
    offered = set(model.tools(0))
    assert "get_widget_data" in offered
    assert offered & CHANGES == (CHANGES if may_change else set())


@pytest.mark.parametrize("logging", ["everything", "nothing"])
def test_page_actions_and_tabs_are_known_in_both_legs(logging, chat_with, model):
    stranger = chat_with(
        "dashboard-explorer",
        calls("get_widget_data", widgets=[{"id": NEWS["uuid"]}]),
        says("Two tabs."),
    )
    Copilot.objects.update(logging=logging)
    functions = {"get_widget_data": content("[1]")}
    stranger.asks("Which tabs?", functions=functions, **on_dashboard(workspace_options={}))
    assert "workspace_state" not in stranger.chat.requests[1]
    _, start, workspace = model.system(0).partition('<data source="the user\'s workspace">\n')
    assert workspace.startswith(
        f'{{"page": "dashboard", "latest_actions": {json.dumps(ACTIONS)}}}\n</data>\n\n'
        '<data source="the open dashboard">\n'
    )
    assert "overview" in workspace
    assert model.system(1).endswith(start + workspace)


def test_an_orchestrator_gives_a_task_which_is_answered_like_a_question(chat_with, model):
    stranger = chat_with("portfolio-commentary", says("It fell."))
    task = {"role": "ai", "content": "Comment on June.", "agent_id": "openbb-copilot"}
    stranger.chat.messages = [{"role": "human", "content": "Ask the others."}, task]
    stranger.chat.request = widgets(PRICE)
    stranger.chat.functions = {"get_widget_data": content("[7]")}
    first, second = stranger.chat.go_on()
    assert first[-1][1]["input_arguments"] == {"data_sources": [PRICE_SOURCE]}
    assert second[1] == ("copilotMessageChunk", {"delta": "It fell."})
    assert "Comment on June." in model.told()


@pytest.mark.parametrize(
    "given",
    [
        {"widget_uuid": NEWS["uuid"]},
        {"widget_uuids": [NEWS["uuid"]]},
        {"data_sources": [NEWS_SOURCE]},
        {"data_sources": [{key: NEWS_SOURCE[key] for key in ("origin", "id")}]},
        {"widgets": [{"id": "Company News"}]},
    ],
    ids=["uuid", "uuids", "sources", "source without uuid", "by name"],
)
def test_a_model_may_name_widgets_as_the_clients_function_does(given, chat_with):
    stranger = chat_with("dashboard-explorer", calls("get_widget_data", **given), says("Up."))
    first, _ = stranger.asks(
        "?", functions={"get_widget_data": content("[1]")}, **widgets(secondary=(NEWS,))
    )
    [source] = first[0][1]["input_arguments"]["data_sources"]
    assert (source["id"], source["input_args"]) == ("company_news", {"ticker": "AAPL"})


ROWS = [{"day": "Mon", "price": 1.5}]
DONE = [{"status": "success", "message": "Done."}]
LINE = {"chartType": "line", "xKey": "day", "yKey": ["price"]}


def news_of(**arguments: str) -> dict[str, Any]:
    return {"data_sources": [{**NEWS_SOURCE, "input_args": arguments}]}


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "add a widget": ("add_widget_to_dashboard", news_of(ticker="TSLA", inner_tab="overview")),
    "update a widget": ("update_widget_in_dashboard", news_of(ticker="TSLA")),
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
        {"widget_type": "chart", "name": "C", "data": ROWS, "chart_params": LINE},
    ),
    "new tabs": ("manage_navigation_bar", {"operation": "add_tabs", "tabs": [{"name": "Rates"}]}),
    "renamed tabs": (
        "manage_navigation_bar",
        {"operation": "rename_tabs", "rename_map": {"empty": "Rates"}},
    ),
}
CHANGES = {function for function, _ in CASES.values()}


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
    offered = {"param": "ticker", "options": [{"label": "T", "value": "TSLA"}]}
    options = [{"items": [{"content": json.dumps({"param_options": [offered]})}]}]
    first, _ = stranger.asks(
        "Which?",
        functions={"get_params_options": lambda _: options},
        widgets={"primary": [], "secondary": [widget], "extra": []},
    )
    [query] = first[0][1]["input_arguments"]["param_options_queries"]
    assert (query["origin"], query["id"], query["param"]) == ("openbb", "company_news", "ticker")
    assert "TSLA" in model.told()
