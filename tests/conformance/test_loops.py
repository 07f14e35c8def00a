"""The same question again, without the data it was asked for: a loop, or another question."""

from typing import Any

import pytest

from protocol.models import Generation
from tests.conformance.strangers import NEWS, PRICE, asks, import_template, offered
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import says

pytestmark = pytest.mark.django_db(transaction=True)

LOOPED = "The dashboard sent the question again without the data it was asked for"


def ask_about(service: str, generation: Generation, *selected: Any, **more: Any) -> list[Event]:
    """Ask a first question about widgets, as a client of a generation does."""
    question = {"messages": [{"role": "human", "content": "What moved?"}], **more}
    return asks(service, "widget-reader", {**question, **offered(generation, *selected)})


def fetched(events: list[Event]) -> Any:
    [call] = named(events, "copilotFunctionCall")
    arguments = call["input_arguments"]
    return arguments.get("widget_uuid") or [one["id"] for one in arguments["data_sources"]]


@pytest.mark.parametrize("generation", Generation)
def test_another_widget_is_another_question(generation, service_url, model):
    import_template("widget-reader", model)
    first = fetched(ask_about(service_url, generation, NEWS))
    second = fetched(ask_about(service_url, generation, PRICE))
    by_uuid = (NEWS["uuid"], PRICE["uuid"])
    assert (first, second) == (
        by_uuid if generation is Generation.ONE else (["company_news"], ["stock_price"])
    )


@pytest.mark.parametrize("generation", Generation)
def test_a_loop_is_still_stopped(generation, service_url, model):
    import_template("widget-reader", model)
    model.plays(says("Without it."))
    ask_about(service_url, generation, NEWS)
    again = ask_about(service_url, generation, NEWS)
    assert text_of(again).startswith(LOOPED)
    assert text_of(again).endswith("Without it.")


def test_a_client_that_drops_the_data_is_stopped_though_it_repeats_less(chat_with):
    """Source: a request after a function call comes without timezone, urls and chosen skills."""
    stranger = chat_with("widget-reader", says("Without it."))
    stranger.chat.request = {"widgets": {"primary": [NEWS]}}
    stranger.chat.messages.append({"role": "human", "content": "What moved?"})
    stranger.chat.request = {**stranger.chat.request, "urls": ["https://example.com/a"]}
    stranger.chat.post()
    assert text_of(stranger.chat.post(is_first=False)).startswith(LOOPED)
