"""Data messages among the messages of a request: which are read, and what they do not disturb."""

from typing import Any

import pytest

from protocol.data import DataMessage
from protocol.models import CallMessage, ContextItem, HumanMessage, Query, ResultMessage
from protocol.parsing import UnusableQuery, parse_query

ASKED = {"role": "human", "content": "Hello"}
USER = {"type": "data", "kind": "user", "data": {"age": 30}}
THIRTY = (ContextItem(message=DataMessage(kind="user", data={"age": 30})),)


def query(*messages: Any) -> Query:
    return parse_query({"messages": list(messages)})


@pytest.mark.parametrize(
    "message",
    [
        USER,
        *({"role": role, "content": USER} for role in ("user", "assistant")),
        {"role": "system", **USER},
        {"role": "user", "content": [USER]},
        {"content": USER},
    ],
)
def test_it_is_read_flat_and_in_an_envelope(message):
    found = query(message, ASKED)
    assert (found.context, found.messages, found.notes) == (THIRTY, (HumanMessage("Hello"),), ())


def test_a_result_stays_a_result_and_its_call_before_it():
    call = {"role": "ai", "content": '{"function": "get_widget_data", "input_arguments": {}}'}
    result = {"role": "tool", "type": "data", "data": [{"items": [{"content": "1"}]}]}
    found = query(ASKED, call, USER, result)
    assert [type(one) for one in found.messages] == [HumanMessage, CallMessage, ResultMessage]
    assert (found.messages[2].function, found.context) == ("get_widget_data", THIRTY)


def test_data_alone_asks_nothing_and_words_stay_words():
    with pytest.raises(UnusableQuery, match="The messages are data alone"):
        query(USER)
    assert query({**ASKED, "type": "data"}).messages == (HumanMessage("Hello"),)


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ({"description": " "}, "a Data message with data, a schema or a description"),
        ({"data": 1, "kind": []}, "a Data message of texts and a JSON Schema"),
        ({"data": 1, "schema": "x"}, "a Data message of texts and a JSON Schema"),
    ],
)
def test_what_is_none_is_left_out_and_noted(message, wanted):
    found = query(ASKED, {"type": "data", **message})
    assert found.context == ()
    assert found.notes == (f"`messages[1]` is not {wanted} and was left out.",)
