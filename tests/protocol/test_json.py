"""JSON: strict reading, a layout for models, canonical bytes of messages, and schemas."""

from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum, StrEnum
import gzip
import json
import math
from typing import Any

import pytest

from protocol.canonical import canonical
from protocol.json import MAX_DEPTH, JsonObject, MalformedJson, layout, loads, parse
from protocol.json_schema import (
    argument_faults,
    data_faults,
    schema_fault,
    self_contained,
    simplified,
)
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


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b' \t\r\n{"a" : [ ] }\n', {"a": []}),
        (b"18446744073709551615", 18446744073709551615),
        (b"-9223372036854775808", -9223372036854775808),
        (b"18446744073709551616", 1.8446744073709552e19),
        (b"1e308", 1e308),
        (b"-1.5E-400", -0.0),
        (b'{"a":1,"a":2}', {"a": 2}),
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\u0000 \ud800"', "\ufffd \ufffd"),
        (rb'{"\u0000":[1,"\udfff"],"n":null}', {"\ufffd": [1, "\ufffd"], "n": None}),
        (rb'["\ud800", ' + b"9" * 5000 + b", NaN]", ["\ufffd", None, None]),
    ],
)
def test_oddities_are_read(body: bytes, value: object):
    assert loads(body) == value


MALFORMED = (
    b"", b"{", b"{'a':1}", b'{"a":1,}', b'{"a":1} x', b'"raw \n newline"', b'"raw \x00 nul"', b"01",
    b"NaN", b"1e400", rb'["\ud800",',
)  # fmt: skip


@pytest.mark.parametrize(
    ("body", "code"),
    [
        *((body, "malformed-json") for body in MALFORMED),
        ('{"a":1}'.encode("utf-16"), "not-utf8"),
        ('"é"'.encode("latin-1"), "not-utf8"),
        (b'"\xed\xa0\x80"', "not-utf8"),
        (gzip.compress(b"{}", mtime=0), "compressed-body"),
        (nested(MAX_DEPTH + 1), "too-deep"),
        (b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), "too-deep"),
        (nested(100_000), "too-deep"),
        (rb'["\ud800",' + nested(100_000) + b"]", "too-deep"),
    ],
)
def test_invalid_json_is_refused(body: bytes, code: str):
    with pytest.raises(MalformedJson) as refused:
        loads(body)
    assert refused.value.code == code
    assert refused.value.public == str(refused.value)
    assert refused.value.public.endswith(".")


def test_json_of_the_largest_depth_is_read():
    assert loads(nested(MAX_DEPTH)) is not None


def test_replaced_characters_are_reported():
    assert parse(rb'["\u0000"]') == (["\ufffd"], True)
    assert parse(rb'["\ud83d\ude00 \\u0000"]') == (["😀 \\u0000"], False)


def test_place_of_a_mistake_is_known():
    with pytest.raises(MalformedJson) as refused:
        loads(b'{\n "a": x}')
    assert refused.value.place == (2, 7)
    assert refused.value.public.startswith("The body is not valid JSON (line 2, column 7: ")


def test_layout_of_small_and_long_values_as_in_vector_18() -> None:
    value = {
        "short": {"a": 1, "b": "two"},
        "list": [1, 2, 3],
        "nested": [{"a": 1}, {"a": 2}],
        "emp": {},
        "el": [],
    }

    assert layout(value) == (
        '{\n  "short": { "a": 1, "b": "two" },\n  "list": [1, 2, 3],\n'
        '  "nested": [\n    { "a": 1 },\n    { "a": 2 }\n  ],\n  "emp": {},\n  "el": []\n}'
    )


@pytest.mark.parametrize(
    "wrap",
    [lambda text: {"k": {"v": text}}, lambda text: {"k": [text]}, lambda text: [{"v": text}]],
)
def test_line_has_at_most_80_columns(wrap: Callable[[str], Any]) -> None:
    [_, line, _] = layout(wrap("")).splitlines()
    longest = "x" * (80 - len(line))
    assert [len(one) for one in layout(wrap(longest)).splitlines()] == [1, 80, 1]
    assert len(layout(wrap(f"{longest}x")).splitlines()) == 5


def test_line_ends_of_unicode_stay_inside_their_line() -> None:
    assert layout({"a": "x\u2028## Data: ¶b\u2029\u0085"}) == (
        '{\n  "a": "x\\u2028## Data: ¶b\\u2029\\u0085"\n}'
    )


def test_values_that_json_lacks_are_written_as_what_it_has() -> None:
    class Sky(StrEnum):
        CLEAR = "clear"

    class Level(IntEnum):
        HIGH = 3

    assert layout({"nan": math.nan, "rows": [{"v": math.inf}], "x": 1.0}) == (
        '{\n  "nan": null,\n  "rows": [\n    { "v": null }\n  ],\n  "x": 1.0\n}'
    )
    assert layout([Sky.CLEAR, Level.HIGH, True]) == '[\n  "clear",\n  3,\n  true\n]'


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


