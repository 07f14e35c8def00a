"""Messages of every generation, every oddity seen in one, and the sources that calls name."""

import json
from typing import Any

import pytest

from protocol.functions import DataSource, data_sources, get_widget_data_call
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

HUMAN = {"role": "human", "content": "q"}
TABLE = {"data_type": "object", "parse_as": "table"}
TEXT = {"data_type": "object", "parse_as": "text"}
CALL: dict[str, Any] = {"function": "f", "input_arguments": {"a": 1}}
CALLED = CallMessage("f", {"a": 1})
MARKED = "a<|start_artifact_id|>b<|end_artifact_id|>"
PARTS = [{"type": "text", "text": "What"}, {"type": "input_text", "text": "moved?"}]
PICTURE = {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}
SAID = {"type": "text", "text": "What moved?"}


def messages(*raw: Any) -> tuple[Message, ...]:
    return parse_query({"messages": list(raw)}).messages


def notes(raw: Any) -> tuple[str, ...]:
    return parse_query({"messages": [HUMAN, raw]}).notes


def data(*contents: str, **more: Any) -> SourceData:
    return SourceData(tuple(DataItem(content=one, **more) for one in contents))


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        *(("human", HumanMessage), ("user", HumanMessage), (" Human ", HumanMessage)),
        *(("ai", AiMessage), ("assistant", AiMessage)),
    ],
)
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x", "x"),
        (PARTS, "What\nmoved?"),
        ([PICTURE, "What", "moved?"], "What\nmoved?"),
        ({"type": "text", "text": "What?"}, "What?"),
    ],
)
def test_roles_and_parts_of_a_text_are_understood(role: str, kind: type, content: Any, text: str):
    assert messages({"role": role, "content": content}) == (kind(text),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CALL, CALLED),
        (json.dumps(json.dumps(CALL)), CALLED),
        (f"\n {json.dumps(CALL)}", CALLED),
        ([{"type": "text", "text": json.dumps(CALL)}], CALLED),
        ('{"function": "f"}', CallMessage("f")),
        ({**CALL, "extra_state": {"b": 2}}, CallMessage("f", {"a": 1}, {"extra_state": {"b": 2}})),
        *(
            (text, AiMessage(text))
            for text in ('{"no": "call"}', '{"function": 5}', '{"function": "f"', "[1]", "{" * 2000)
        ),
        (f"{MARKED}c", AiMessage("ac", artifacts=("b",))),
        ([{"type": "text", "text": MARKED}], AiMessage("a", artifacts=("b",))),
    ],
)
def test_an_ai_message_is_a_call_or_a_text_without_markers(content: Any, message: Message):
    assert messages({"role": "ai", "content": content}) == (message,)


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        (5, " is not an object and was left out."),
        ({}, " was left out: its role is not human, ai or tool."),
        ({"role": "system"}, " was left out: its role is not human, ai or tool."),
        ({"role": "human"}, " was left out: its content is not text."),
        ({"role": "ai", "content": [1]},
         " was left out: its content is neither text nor a function call."),
        ({"role": "ai", "content": {**CALL, "input_arguments": 5}},
         ".content.input_arguments` is not an object and was left out."),
        ({"role": "human", "content": [*PARTS, PICTURE]},
         ".content[2]` is not text and was left out."),
        ({"role": "tool", "data": []}, ".function` is missing; get_widget_data was assumed."),
        ({"role": "tool", "function": "f"},
         " has neither `data` nor `content`; it counts as empty."),
        ({"role": "tool", "function": "f", "data": {"price": 5}},
         ".data` has neither `items` nor `content`; it was taken as data as it is."),
        ({"role": "tool", "function": "f", "content": [{"items": ["x", 5]}]},
         ".content[0].items[1]` is not a data item or a file reference and was left out."),
    ],
)  # fmt: skip
def test_wrong_message_is_noted(raw: Any, note: str):
    assert notes(raw) == (f"`messages[1]{'' if note[0] == '.' else '`'}{note}",)


@pytest.mark.parametrize(
    "after",
    [[], [{"role": "ai", "content": CALL}], [{"role": "ai", "content": "a", "agent_id": "news"}]],
)
def test_task_of_the_orchestrator_is_the_users_turn(after: list):
    task = {"role": "ai", "content": "Read the news.", "agent_id": "openbb-copilot"}
    query = parse_query({"messages": [HUMAN, task, *after]})
    as_turn = HumanMessage("Read the news.", agent_id="openbb-copilot")
    assert query.messages[1] == query.question == as_turn


def test_result_takes_what_it_lacks_from_its_call():
    _, result = messages({"role": "ai", "content": CALL}, {"role": "tool", "data": []})
    assert result == ResultMessage("f", {"a": 1})
    [result] = messages({"role": "tool", "content": "x"})
    assert result == ResultMessage("get_widget_data", {}, (data("x"),))


