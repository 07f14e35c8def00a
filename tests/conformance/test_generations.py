"""Templates asked by older clients, and chats that these began, in the dialect of the client."""

import json
from typing import Any

import pytest

from copilot_admin.models import Run
from protocol.models import Generation
from tests.conformance.strangers import NEWS, NEWS_SOURCE, PRICE, content
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import calls, says

pytestmark = pytest.mark.django_db(transaction=True)

ONE, TWO = Generation.ONE, Generation.TWO
ROWS = [{"day": "Mon", "price": 1.5}, {"day": "Tue", "price": 2.5}]
AS_MARKDOWN = "| day | price |\n| --- | --- |\n| Mon | 1.5 |\n| Tue | 2.5 |"
BOTH = pytest.mark.parametrize("generation", [ONE, TWO], ids=["1", "2"])


def test_the_first_generation_is_asked_for_one_widget_after_the_other(old, model):
    chat = old("widget-reader", ONE, says("It rose."), widgets=[NEWS, PRICE])
    first, second, third = chat.ask("What moved?")
    asked = [leg[0][1]["input_arguments"] for leg in (first, second)]
    assert asked == [{"widget_uuid": NEWS["uuid"]}, {"widget_uuid": PRICE["uuid"]}]
    assert all(leg[0][1]["function"] == "get_widget_data" for leg in (first, second))
    assert third == [("copilotMessageChunk", {"delta": "It rose."})]
    assert f"the data of {NEWS['uuid']}" in model.told()
    assert f"the data of {PRICE['uuid']}" in model.told()
    assert set(Run.objects.values_list("generation", flat=True)) == {1}


def test_the_second_generation_is_asked_for_all_widgets_at_once(old, model):
    chat = old("widget-reader", TWO, says("It rose."), widgets=[NEWS, PRICE])
    first, second = chat.ask("What moved?")
    [(name, call)] = first
    assert (name, call["function"]) == ("copilotFunctionCall", "get_widget_data")
    sources = call["input_arguments"]["data_sources"]
    assert [(one["origin"], one["id"], one["input_args"]) for one in sources] == [
        ("openbb", "company_news", {"ticker": "AAPL"}),
        ("OpenBB API", "stock_price", {}),
    ]
    assert call["copilot_function_call_arguments"] == {
        "data_sources": [
            {"origin": "openbb", "widget_id": "company_news"},
            {"origin": "OpenBB API", "widget_id": "stock_price"},
        ]
    }
    assert second == [("copilotMessageChunk", {"delta": "It rose."})]
    assert "the data of company_news" in model.told()
    assert set(Run.objects.values_list("generation", flat=True)) == {2}


@BOTH
@pytest.mark.parametrize("kind", ["line", "pie"])
def test_charts_come_as_far_as_a_generation_draws_them(kind, generation, old):
    wish = calls(
        "chart", name="Prices", description="By day.", type=kind, rows=ROWS, x="day", y=["price"]
    )
    [events] = old("charts", generation, wish, says("It rose.")).ask("Draw it.")
    if generation is ONE:
        assert {name for name, _ in events} == {"copilotMessageChunk"}
        assert text_of(events) == f"\n\n{AS_MARKDOWN}\n\nIt rose."
        return
    name, artifact = events[0]
    assert (name, artifact["content"]) == ("copilotMessageArtifact", ROWS)
    if kind == "line":
        assert artifact["type"] == "chart"
        assert artifact["chart_params"] == {"chartType": "line", "xKey": "day", "yKey": ["price"]}
    else:
        assert artifact["type"] == "table"
        assert "chart_params" not in artifact


@BOTH
def test_html_comes_as_its_words(generation, old):
    wish = calls("html", name="Card", description="", html="<div><b>5</b> apples</div>")
    [events] = old("html-cards", generation, wish, says("Few.")).ask("As cards.")
    if generation is ONE:
        assert "5 apples" in text_of(events)
    else:
        assert (events[0][1]["type"], events[0][1]["content"]) == ("text", "5 apples")
    assert "<" not in json.dumps(events)


@BOTH
def test_citations_come_as_a_collection_or_as_a_line(generation, old):
    chat = old("widget-citations", generation, says("It rose."), widgets=[NEWS])
    *_, events = chat.ask("What moved?")
    if generation is ONE:
        assert {name for name, _ in events} == {"copilotMessageChunk"}
        assert text_of(events).startswith("It rose.\n\nSources: Company News")
        return
    assert [name for name, _ in events] == ["copilotMessageChunk", "copilotCitationCollection"]
    [citation] = events[1][1]["citations"]
    assert set(citation) == {"source_info", "details"}
    assert citation["source_info"]["widget_id"] == "company_news"
    assert citation["details"] == [{"Name": "Company News", "ticker": "AAPL"}]


@BOTH
def test_what_only_newer_clients_can_do_is_not_offered(generation, old, model):
    chat = old("dashboard-explorer", generation, says("Two."), widgets=[NEWS])
    chat.ask("What is there?")
    assert list(model.tools(0)) == ["get_widget_data"]


@BOTH
def test_a_failure_is_said_in_words_that_every_generation_shows(generation, old, model):
    chat = old("widget-reader", generation, says(""))
    [events] = chat.ask("?")
    assert text_of(events).strip()
    kinds: list[str] = [name for name, _ in _steps(events)]
    assert kinds == ([] if generation is ONE else ["copilotStatusUpdate"])


def _steps(events: list[Event]) -> list[Event]:
    return [event for event in events if event[0] == "copilotStatusUpdate"]


UUID = str(NEWS["uuid"])
HUMAN = {"role": "human", "content": "What was new?"}
ANSWER = {"role": "ai", "content": "It rose."}


def _call(arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = {"function": "get_widget_data", "input_arguments": arguments, **more}
    return {"role": "ai", "content": json.dumps(made)}


OLD: dict[str, list[dict[str, Any]]] = {
    "1": [
        HUMAN,
        _call({"widget_uuid": UUID}, copilot_function_call_arguments={"widget_uuid": UUID}),
        {"role": "tool", "function": "get_widget_data", "data": {"content": "Old news."}},
        ANSWER,
    ],
    "1, as text": [
        HUMAN,
        _call({"widget_uuid": UUID}),
        {"role": "tool", "function": "get_widget_data", "content": "Old news."},
        ANSWER,
    ],
    "2": [
        HUMAN,
        _call({"data_sources": [NEWS_SOURCE]}, copilot_function_call_arguments={}),
        {
            "role": "tool",
            "function": "get_widget_data",
            "copilot_function_call_arguments": {},
            "data": [{"content": "Old news.", "data_format": {"type": "text"}}],
        },
        ANSWER,
    ],
}
HISTORIES = pytest.mark.parametrize("history", OLD.values(), ids=OLD)


@HISTORIES
def test_workspace_of_today_is_asked_for_data_in_its_own_words(history, chat_with, model):
    stranger = chat_with("widget-reader", says("It fell."))
    stranger.chat.messages = list(history)
    first, second = stranger.asks(
        "And now?",
        functions={"get_widget_data": content("New news.")},
        widgets={"primary": [NEWS], "secondary": [], "extra": []},
    )
    [call] = named(first, "copilotFunctionCall")
    assert set(call) == {"function", "input_arguments", "extra_state"}
    assert call["input_arguments"] == {"data_sources": [NEWS_SOURCE]}
    assert second == [("copilotMessageChunk", {"delta": "It fell."})]
    assert "Old news." in model.told()
    assert "New news." in model.told()
    assert set(Run.objects.values_list("generation", flat=True)) == {3}
