"""Messages are recognised however a client repeats them."""

from dataclasses import replace
import json
from typing import Any

import pytest

from protocol.canonical import canonical
from protocol.models import (
    AiMessage,
    CallMessage,
    CommandResult,
    DataItem,
    FileReference,
    HumanMessage,
    ResultMessage,
    SourceData,
    SourceError,
)
from protocol.parsing import parse_query

HUMAN = HumanMessage("Café\r\nnoir")
CALL = CallMessage("get_widget_data", {"data_sources": [{"id": "i", "input_args": {"a": 1}}]})
RESULT = ResultMessage(
    "get_widget_data",
    CALL.input_arguments,
    (
        SourceData((DataItem(content="rows"),)),
        SourceError("not_found", "No such widget."),
        CommandResult("success", "Added", {"widget_uuid": "u"}),
    ),
)


def test_canonical_bytes_are_what_hashes_already_stored_were_made_of():
    assert canonical(HUMAN) == "human\ntext\nCafé\nnoir".encode()
    assert canonical(CALL) == (
        b'ai\ncall\n{"function":"get_widget_data",'
        b'"input_arguments":{"data_sources":[{"id":"i","input_args":{"a":1}}]}}'
    )
    assert canonical(RESULT) == (
        b'tool\nresult\n{"data":[["rows"],'
        b'{"content":"No such widget.","error_type":"not_found"},'
        b'{"data":{"widget_uuid":"u"},"message":"Added","status":"success"}],'
        b'"function":"get_widget_data"}'
    )


@pytest.mark.parametrize(
    "same",
    [
        HumanMessage("Café\nnoir"),
        HumanMessage("Cafe\u0301\rnoir"),
        HumanMessage("Café\nnoir", agent_id="openbb-copilot"),
    ],
)
def test_spelling_of_the_same_text_does_not_count(same: HumanMessage):
    assert canonical(same) == canonical(HUMAN)


def test_markers_do_not_count():
    marked = AiMessage('See <|start_artifact_id|>p<|end_artifact_id|><citation className="i"/>.')
    assert canonical(marked) == canonical(AiMessage("See ."))


@pytest.mark.parametrize(
    "same",
    [
        replace(CALL, extra={"extra_state": {"signed": "x"}}),
        CallMessage("get_widget_data", {"data_sources": [{"input_args": {"a": 1.0}, "id": "i"}]}),
    ],
)
def test_order_extras_and_javascript_numbers_of_a_call_do_not_count(same: CallMessage):
    assert canonical(same) == canonical(CALL)


def test_a_file_is_its_address():
    file = FileReference(url="https://f.example/a.pdf")
    message = ResultMessage("get_widget_data", data=(SourceData((file,)),))
    assert canonical(message) == (
        b'tool\nresult\n{"data":[[{"url":"https://f.example/a.pdf"}]],"function":"get_widget_data"}'
    )


def test_renewed_signature_of_a_file_does_not_count():
    def result(signature: str) -> ResultMessage:
        url = f"https://b.s3.amazonaws.com/a.pdf?X-Amz-Signature={signature}&X-Amz-Expires=9"
        return ResultMessage("get_widget_data", data=(SourceData((FileReference(url=url),)),))

    assert canonical(result("one")) == canonical(result("two"))
    assert b"one" not in canonical(result("one"))


RESULTS_OF_ALL_GENERATIONS: list[dict[str, Any]] = [
    {"content": "12.5"},
    {"data": {"content": "12.5"}},
    {"data": [{"content": "12.5"}]},
    {"data": [{"items": [{"content": "12.5"}]}]},
]


def test_result_is_the_same_in_every_dialect():
    def read_back(shape: dict[str, Any]) -> bytes:
        tool = {"role": "tool", "function": "get_widget_data", **shape}
        return canonical(parse_query({"messages": [tool]}).messages[0])

    assert len({read_back(shape) for shape in RESULTS_OF_ALL_GENERATIONS}) == 1


def test_call_is_the_same_as_object_text_or_doubly_encoded_text():
    call = {"function": "f", "input_arguments": {"b": 1, "a": "é"}}
    contents: list[Any] = [
        call,
        json.dumps(call),
        json.dumps(json.dumps(call)),
        json.dumps(call, indent=2),
    ]
    hashed = {
        canonical(parse_query({"messages": [{"role": "ai", "content": content}]}).messages[0])
        for content in contents
    }
    assert len(hashed) == 1
