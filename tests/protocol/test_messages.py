"""Messages of every generation, and every oddity seen in one."""

import json
from typing import Any

import pytest

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
    SourceResult,
)
from protocol.parsing import parse_query

HUMAN = {"role": "human", "content": "q"}
TABLE = {"data_type": "object", "parse_as": "table"}
TEXT = {"data_type": "object", "parse_as": "text"}
CALL: dict[str, Any] = {"function": "f", "input_arguments": {"a": 1}}
SAID = {"type": "text", "text": "What moved?"}


def messages(*raw: Any) -> tuple[Message, ...]:
    return parse_query({"messages": list(raw)}).messages


def notes(*raw: Any) -> tuple[str, ...]:
    return parse_query({"messages": [HUMAN, *raw]}).notes


def results(**fields: Any) -> tuple[SourceResult, ...]:
    [message] = messages({"role": "tool", "function": "f", **fields})
    assert isinstance(message, ResultMessage)
    return message.data


def one(*items: DataItem | FileReference) -> tuple[SourceData]:
    return (SourceData(items),)


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        ("human", HumanMessage),
        ("user", HumanMessage),
        (" Human ", HumanMessage),
        ("ai", AiMessage),
        ("assistant", AiMessage),
    ],
)
def test_roles_are_understood_in_any_spelling(role: str, kind: type):
    assert messages({"role": role, "content": "x"}) == (kind("x"),)


@pytest.mark.parametrize(
    ("content", "call"),
    [
        (CALL, CallMessage("f", {"a": 1})),
        (json.dumps(CALL), CallMessage("f", {"a": 1})),
        (json.dumps(json.dumps(CALL)), CallMessage("f", {"a": 1})),
        (f"\n {json.dumps(CALL)}", CallMessage("f", {"a": 1})),
        ('{"function": "f"}', CallMessage("f")),
        (
            {**CALL, "extra_state": {"b": 2}},
            CallMessage("f", {"a": 1}, {"extra_state": {"b": 2}}),
        ),
    ],
)
def test_call_is_decoded(content: Any, call: CallMessage):
    assert messages({"role": "ai", "content": content}) == (call,)


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "",
        '{"no": "call"}',
        '{"function": 5}',
        '{"function": "f"',
        '"a quoted text"',
        "[1, 2]",
        "{" * 2000,
        json.dumps(json.dumps(json.dumps(json.dumps(CALL)))),
    ],
)
def test_text_that_is_no_call_stays_text(text: str):
    assert messages({"role": "ai", "content": text}) == (AiMessage(text),)


def test_wrong_arguments_of_a_call_are_dropped_with_a_note():
    query = parse_query(
        {"messages": [{"role": "ai", "content": {"function": "f", "input_arguments": 5}}]}
    )
    assert query.messages == (CallMessage("f"),)
    assert query.notes == (
        "`messages[0].content.input_arguments` is not an object and was left out.",
    )


def test_agent_of_an_answer_is_kept_and_markers_are_not():
    marked = {"role": "ai", "content": "a<|start_artifact_id|>b<|end_artifact_id|>c"}
    assert messages({**marked, "agent_id": "news"}) == (
        AiMessage("ac", agent_id="news", artifacts=("b",)),
    )


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        (5, "`messages[1]` is not an object and was left out."),
        ({}, "`messages[1]` was left out: its role is not human, ai or tool."),
        ({"role": "system"}, "`messages[1]` was left out: its role is not human, ai or tool."),
        (
            {"role": "ai", "content": [1]},
            "`messages[1]` was left out: its content is neither text nor a function call.",
        ),
        (
            {"role": "ai", "content": {"a": 1}},
            "`messages[1]` was left out: its content is neither text nor a function call.",
        ),
        (
            {"role": "tool", "data": []},
            "`messages[1].function` is missing; get_widget_data was assumed.",
        ),
        (
            {"role": "tool", "function": "f"},
            "`messages[1]` has neither `data` nor `content`; it counts as empty.",
        ),
    ],
)
def test_wrong_message_is_noted(raw: Any, note: str):
    assert notes(raw) == (note,)


PARTS = [{"type": "text", "text": "What"}, {"type": "input_text", "text": "moved?"}]
PICTURE = {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (PARTS, "What\nmoved?"),
        (["What", "moved?"], "What\nmoved?"),
        ([PICTURE, *PARTS], "What\nmoved?"),
        ([{"type": "text", "text": ""}], ""),
        ({"type": "text", "text": "What?"}, "What?"),
    ],
)
def test_content_in_parts_is_their_text(content: Any, text: str):
    assert messages({"role": "human", "content": content}) == (HumanMessage(text),)
    assert messages({"role": "ai", "content": content}) == (AiMessage(text),)


def test_parts_without_text_are_noted():
    said = {"role": "human", "content": [PICTURE, *PARTS, 5]}
    assert notes(said) == (
        "`messages[1].content[0]` is not text and was left out.",
        "`messages[1].content[3]` is not text and was left out.",
    )


def test_a_call_in_a_part_is_a_call_and_an_artifact_in_one_is_known():
    part = {"type": "text", "text": json.dumps(CALL)}
    assert messages({"role": "ai", "content": [part]}) == (CallMessage("f", {"a": 1}),)
    marked = {"type": "text", "text": "a<|start_artifact_id|>b<|end_artifact_id|>"}
    assert messages({"role": "ai", "content": [marked]}) == (AiMessage("a", artifacts=("b",)),)


def test_a_result_in_parts_is_their_text_and_rows_stay_rows():
    assert results(content=PARTS) == one(DataItem(content="What\nmoved?"))
    rows = [{"text": "Rates rose", "day": "Mon"}]
    assert results(content=rows) == one(
        DataItem(content='[{"text":"Rates rose","day":"Mon"}]', data_format=TABLE)
    )


