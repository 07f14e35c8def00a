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
    Message,
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
        SourceData((DataItem(content="rows"), FileReference(url="https://f.example/a.pdf"))),
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
        b'tool\nresult\n{"data":[["rows",{"url":"https://f.example/a.pdf"}],'
        b'{"content":"No such widget.","error_type":"not_found"},'
        b'{"data":{"widget_uuid":"u"},"message":"Added","status":"success"}],'
        b'"function":"get_widget_data"}'
    )


def file(signature: str) -> ResultMessage:
    url = f"https://b.s3.amazonaws.com/a.pdf?X-Amz-Signature={signature}&X-Amz-Expires=9"
    return ResultMessage("get_widget_data", data=(SourceData((FileReference(url=url),)),))


@pytest.mark.parametrize(
    ("message", "same"),
    [
        (HUMAN, HumanMessage("  Cafe\u0301\rnoir\n\n")),
        (HUMAN, HumanMessage("Café\nnoir", agent_id="openbb-copilot")),
        (AiMessage("a."), AiMessage("a<|start_artifact_id|>p<|end_artifact_id|>.")),
        (CALL, replace(CALL, extra={"extra_state": {"signed": "x"}})),
        (CALL, CallMessage(
            "get_widget_data", {"data_sources": [{"input_args": {"a": 1.0}, "id": "i"}]})),
        (RESULT, replace(RESULT, input_arguments={}, extra_state={"a": 1})),
        (file("one"), file("two")),
    ],
)  # fmt: skip
def test_what_a_client_changes_does_not_count(message: Message, same: Message):
    assert canonical(message) == canonical(same)


CALLED = {"function": "f", "input_arguments": {"b": 1, "a": "é"}}


@pytest.mark.parametrize(
    ("role", "forms"),
    [
        ("tool", [
            {"content": "12.5"}, {"data": {"content": "12.5"}}, {"data": [{"content": "12.5"}]},
            {"data": [{"items": [{"content": "12.5"}]}]},
        ]),
        ("ai", [{"content": one} for one in (
            CALLED, json.dumps(CALLED), json.dumps(json.dumps(CALLED)), json.dumps(CALLED, indent=2)
        )]),
    ],
)  # fmt: skip
def test_a_message_is_the_same_in_every_dialect(role: str, forms: list[dict[str, Any]]):
    bodies = ({"messages": [{"role": role, "function": "f", **form}]} for form in forms)
    assert len({canonical(parse_query(body).messages[0]) for body in bodies}) == 1
