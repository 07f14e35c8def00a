"""No widget that a model asks for disappears: each is fetched, or model and user are told."""

from typing import Any

import pytest

from protocol.models import Generation
from tests.conformance.strangers import NEWS, PRICE, content
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import Reply, says

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
