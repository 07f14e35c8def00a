"""Steps are shown in every leg to which they belong, also in one that asks for data."""

from typing import Any

import pytest

from tests.conformance.strangers import NEWS, PRICE, content, import_template, widgets
from tests.conformance.test_client import HIT, TOOL
from tests.conformance.test_generations import BOTH, ONE
from tests.workspace.client import Event, named
from tests.workspace.model_server import Reply, calls, says

pytestmark = pytest.mark.django_db(transaction=True)

STEPS = [
    {"at": "end", "type": "INFO", "message": "End"},
    {"at": "read", "type": "INFO", "message": "Read"},
    {"at": "fetch", "type": "INFO", "message": "Fetch...", "details": {"How": "at once"}},
    {"at": "start", "type": "INFO", "message": "Start"},
]
DATA = {"get_widget_data": content("[1]", "[2]"), "get_extra_widget_data": content("[3]")}


def shown(leg: list[Event]) -> list[str]:
    """The kinds of events, steps by their words."""
    return [
        data["message"] if name == "copilotStatusUpdate" else name.removeprefix("copilot")
        for name, data in leg
    ]


def details(leg: list[Event]) -> list[Any]:
    return [step.get("details") for step in named(leg, "copilotStatusUpdate")]


def test_what_is_fetched_first_is_shown_with_its_names(chat_with):
    stranger = chat_with("widget-citations", says("Up."), steps=STEPS)
    first, second = stranger.asks("What moved?", functions=DATA, **widgets(NEWS, PRICE))
    assert shown(first) == ["Start", "Fetch: Company News, Stock Price", "FunctionCall"]
    assert details(first) == [None, [{"How": "at once"}]]
    assert shown(second) == ["Read", "MessageChunk", "CitationCollection", "End"]


def test_what_the_model_asks_for_is_shown_in_each_leg_and_the_start_once(chat_with, model):
    ask = Reply(
        calls=(("get_widget_data", {"widgets": [{"id": NEWS["uuid"]}, {"id": PRICE["uuid"]}]}),)
    )
    stranger = chat_with("dashboard-explorer", ask, says("Both."), steps=STEPS)
    offered = {"widgets": {"primary": [], "secondary": [NEWS], "extra": [PRICE]}}
    first, second, third = stranger.asks("Compare them.", functions=DATA, **offered)
    assert [shown(leg) for leg in (first, second, third)] == [
        ["Start", "Fetch: Company News", "FunctionCall"],
        ["Fetch: Stock Price", "FunctionCall"],
        ["Read", "MessageChunk", "CitationCollection", "End"],
    ]
    model.plays(says("Again."))
    [again] = stranger.asks("And now?", **widgets())
    assert shown(again) == ["Start", "MessageChunk", "End"]


def test_another_call_of_the_client_has_the_start_before_it_and_nothing_of_data(chat_with):
    ask = calls("Tool1_function_one", q="x")
    stranger = chat_with("mcp-tools", ask, says("A hit."), steps=STEPS)
    first, second = stranger.asks("Find it.", functions=HIT, tools=[TOOL])
    assert shown(first) == ["Start", "FunctionCall"]
    assert shown(second) == ["MessageChunk", "End"]


@BOTH
def test_older_clients_are_shown_the_steps_that_they_know(generation, old, model):
    chat = old("widget-reader", generation, says("Up."), widgets=[NEWS])
    import_template("widget-reader", model, steps=STEPS)
    first, second = chat.ask("What moved?")
    if generation is ONE:
        assert (shown(first), shown(second)) == (["FunctionCall"], ["MessageChunk"])
        return
    assert shown(first) == ["Start", "Fetch: Company News", "FunctionCall"]
    assert details(first)[1] == [{"How": "at once"}]
    assert shown(second) == ["Read", "MessageChunk", "End"]