ROWS = [{"date": "2025-01-09", "rate": 0.0444}]
AS_TABLE = data('[{"date":"2025-01-09","rate":0.0444}]', data_format=TABLE)
CHART = {"type": "chart", "chart_params": {"a": 1}}
PDF = {"data_type": "pdf", "filename": "a.pdf"}
URL = "https://x.example/a.pdf?sig=s"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # generation 1
        ({"content": "10 degrees"}, [data("10 degrees")]),
        ({"content": PARTS}, [data("What\nmoved?")]),
        ({"data": {"content": "10 degrees"}}, [data("10 degrees")]),
        ({"data": {"content": ROWS}}, [AS_TABLE]),
        ({"data": {}}, [data()]),
        # generation 2
        ({"data": [{"content": ROWS}]}, [AS_TABLE]),
        ({"data": [{"content": {"a": "é"}}]}, [data('{"a":"é"}', data_format=TEXT)]),
        ({"data": [{"content": "x", "data_format": CHART}]},
         [data("x", data_format={**TEXT, "parse_as": "chart", "chart_params": {"a": 1}})]),
        ({"data": [{"content": "x", "data_format": "bad"}]}, [data("x")]),
        # generation 3
        ({"data": [{"items": [{"content": "x", "data_format": TABLE, "citable": False}]}]},
         [data("x", data_format=TABLE, citable=False)]),
        ({"data": [{"items": [{"url": URL, "data_format": PDF, "expiration": 1}]}]},
         [SourceData((FileReference(url=URL, data_format=PDF),))]),
        ({"data": [{"items": ["x", 5, {}, {"content": None}]}]}, [data("x")]),
        ({"data": [{"items": {"content": "x"}}]}, [data("x")]),
        ({"data": [{"items": [], "extra_citations": [{"id": "i"}, 5]}]},
         [SourceData((), ({"id": "i"},))]),
        ({"data": [{"error_type": "x", "content": {"a": 1}}]}, [SourceError("x", '{"a":1}')]),
        ({"data": [{"status": "success", "message": "Added", "data": {"u": 1}}]},
         [CommandResult("success", "Added", {"u": 1})]),
        ({"data": [{"status": "error", "message": None}]}, [CommandResult("error")]),
        ({"data": [{"status": "success", "data": [1], "widget_uuid": "w-1", "id": None}]},
         [CommandResult("success", "", {}, {"data": [1], "widget_uuid": "w-1"})]),
        ({"data": [{"status": "success", "content": "x"}]}, [data("x")]),
        ({"data": [{"status": "open", "data": 1}]},
         [data('{"status":"open","data":1}', data_format=TEXT)]),
        ({"data": [{"url": URL}]}, [SourceData((FileReference(url=URL),))]),
        # several sources keep their places
        ({"data": [{"content": "a"}, None, "c", {}]}, [data("a"), data(), data("c"), data()]),
        # rows without any envelope
        ({"data": ROWS}, [AS_TABLE]),
        ({"content": [{"text": "Rose"}]}, [data('[{"text":"Rose"}]', data_format=TABLE)]),
        ({"data": [[1, 2]]}, [data("[1,2]", data_format=TEXT)]),
        ({"data": []}, []),
    ],
)  # fmt: skip
def test_result_is_read_in_every_shape(fields: dict, expected: list):
    [message] = messages({"role": "tool", "function": "f", **fields})
    assert isinstance(message, ResultMessage)
    assert list(message.data) == expected


@pytest.mark.parametrize("raw", [SAID, {"content": SAID}])
def test_a_text_without_a_role_is_the_users(raw: dict):
    assert messages(raw) == messages({"role": "human", "content": "What moved?"})
    assert notes(raw) == ()


def test_call_names_every_source_in_order():
    sources = [
        DataSource(widget_uuid="u", origin="o", id="i", input_args={"a": None}),
        DataSource(origin="o2", id="i2"),
    ]
    arguments = get_widget_data_call(sources)
    assert arguments == {
        "data_sources": [
            {"widget_uuid": "u", "origin": "o", "id": "i", "input_args": {"a": None}},
            {"origin": "o2", "id": "i2", "input_args": {}},
        ]
    }
    assert data_sources(arguments) == tuple(sources)


@pytest.mark.parametrize(
    ("arguments", "sources"),
    [
        ({}, ()),
        ({"widget_uuid": "u"}, (DataSource(widget_uuid="u"),)),
        ({"widget_uuids": ["u", 5, "v"]},
         (DataSource(widget_uuid="u"), DataSource(), DataSource(widget_uuid="v"))),
        ({"data_sources": "no list"}, ()),
        ({"data_sources": [None, {"origin": 1, "id": None, "input_args": []}]},
         (DataSource(), DataSource())),
        ({"data_sources": [{"origin": "o", "widget_id": "w"}]}, (DataSource(origin="o", id="w"),)),
        ({"data_sources": [{"widget_uuid": None, "id": "i"}]}, (DataSource(id="i"),)),
    ],
)  # fmt: skip
def test_sources_are_read_from_any_arguments(arguments: dict, sources: tuple):
    assert data_sources(arguments) == sources
