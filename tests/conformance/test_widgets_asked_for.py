"""No widget that a model asks for disappears: each is fetched, or model and user are told."""

from typing import Any

import pytest

from copilot_admin.agent.client import client_state
from protocol.models import Generation
from tests.conformance.strangers import NEWS, PRICE, content
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import Reply, calls, says

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
def test_dashboard_and_extra_widgets_of_one_answer_are_all_fetched(asked, chat_with, model):
    stranger = chat_with("dashboard-explorer", Reply(calls=tuple(asked)), says("Both."))
    first, second, third = stranger.asks("Compare them.", functions=FETCH, **MIXED)
    assert made(first) == ("get_widget_data", ["company_news"])
    assert made(second) == ("get_extra_widget_data", ["stock_price"])
    assert text_of(third) == "Both."
    assert len(model.requests) == 2, "the model need not ask again"
    assert "of the dashboard" in model.told()
    assert "of all widgets" in model.told()


def test_extra_widgets_beyond_the_limit_are_told_to_model_and_user(chat_with, model):
    ask = [calls("get_widget_data", widgets=[{"id": NEWS["uuid"], "params": {"ticker": name}}])
           for name in ("A", "B", "C")]  # fmt: skip
    last = Reply(calls=(wanting(NEWS["uuid"], PRICE["uuid"]),))
    stranger = chat_with("dashboard-explorer", *ask, last, says("Without prices."))
    *_, fourth, answer = stranger.asks("Compare them.", functions=FETCH, **MIXED)
    assert made(fourth) == ("get_widget_data", ["company_news"])
    [warning] = named(answer, "copilotStatusUpdate")
    assert warning["message"].startswith("The dashboard was already asked for data 4 times")
    assert text_of(answer).endswith("Without prices.")
    assert model.told().endswith("Answer with what you have.")


def test_what_cannot_wait_for_the_next_leg_is_told_to_the_model(chat_with, model, monkeypatch):
    monkeypatch.setattr(client_state, "MAX_WAITING", 20)
    stranger = chat_with(
        "dashboard-explorer", Reply(calls=(wanting(NEWS["uuid"], PRICE["uuid"]),)), says("One.")
    )
    first, second = stranger.asks("Compare them.", functions=FETCH, **MIXED)
    assert made(first) == ("get_widget_data", ["company_news"])
    assert text_of(second) == "One."
    assert client_state.NOT_WAITING in model.told()
