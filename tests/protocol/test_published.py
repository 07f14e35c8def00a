"""Every published example is read, answered or written as its document says."""

import json
from typing import Any

import pytest

from protocol.events import FunctionCall, MessageChunk
from protocol.features import CopilotCard, copilots_json
from protocol.functions import DataSource, get_widget_data_call
from protocol.models import (
    CallMessage,
    DataItem,
    Generation,
    HumanMessage,
    ResultMessage,
    SourceData,
)
from protocol.parsing import parse_query
from protocol.serializers import serialize
from protocol.sse import decode, encode, encode_chunk
from tests.protocol import published
from tests.protocol.published import REQUESTS, PublishedRequest, request_of

PRICES = request_of(Generation.ONE, "example, second leg").body["messages"][2]["data"]["content"]


@pytest.mark.parametrize(
    "request_", REQUESTS, ids=lambda one: f"{one.generation.value}: {one.name}"
)
def test_every_request_is_read_in_its_generation_without_a_note(request_: PublishedRequest):
    for hint in (None, *Generation):
        query = parse_query(request_.bytes, hint=hint)
        assert (query.generation, query.notes) == (request_.generation, ())
        assert len(query.messages) == len(request_.body["messages"])


def test_generation_one_second_leg_is_a_call_and_its_result():
    query = parse_query(request_of(Generation.ONE, "example, second leg").bytes)
    arguments = {"widget_uuid": published.HISTORICAL_UUID}
    assert query.messages[1:] == (
        CallMessage("get_widget_data", arguments),
        ResultMessage("get_widget_data", arguments, (SourceData((DataItem(content=PRICES),)),)),
    )
    assert [widget.uuid for widget in query.widgets.primary] == [published.HISTORICAL_UUID]


def test_spaces_of_the_translation_do_not_hide_the_message():
    query = parse_query(published.SPACED_OUT_ONE)
    assert query.generation is Generation.ONE
    assert query.question == HumanMessage(" What is the current stock price of AAPL? ")
    assert len(query.widgets.primary) == 1


def test_generation_two_widgets_have_arguments():
    widgets = parse_query(request_of(Generation.TWO, "widgets").bytes).widgets
    assert [widget.input_args() for widget in widgets.all()] == [
        {"ticker": "TSLA"},
        {"ticker": "AAPL", "period": "TTM"},
    ]
    assert widgets.primary[0].ref == "OpenBB API/stock_price_quote"


def test_generation_three_second_leg_is_a_call_and_its_result():
    query = parse_query(request_of(Generation.THREE, "second leg").bytes)
    result = query.messages[2]
    assert isinstance(result, ResultMessage)
    form = {"data_type": "object", "parse_as": "text"}
    news = DataItem(content="Apple Reports Record-Breaking Quarter", data_format=form)
    assert result.data == (SourceData((news,)),)
    arguments = {"copilot_function_call_arguments": {"widget_uuid": published.NEWS_UUID}}
    assert result.extra_state == arguments
    assert query.workspace_options == {"deep-research": True, "model": "gpt-4o"}


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize("deltas", [published.HI, published.PRICE_ANSWER])
def test_chunks_are_written_as_in_the_sources(generation: Generation, deltas: list[str]):
    expected = b"".join(
        b'event: copilotMessageChunk\ndata: {"delta":"%b"}\n\n' % delta.encode() for delta in deltas
    )
    said = [event for delta in deltas for event in serialize(MessageChunk(delta), generation)]
    assert b"".join(encode(name, data) for name, data in said) == expected
    assert b"".join(encode_chunk(delta) for delta in deltas) == expected
    assert [json.loads(text)["delta"] for _, text in decode(expected)] == deltas


def test_generation_one_call_holds_what_the_source_shows():
    arguments = get_widget_data_call([DataSource(widget_uuid=published.QUOTE_UUID)])
    call = FunctionCall(function="get_widget_data", input_arguments=arguments)
    [(name, data)] = serialize(call, Generation.ONE)
    assert name == "copilotFunctionCall"
    assert data == {
        **published.CALL_ONE,
        "copilot_function_call_arguments": {"widget_uuid": published.QUOTE_UUID},
    }


@pytest.mark.parametrize("shown", [published.CALL_TWO, published.HISTORICAL_CALL_TWO])
def test_generation_two_call_is_what_the_source_shows(shown: dict):
    call = FunctionCall(function="get_widget_data", input_arguments=shown["input_arguments"])
    assert serialize(call, Generation.TWO) == (("copilotFunctionCall", shown),)


@pytest.mark.parametrize("shown", [published.COPILOTS_JSON_ONE, published.COPILOTS_JSON_TWO])
def test_our_copilots_json_has_every_member_that_the_sources_show(shown: dict):
    [(slug, entry)] = shown.items()
    card = CopilotCard(
        slug=slug,
        name=entry["name"],
        description=entry["description"],
        query_url=entry["endpoints"]["query"],
        image_url=entry["image"],
        features=frozenset({"widget-dashboard-select"} if entry["hasFunctionCalling"] else ()),
    )
    ours: Any = copilots_json([card])[slug]
    assert {key: ours[key] for key in entry if key != "endpoints"} == {
        key: value for key, value in entry.items() if key != "endpoints"
    }
    assert ours["endpoints"] == {"query": "<url>?generation=2"}
