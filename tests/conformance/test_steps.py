"""Steps are shown in every leg to which they belong, also in one that asks for data."""

from typing import Any

import pytest

from tests.conformance.strangers import NEWS, PRICE, Stranger, content, import_template, widgets
from tests.conformance.test_client import HIT, TOOL
from tests.conformance.test_generations import BOTH, ONE, old
from tests.workspace.client import Event, named
from tests.workspace.model_server import ModelServer, Reply, calls, says

__all__ = ["old"]
pytestmark = pytest.mark.django_db(transaction=True)

STEPS = [
    {"at": "end", "type": "INFO", "message": "End"},
    {"at": "read", "type": "INFO", "message": "Read"},
    {"at": "fetch", "type": "INFO", "message": "Fetch...", "details": {"How": "at once"}},
    {"at": "start", "type": "INFO", "message": "Start"},
]
DATA = {"get_widget_data": content("[1]", "[2]"), "get_extra_widget_data": content("[3]")}


def stranger_with(
    slug: str, *replies: Reply, service: str, model: ModelServer, **changes: Any
) -> Stranger:
    """A chat with a template that has steps at every place."""
    stranger = Stranger(slug, *replies, service=service, model=model)
    import_template(slug, model, steps=STEPS, **changes)
    return stranger


def shown(leg: list[Event]) -> list[str]:
    """The kinds of events, steps by their words."""
    return [
        data["message"] if name == "copilotStatusUpdate" else name.removeprefix("copilot")
        for name, data in leg
    ]


def details(leg: list[Event]) -> list[Any]:
    return [step.get("details") for step in named(leg, "copilotStatusUpdate")]


def test_what_is_fetched_first_is_shown_with_its_names(service_url, model):
    stranger = stranger_with("widget-citations", says("Up."), service=service_url, model=model)
    first, second = stranger.asks("What moved?", functions=DATA, **widgets(NEWS, PRICE))
    assert shown(first) == ["Start", "Fetch: Company News, Stock Price", "FunctionCall"]
    assert details(first) == [None, [{"How": "at once"}]]
    assert shown(second) == ["Read", "MessageChunk", "CitationCollection", "End"]


def test_of_many_widgets_the_first_are_named_and_the_others_counted(service_url, model):
    many = [{**PRICE, "uuid": f"{number:08d}-7b4d-451c-adc5-49856e90a0e6", "name": f"P{number}"}
            for number in range(7)]  # fmt: skip
    stranger = stranger_with("widget-reader", says("Up."), service=service_url, model=model)
    first, _ = stranger.asks(
        "?", functions={"get_widget_data": content(*["[1]"] * 7)}, **widgets(*many)
    )
    assert shown(first)[1] == "Fetch: P0, P1, P2, P3, P4 and 2 more"


def test_what_the_model_asks_for_is_shown_in_each_leg_and_the_start_once(service_url, model):
    ask = Reply(
        calls=(("get_widget_data", {"widgets": [{"id": NEWS["uuid"]}, {"id": PRICE["uuid"]}]}),)
    )
    stranger = stranger_with(
        "dashboard-explorer", ask, says("Both."), service=service_url, model=model
    )
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


def test_another_call_of_the_client_has_the_start_before_it_and_nothing_of_data(service_url, model):
    ask = calls("Tool1_function_one", q="x")
    stranger = stranger_with("mcp-tools", ask, says("A hit."), service=service_url, model=model)
    first, second = stranger.asks("Find it.", functions=HIT, tools=[TOOL])
    assert shown(first) == ["Start", "FunctionCall"]
    assert shown(second) == ["MessageChunk", "End"]


def test_data_that_did_not_come_is_not_said_to_be_read(service_url, model):
    gone = {"get_widget_data": lambda _: [{"error_type": "not_found", "content": "gone"}]}
    stranger = stranger_with("widget-reader", says("Sorry."), service=service_url, model=model)
    _, second = stranger.asks("What moved?", functions=gone, **widgets(NEWS))
    assert shown(second) == ["MessageChunk", "End"]


def test_words_that_were_shown_before_a_call_have_the_start_before_them(service_url, model):
    long = "I will look at everything that you have on your dashboard. " * 4
    wish = {"widgets": [{"id": NEWS["uuid"]}]}
    ask = Reply(words=(long,), calls=(("get_widget_data", wish),))
    stranger = stranger_with(
        "dashboard-explorer", ask, says("Up."), service=service_url, model=model
    )
    first, second = stranger.asks("What moved?", functions=DATA, **widgets(secondary=(NEWS,)))
    assert shown(first) == ["Start", "MessageChunk", "Fetch: Company News", "FunctionCall"]
    assert shown(second) == ["Read", "MessageChunk", "CitationCollection", "End"]


@pytest.mark.parametrize("slug", ["widget-reader", "dashboard-explorer"])
def test_steps_that_are_switched_off_are_shown_in_no_leg(slug, service_url, model):
    ask = [calls("get_widget_data", widgets=[{"id": NEWS["uuid"]}])]
    stranger = stranger_with(
        slug, *(ask if slug == "dashboard-explorer" else []), says("Up."),
        service=service_url, model=model, show_steps=False,
    )  # fmt: skip
    first, second = stranger.asks("What moved?", functions=DATA, **widgets(NEWS))
    assert shown(first) == ["FunctionCall"]
    assert named(second, "copilotStatusUpdate") == []


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
