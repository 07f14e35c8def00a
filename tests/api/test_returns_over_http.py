"""What is asked of the returns toolkit over HTTP: as a component, and by a model in a chat."""

import json
from typing import Any

from django.test import AsyncClient
import pytest

from tests.agent.scripted import call, text
from tests.api.test_query import script
from tests.component_calls.component_http import Reply, ask
from tests.factories import make_key, make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

WEEKEND = [
    {"date": "2024-01-05", "close": 100},
    {"date": "2024-01-08", "close": 101},
    {"date": "2024-01-09", "close": 100},
]
GENERATIONS: dict[int, tuple[str, dict[str, Any]]] = {
    1: ("", {"widgets": []}),
    2: ("?generation=2", {}),
    3: ("", {"timezone": "UTC"}),
}


def measured(series: Any, measure: str) -> tuple[Any, str]:
    """The row for the user, and the words for the model."""
    reply = asked(series, measure)
    assert reply.status == 200, reply.json
    assert b"NaN" not in reply.body
    assert b"Infinity" not in reply.body
    table, words = reply.json["content"]
    (row,) = json.loads(table["text"]["data"])
    return row, words["text"]["info"]


def asked(series: Any, measure: str) -> Reply:
    body = {"parameters": {"series": series, "measure": measure}}
    return ask("/returns_toolkit", body, key=make_key()[1])


def refused(series: Any, measure: str) -> str:
    reply = asked(series, measure)
    assert reply.status == 400
    return str(reply.json["message"])


def test_three_daily_values_over_a_weekend_are_daily():
    row, words = measured(WEEKEND, "volatility")
    assert "A year has 252 periods of 'close'." in words
    assert row["volatility"] == pytest.approx(0.2234, abs=0.0005)


def test_decimal_commas_are_named_by_the_other_components_too():
    key = make_key()[1]
    group = {"op": "group", "by": [], "aggregate": {"a": "sum"}}
    table = ask(
        "/table_analyst", {"parameters": {"rows": [{"a": "5,2"}], "operations": group}}, key=key
    )
    chart = ask(
        "/chart_maker",
        {"parameters": {"rows": [{"x": "a", "y": "5,2"}], "type": "bar", "x": "x", "y": ["y"]}},
        key=key,
    )
    for reply in (table, chart):
        assert reply.status == 400
        assert "decimals with a point, as in 5.2." in reply.json["message"]


def test_error_texts_speak_of_the_argument_by_name():
    assert refused(5, "returns") == (
        "Wrong arguments for returns_toolkit: series: 5 is not of type 'array', 'object', 'string'."
    )
    assert refused([1, 2], "alpha").startswith(
        "Wrong arguments for returns_toolkit: measure: 'alpha' is not one of"
    )
    key = make_key()[1]
    reply = ask("/returns_toolkit", {"parameters": {"series": [1, 2]}}, key=key)
    assert reply.json["message"] == "Wrong arguments for returns_toolkit: measure is missing."


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_default_benchmark_is_named_in_the_answer(monkeypatch, generation):
    make_published(slug="desk", components=[{"name": "returns_toolkit", "version": "v1"}])
    series = {"Fund": [100, 101, 99], "Index": [100, 102, 101]}
    provider = script(
        monkeypatch,
        call("returns_toolkit", series=series, measure="tracking_error"),
        text("It strays."),
    )
    address, more = GENERATIONS[generation]
    body = {"messages": [{"role": "human", "content": "How far?"}], **more}
    read(AsyncClient(), f"/v1/copilots/desk/query{address}", body)
    told = provider.calls[-1].messages[-1].text
    assert told.startswith("Fund: tracking error ")
    assert ", benchmark Index\n" in told
    assert "No benchmark was named: it is 'Index', the last series." in told


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_model_that_calls_wrongly_is_told_the_argument_by_name(monkeypatch, generation):
    make_published(slug="desk", components=[{"name": "returns_toolkit", "version": "v1"}])
    provider = script(
        monkeypatch, call("returns_toolkit", series=5, measure="irr"), text("I cannot.")
    )
    address, more = GENERATIONS[generation]
    body = {"messages": [{"role": "human", "content": "IRR?"}], **more}
    read(AsyncClient(), f"/v1/copilots/desk/query{address}", body)
    told = provider.calls[-1].messages[-1].text
    assert "series: 5 is not of type" in told
    assert "$" not in told
