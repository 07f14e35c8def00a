"""No widget that a model asks for disappears: each is fetched, or model and user are told."""

import json
from typing import Any

import pytest

from copilot_admin.agent.client import client_state
from copilot_admin.models import Copilot, Logging
from protocol.models import Generation
from tests.conformance.strangers import NEWS, PRICE, Stranger, content, import_template
from tests.wire import Line
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import ModelServer, Reply, calls, says
from tests.workspace.older import OlderWorkspace

pytestmark = pytest.mark.django_db(transaction=True)

ONE, TWO = Generation.ONE, Generation.TWO
MIXED = {"widgets": {"primary": [], "secondary": [NEWS], "extra": [PRICE]}}
FETCH = {
    "get_widget_data": content("of the dashboard"),
    "get_extra_widget_data": content("of all widgets"),
}


def wanting(*ids: str) -> tuple[str, Any]:
    """One call of the model for widgets."""
    return ("get_widget_data", {"widgets": [{"id": id} for id in ids]})


def made(leg: list[Event]) -> tuple[str, list[str]]:
    """The function that ends a leg, and the widgets it asks for."""
    [call] = named(leg, "copilotFunctionCall")
    return call["function"], [one["id"] for one in call["input_arguments"]["data_sources"]]


@pytest.mark.parametrize(
    "asked",
    [
        [wanting(NEWS["uuid"], PRICE["uuid"])],
        [wanting(PRICE["uuid"], NEWS["uuid"])],
        [wanting(NEWS["uuid"]), wanting(PRICE["uuid"])],
        [wanting(PRICE["uuid"]), wanting(NEWS["uuid"])],
    ],
    ids=["one call", "one call, extra first", "two calls", "two calls, extra first"],
)
def test_dashboard_and_extra_widgets_of_one_answer_are_all_fetched(asked, service_url, model):
    stranger = Stranger(
        "dashboard-explorer", Reply(calls=tuple(asked)), says("Both."),
        service=service_url, model=model,
    )  # fmt: skip
    first, second, third = stranger.asks("Compare them.", functions=FETCH, **MIXED)
    assert made(first) == ("get_widget_data", ["company_news"])
    assert made(second) == ("get_extra_widget_data", ["stock_price"])
    assert text_of(third) == "Both."
    assert len(model.requests) == 2, "the model need not ask again"
    assert "of the dashboard" in model.told()
    assert "of all widgets" in model.told()


def test_a_widget_that_is_also_on_the_dashboard_is_fetched_from_there(service_url, model):
    both = {"widgets": {"primary": [], "secondary": [NEWS], "extra": [NEWS, PRICE]}}
    stranger = Stranger(
        "dashboard-explorer", Reply(calls=(wanting(NEWS["uuid"]),)), says("News."),
        service=service_url, model=model,
    )  # fmt: skip
    first, _ = stranger.asks("What is new?", functions=FETCH, **both)
    assert made(first) == ("get_widget_data", ["company_news"])


def test_extra_widgets_beyond_the_limit_are_told_to_model_and_user(service_url, model):
    ask = [calls("get_widget_data", widgets=[{"id": NEWS["uuid"], "params": {"ticker": name}}])
           for name in ("A", "B", "C")]  # fmt: skip
    last = Reply(calls=(wanting(NEWS["uuid"], PRICE["uuid"]),))
    stranger = Stranger(
        "dashboard-explorer", *ask, last, says("Without prices."), service=service_url, model=model
    )
    *_, fourth, answer = stranger.asks("Compare them.", functions=FETCH, **MIXED)
    assert made(fourth) == ("get_widget_data", ["company_news"])
    [warning] = named(answer, "copilotStatusUpdate")
    assert warning["message"].startswith("The dashboard was already asked for data 4 times")
    assert text_of(answer).endswith("Without prices.")
    assert model.told().endswith("Answer with what you have.")