# --- the orchestrator ----------------------------------------------------------------------------

TASK = {"role": "ai", "content": "Read the news.", "agent_id": "openbb-copilot"}
AS_TURN = HumanMessage("Read the news.", agent_id="openbb-copilot")


@pytest.mark.parametrize(
    "after",
    [[], [{"role": "ai", "content": CALL}], [{"role": "ai", "content": "a", "agent_id": "news"}]],
)
def test_task_of_the_orchestrator_is_the_users_turn(after: list):
    query = parse_query({"messages": [HUMAN, TASK, *after]})
    assert query.messages[1] == query.question == AS_TURN


# --- results -------------------------------------------------------------------------------------


def test_result_takes_what_it_lacks_from_its_call():
    _, result = messages({"role": "ai", "content": CALL}, {"role": "tool", "data": []})
    assert result == ResultMessage("f", {"a": 1})


def test_result_without_a_call_is_widget_data():
    assert messages({"role": "tool", "content": "x"}) == (
        ResultMessage("get_widget_data", {}, one(DataItem(content="x"))),
    )


ROWS = [{"date": "2025-01-09", "rate": 0.0444}]
ROWS_JSON = '[{"date":"2025-01-09","rate":0.0444}]'


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # generation 1
        ({"content": "10 degrees"}, one(DataItem(content="10 degrees"))),
        ({"data": {"content": "10 degrees"}}, one(DataItem(content="10 degrees"))),
        ({"data": {"content": ROWS}}, one(DataItem(content=ROWS_JSON, data_format=TABLE))),
        ({"data": {}}, one()),
        # generation 2
        ({"data": [{"content": ROWS}]}, one(DataItem(content=ROWS_JSON, data_format=TABLE))),
        ({"data": [{"content": {"a": "é"}}]}, one(DataItem(content='{"a":"é"}', data_format=TEXT))),
        (
            {
                "data": [
                    {"content": "x", "data_format": {"type": "chart", "chart_params": {"a": 1}}}
                ]
            },
            one(
                DataItem(
                    content="x",
                    data_format={
                        "data_type": "object",
                        "parse_as": "chart",
                        "chart_params": {"a": 1},
                    },
                )
            ),
        ),
        ({"data": [{"content": "x", "data_format": "bad"}]}, one(DataItem(content="x"))),
        # generation 3
        (
            {"data": [{"items": [{"content": "x", "data_format": TABLE, "citable": False}]}]},
            one(DataItem(content="x", data_format=TABLE, citable=False)),
        ),
        (
            {
                "data": [
                    {
                        "items": [
                            {
                                "url": "https://x.example/a.pdf?sig=s",
                                "data_format": {"data_type": "pdf", "filename": "a.pdf"},
                                "expiration": 1,
                            }
                        ]
                    }
                ]
            },
            one(
                FileReference(
                    url="https://x.example/a.pdf?sig=s",
                    data_format={"data_type": "pdf", "filename": "a.pdf"},
                )
            ),
        ),
        ({"data": [{"items": ["x", 5, {}, {"content": None}]}]}, one(DataItem(content="x"))),
        ({"data": [{"items": {"content": "x"}}]}, one(DataItem(content="x"))),
        (
            {"data": [{"items": [], "extra_citations": [{"id": "i"}, 5]}]},
            (SourceData((), ({"id": "i"},)),),
        ),
        (
            {"data": [{"error_type": "not_found", "content": "gone"}]},
            (SourceError("not_found", "gone"),),
        ),
        ({"data": [{"error_type": "x", "content": {"a": 1}}]}, (SourceError("x", '{"a":1}'),)),
        (
            {"data": [{"status": "success", "message": "Added", "data": {"u": 1}}]},
            (CommandResult("success", "Added", {"u": 1}),),
        ),
        ({"data": [{"status": "error", "message": None}]}, (CommandResult("error"),)),
        (
            {"data": [{"status": "success", "data": [1], "widget_uuid": "w-1", "id": None}]},
            (CommandResult("success", "", {}, {"data": [1], "widget_uuid": "w-1"}),),
        ),
        ({"data": [{"status": "success", "content": "x"}]}, one(DataItem(content="x"))),
        ({"data": [{"url": "https://x.example/a"}]}, one(FileReference(url="https://x.example/a"))),
        # several sources keep their places
        (
            {"data": [{"content": "a"}, None, "c", {}]},
            (*one(DataItem(content="a")), *one(), *one(DataItem(content="c")), *one()),
        ),
        # rows without any envelope
        ({"data": ROWS}, one(DataItem(content=ROWS_JSON, data_format=TABLE))),
        ({"data": [[1, 2]]}, one(DataItem(content="[1,2]", data_format=TEXT))),
        ({"data": []}, ()),
    ],
)
def test_result_is_read_in_every_shape(fields: dict, expected: tuple):
    assert results(**fields) == expected


def test_items_that_cannot_be_read_are_noted():
    data = [{"items": ["x", 5, {}]}]
    assert notes({"role": "tool", "function": "f", "data": data}) == (
        "`messages[1].data[0].items[1]` is not a data item or a file reference and was left out.",
        "`messages[1].data[0].items[2]` is not a data item or a file reference and was left out.",
    )


@pytest.mark.parametrize("raw", [SAID, {"content": SAID}])
def test_a_text_without_a_role_is_the_users(raw: dict):
    assert messages(raw) == messages({"role": "human", "content": "What moved?"})
    assert notes(raw) == ()


def test_data_without_an_envelope_is_noted():
    assert notes({"role": "tool", "function": "f", "data": {"price": 5}}) == (
        "`messages[1].data` has neither `items` nor `content`; it was taken as data as it is.",
    )