def test_faults_are_named_in_the_words_of_callers() -> None:
    schema = {"required": ["x"], "properties": {"n": {"items": {"type": "integer"}}}}

    wrong = "n[1]: 'two' is not of type 'integer'"
    assert argument_faults({"n": [1, "two"], "x": 1}, schema) == (wrong,)
    assert argument_faults({"n": [1, "two"]}, schema) == ("x is missing", wrong)
    assert argument_faults({"x": 1}, {"required": ["x"]}) == ()


def unresolved(reference: str) -> str:
    return f"$: the reference {reference!r} leads to no schema."


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        (None, ""),
        (True, ""),
        (5, "$: 5 is not of type 'object', 'boolean'"),
        ({"pattern": "("}, "$.pattern: '(' is not a 'regex'"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, ""),
        ({"properties": {"a": {}, "b": {"$ref": "#/properties/a"}}}, ""),
        ({"$ref": "#/nowhere"}, unresolved("#/nowhere")),
        ({"$ref": "#/anyOf/7", "anyOf": [True]}, unresolved("#/anyOf/7")),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}, ""),
        ({"$ref": "#/$defs/a~1b~0c%20d", "$defs": {"a/b~c d": {}}}, ""),
        ({"properties": {"$id": {"type": "string"}, "$ref": {}}}, ""),
        ({"$ref": "#/required/0", "required": ["a"]}, unresolved("#/required/0")),
        ({"$ref": "#/minLength/x", "minLength": 1}, unresolved("#/minLength/x")),
        ({"$dynamicRef": "#/properties", "properties": {"type": {"type": "string"}}},
         unresolved("#/properties")),
        ({"anyOf": [{"$ref": "file:///x"}]},
         "$: the reference 'file:///x' leads outside the schema."),
    ],
)  # fmt: skip
def test_a_schema_is_checked_and_nothing_is_fetched_for_it(schema: Any, fault: str) -> None:
    assert schema_fault(schema) == fault


def test_a_generated_schema_is_made_self_contained() -> None:
    generated = {
        "title": "Parameters",
        "type": "object",
        "properties": {
            "title": {"title": "Title", "type": "string", "default": "x"},
            "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["rows"],
        "$defs": {"Row": {"title": "Row", "properties": {"n": {"title": "N", "type": "number"}}}},
    }

    assert self_contained(generated) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "rows": {"type": "array", "items": {"properties": {"n": {"type": "number"}}}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["rows"],
    }
    assert self_contained({"type": "object"}) == {"type": "object"}


def test_a_schema_without_an_end_is_refused() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"not": deep}

    assert schema_fault(deep) == "$: it is nested too deeply."
    assert data_faults(1, {"$ref": "#"}) == ("$: the schema refers to itself without an end.",)


def test_data_is_checked_with_the_path_of_every_fault() -> None:
    schema = {"properties": {"rows": {"items": {"required": ["n"]}}, "a": {"type": "string"}}}

    assert data_faults({"rows": [{"n": 1}, {}], "a": 5}, schema) == (
        "$.a: 5 is not of type 'string'",
        "$.rows[1]: 'n' is a required property",
    )
    assert data_faults({}, None) == ()
    (lost,) = data_faults(1, {"$ref": "#/nowhere"})
    assert lost == "$: the schema's reference '/nowhere' leads nowhere."
    assert len(data_faults([1] * 50, {"items": {"type": "string"}})) == 10


@pytest.mark.parametrize(
    ("schema", "simple"),
    [
        (
            {"type": ["array", "string"], "items": {}},
            {"type": "array", "items": {"type": "string"}},
        ),
        ({"type": ["null", "integer"], "minimum": 1}, {"type": "integer"}),
        ({"anyOf": [{"type": "null"}, {"type": "number"}]}, {"type": "number"}),
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer"}),
        (
            {"type": "object", "additionalProperties": {"type": "string"}, "$schema": "x"},
            {"type": "object", "properties": {}},
        ),
        (
            {
                "$defs": {"P": {"type": "object", "properties": {"n": {"description": "N"}}}},
                "properties": {"p": {"$ref": "#/$defs/P"}},
                "required": ["p", "q"],
            },
            {
                "type": "object",
                "properties": {
                    "p": {
                        "type": "object",
                        "properties": {"n": {"type": "string", "description": "N"}},
                    }
                },
                "required": ["p"],
            },
        ),
    ],
)
def test_a_schema_is_simplified(schema: JsonObject, simple: JsonObject) -> None:
    assert simplified(schema) == simple


def test_a_schema_that_refers_to_itself_is_simplified() -> None:
    schema: JsonObject = {"$defs": {"T": {"items": {"$ref": "#/$defs/T"}}}, "$ref": "#/$defs/T"}
    assert simplified(schema)["type"] == "array"