def test_what_cannot_wait_for_the_next_leg_is_told_to_the_model(service_url, model, monkeypatch):
    monkeypatch.setattr(client_state, "MAX_WAITING", 20)
    stranger = Stranger(
        "dashboard-explorer",
        Reply(calls=(wanting(NEWS["uuid"], PRICE["uuid"]),)),
        says("One."),
        service=service_url,
        model=model,
    )
    first, second = stranger.asks("Compare them.", functions=FETCH, **MIXED)
    assert made(first) == ("get_widget_data", ["company_news"])
    assert text_of(second) == "One."
    assert client_state.NOT_WAITING in model.told()


def test_a_new_widget_beside_one_whose_data_is_there_is_fetched(service_url, model):
    stranger = Stranger(
        "dashboard-explorer",
        Reply(calls=(wanting(NEWS["uuid"]),)),
        Reply(calls=(wanting(NEWS["uuid"], PRICE["uuid"]),)),
        says("Both."),
        service=service_url,
        model=model,
    )
    first, second, _ = stranger.asks("Compare them.", functions=FETCH, **MIXED)
    assert made(first) == ("get_widget_data", ["company_news"])
    assert made(second) == ("get_extra_widget_data", ["stock_price"])


def _widgets(count: int) -> list[dict[str, Any]]:
    """Widgets of which each has a uuid of its own."""
    return [
        {**PRICE, "uuid": f"{number:08d}-7b4d-451c-adc5-49856e90a0e6", "widget_id": f"w{number}"}
        for number in range(count)
    ]


def _older(
    service_url: str, model: ModelServer, generation: Generation, *replies: Reply, **changes: Any
) -> OlderWorkspace:
    """A chat of an older client, which brings nothing back of what it is given to carry."""
    import_template("dashboard-explorer", model)
    model.plays(*replies)
    with Line(f"{service_url}/copilots.json", method="GET") as line:
        card = json.loads(line.read_all())["dashboard-explorer"]
    return OlderWorkspace(
        query_url=card["endpoints"]["query"],
        generation=generation,
        data=lambda asked: f"the data of {asked}",
        **changes,
    )


def test_the_second_generation_is_asked_for_all_groups_at_once(service_url, model):
    ask = Reply(calls=(wanting(NEWS["uuid"]), wanting(PRICE["uuid"])))
    chat = _older(service_url, model, TWO, ask, says("Both."), widgets=[NEWS], extra=[PRICE])
    first, second = chat.ask("Compare them.")
    assert made(first) == ("get_widget_data", ["company_news", "stock_price"])
    assert text_of(second) == "Both."
    assert "the data of stock_price" in model.told()


@pytest.mark.parametrize("apart", [False, True], ids=["one call", "three calls"])
def test_the_first_generation_is_asked_for_one_after_the_other(apart, service_url, model):
    widgets = _widgets(3)
    ids = [one["uuid"] for one in widgets]
    ask = Reply(calls=tuple(map(wanting, ids)) if apart else (wanting(*ids),))
    chat = _older(service_url, model, ONE, ask, says("All three."), widgets=widgets)
    *asking, answer = chat.ask("Compare them.")
    asked = [leg[0][1]["input_arguments"] for leg in asking]
    assert asked == [{"widget_uuid": id} for id in ids]
    assert text_of(answer).startswith("All three.")
    assert len(model.requests) == 2, "the model need not ask again"
    assert all(f"the data of {id}" in model.told() for id in ids)


def test_where_nothing_is_kept_the_first_generation_is_told_to_ask_again(service_url, model):
    """Neither client nor server brings the other widgets to the next leg."""
    widgets = _widgets(2)
    both, second = wanting(*(one["uuid"] for one in widgets)), wanting(widgets[1]["uuid"])
    chat = _older(
        service_url, model, ONE, Reply(calls=(both,)), Reply(calls=(second,)), says("Both."),
        widgets=widgets,
    )  # fmt: skip
    Copilot.objects.update(logging=Logging.METADATA)
    *asking, _ = chat.ask("Compare them.")
    assert [leg[0][1]["input_arguments"]["widget_uuid"] for leg in asking] == [
        one["uuid"] for one in widgets
    ]
    told = model.tools(0)["get_widget_data"]["description"]
    assert told.endswith("of more than one the first: call it again for each of the others.")
