"""Data comes in a bounded number of pieces: results of sources, their items, what they cite, the context."""

from collections.abc import Callable
import json
from typing import Any

import pytest

from protocol.models import ResultMessage
from protocol.reading.pieces import MOST_PIECES
from protocol.requests import MalformedJson, UnusableQuery, read

QUESTION = {"role": "human", "content": "q"}


def _result(**told: Any) -> dict[str, Any]:
    return {"messages": [QUESTION, {"role": "tool", "function": "get_widget_data", **told}]}


def _results(elements: list[Any]) -> dict[str, Any]:
    return _result(data=elements)


def _results_as_content(elements: list[Any]) -> dict[str, Any]:
    return _result(content=elements)


def _items(elements: list[Any]) -> dict[str, Any]:
    return _result(data=[{"items": elements}])


def _cited(elements: list[Any]) -> dict[str, Any]:
    return _result(data={"items": [], "extra_citations": elements})


def _sources(elements: list[Any]) -> dict[str, Any]:
    return _result(data=[], input_arguments={"data_sources": elements})


def _asked_for(elements: list[Any]) -> dict[str, Any]:
    call = {"function": "get_widget_data", "input_arguments": {"widget_uuids": elements}}
    return {"messages": [QUESTION, {"role": "ai", "content": call}]}


def _asked_for_in_a_text(elements: list[Any]) -> dict[str, Any]:
    call = {"function": "get_widget_data", "input_arguments": {"data_sources": elements}}
    return {"messages": [QUESTION, {"role": "ai", "content": json.dumps(json.dumps(call))}]}


def _context(elements: list[Any]) -> dict[str, Any]:
    return {"messages": [QUESTION], "context": elements}


def _items_of_context(elements: list[Any]) -> dict[str, Any]:
    return {"messages": [QUESTION], "context": {"data": {"items": elements}}}


PLACES = [
    *(_results, _results_as_content, _items, _cited),
    *(_sources, _asked_for, _asked_for_in_a_text, _context, _items_of_context),
]


@pytest.mark.parametrize("body", PLACES)
@pytest.mark.parametrize("element", [1, "a", {"content": "a"}])
def test_more_pieces_than_are_taken_are_refused_wherever_they_stand(
    body: Callable[[list[Any]], dict[str, Any]], element: object
):
    with pytest.raises(UnusableQuery) as refused:
        read(body([element] * (MOST_PIECES + 1)))
    assert (refused.value.code, refused.value.public) == (
        "too-many-pieces",
        "The question brings data in more than 10,000 pieces (results, items, citations). "
        "Send less data, or rows as one table.",
    )


def test_pieces_are_counted_together_over_all_messages():
    half = _items(["a"] * (MOST_PIECES // 2))["messages"]
    assert len(read({"messages": half}).messages) == 2
    with pytest.raises(UnusableQuery):
        read({"messages": half * 2})


@pytest.mark.parametrize("body", [_results, _results_as_content])
def test_the_rows_of_a_table_are_one_piece(body: Callable[[list[Any]], dict[str, Any]]):
    [_, result] = read(body([{"price": 1}] * (MOST_PIECES + 1))).messages
    assert isinstance(result, ResultMessage)
    assert len(result.data) == 1


def test_numbers_within_data_are_no_pieces():
    numbers = {"messages": [QUESTION], "context": {"data": [1] * (MOST_PIECES + 1)}}
    assert len(read(numbers).context) == 1


def _call_with(values: int) -> dict[str, Any]:
    call = {"function": "f", "input_arguments": {"rows": [1] * values}}
    return {"role": "ai", "content": json.dumps(call)}


def test_values_of_calls_that_came_as_texts_are_counted_together():
    some = [QUESTION, *[_call_with(100_000)] * 4]
    assert len(read({"messages": some}).messages) == 5
    with pytest.raises(MalformedJson) as refused:
        read({"messages": [*some, _call_with(100_000)]})
    assert (refused.value.code, refused.value.public) == (
        "too-many-tokens",
        "The calls in the chat have more than 500,000 JSON values. Start a new chat.",
    )
