"""Data messages among the messages of a request: which are read, and what they do not disturb."""

from typing import Any

import pytest

from protocol.data import DataMessage
from protocol.models import CallMessage, HumanMessage, Query, ResultMessage
from protocol.parsing import UnusableQuery, parse_query

ASKED = {"role": "human", "content": "Hello"}
USER = {"type": "data", "kind": "user", "data": {"age": 30}}
THIRTY = DataMessage(kind="user", data={"age": 30})


def query(*messages: Any, **more: Any) -> Query:
    return parse_query({"messages": list(messages), **more})


def data_of(found: Query) -> list[DataMessage | None]:
    return [item.message for item in found.context]


@pytest.mark.parametrize(
    "message",
    [
        USER,
        {"role": "user", "content": USER},
        {"role": "human", **USER},
        {"role": "assistant", "content": USER},  # nobody but the user is spoken for
        {"role": "system", **USER},
        {"role": "user", "content": [USER]},
        {"content": USER},
    ],
)
def test_it_is_read_flat_and_in_an_envelope(message):
    found = query(message, ASKED)
    assert data_of(found) == [THIRTY]
    assert found.messages == (HumanMessage("Hello"),)
    assert found.notes == ()


def test_a_result_stays_a_result_and_its_call_before_it():
    call = {"role": "ai", "content": '{"function": "get_widget_data", "input_arguments": {}}'}
    result = {"role": "tool", "type": "data", "data": [{"items": [{"content": "1"}]}]}
    found = query(ASKED, call, USER, result)
    human, called, answered = found.messages
    assert (type(human), type(called), type(answered)) == (
        HumanMessage,
        CallMessage,
        ResultMessage,
    )
    assert isinstance(answered, ResultMessage)
    assert answered.function == "get_widget_data"
    assert data_of(found) == [THIRTY]


def test_words_stay_words_whatever_type_is_written_beside_them():
    found = query({"role": "human", "type": "data", "content": "Hello"})
    assert (found.messages, found.context) == ((HumanMessage("Hello"),), ())


def test_data_alone_asks_nothing():
    with pytest.raises(UnusableQuery, match="The messages are data alone"):
        query(USER)


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ({"type": "data"}, "a Data message with data, a schema or a description"),
        ({"type": "data", "description": " "}, "a Data message with data, a schema or a descript"),
        ({"type": "data", "data": 1, "kind": []}, "a Data message of texts and a JSON Schema"),
        (
            {"type": "data", "data": 1, "description": 5},
            "a Data message of texts and a JSON Schema",
        ),
        ({"type": "data", "data": 1, "schema": "x"}, "a Data message of texts and a JSON Schema"),
    ],
)
def test_what_is_none_is_left_out_and_noted(message, wanted):
    found = query(ASKED, message)
    assert found.context == ()
    (note,) = found.notes
    assert note.startswith("`messages[1]` is not ")
    assert wanted in note
