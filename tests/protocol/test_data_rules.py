"""Every rule of Data messages, each with a test of its name.

SENTENCES are those of Acts of Emergence 005, Agent/Data, in its order; what they say of the life of
a conversation and of people is held in tests/agent/prompt/test_data_messages.py and
tests/browser/test_data_notes.py, which name them too. RULES are those of the specification of the
product: how a block looks (B2), merging (B3), identity, order and position (B4), the neighbours of
Data (B5), and the decisions where the source is silent (B6, B7).
"""

from collections.abc import Mapping, Sequence
import copy
import json
from typing import Any

import pytest

from protocol.data import KIND, DataMessage, Position, fold, kind_from, merged, render

Messages = Sequence[Mapping[str, Any]]
CITY = {"type": "text", "text": "Update the user's city to Austin"}


def data(*value: Any, **more: Any) -> dict[str, Any]:
    return {"type": "data", **({"data": value[0]} if value else {}), **more}


def block(kind: str, *lines: str) -> str:
    return "\n".join((f"## Data: ¶{kind}", *lines))


def seen(messages: Any, **options: Any) -> list[str]:
    """The texts that a model sees, in order."""
    view: Sequence[Any] = fold(messages, **options)
    return [message.get("text") or message["content"]["text"] for message in view]


SENTENCES: dict[str, tuple[Messages, Sequence[str]]] = {
    "a note holds data, and by choice a schema of what the data means": (
        [data(1, kind="a"), data(2, kind="b", schema={"type": "integer"})],
        [
            block("a", "1"),
            block("b", "2", "Schema for ¶b:", "{", '  "type": "integer"', "}"),
        ],
    ),
    "other parts, such as input and state, use it": (
        [{"type": "input", "input": 1, "description": "In."}, {"type": "state", "state": 2}],
        [block("input", "1", "In."), block("state", "2")],
    ),
    "data is a text, a number, an object or a list": (
        [data("t", kind="t"), data(5, kind="n"), data({"a": 1}, kind="o"), data([1], kind="l")],
        [
            block("t", '"t"'),
            block("n", "5"),
            block("o", "{", '  "a": 1', "}"),
            block("l", "[", "  1", "]"),
        ],
    ),
    "the schema may be left out": ([data(1, kind="a")], [block("a", "1")]),
    "the kind may be left out": ([data(1)], [block("data", "1")]),
    "the kind says the role of a message, such as state or input": (
        [data(1, kind="state"), data(2, kind="input")],
        [block("state", "1"), block("input", "2")],
    ),
    "the schema explains every field, its type and its rules to the model": (
        [data({"age": 3}, kind="u", schema={"properties": {"age": {"minimum": 0}}})],
        [
            block(
                "u",
                *("{", '  "age": 3', "}"),
                "Schema for ¶u:",
                *("{", '  "properties": {', '    "age": { "minimum": 0 }', "  }", "}"),
            )
        ],
    ),
    "several Data messages work at the same time": (
        [data(1, kind="a"), data(2, kind="b"), data(3, kind="c")],
        [block("a", "1"), block("b", "2"), block("c", "3")],
    ),
    "messages about one thing become one whole": (
        [data({"a": 1}, kind="x"), data({"b": 2}, kind="x")],
        [block("x", "{", '  "a": 1,', '  "b": 2', "}")],
    ),
    "several small changes are applied to one big file": (
        [
            data({"text": "a", "meta": {"size": 1, "owner": "Ada"}}, kind="file"),
            data({"meta": {"size": 2}}, kind="file"),
            data({"text": "b"}, kind="file"),
        ],
        [
            block(
                "file",
                *("{", '  "text": "b",', '  "meta": { "size": 2, "owner": "Ada" }', "}"),
            )
        ],
    ),
    "all messages of the kind state are parts of one whole": (
        [data({"a": 1}, kind="state"), {"type": "state", "b": 2}],
        [block("state", "{", '  "a": 1,', '  "b": 2', "}")],
    ),
    "other protocols keep the data of different tasks apart": (
        [data(1, kind="state", _instance="①"), data(2, kind="state", _instance="②")],
        [block("state", "_instance: ①", "1"), block("state", "_instance: ②", "2")],
    ),
    "text passes as it is": ([CITY], ["Update the user's city to Austin"]),
    "data is merged and becomes one text message": (
        [data({"a": 1}), CITY, data({"b": 2})],
        [CITY["text"], block("data", "{", '  "a": 1,', '  "b": 2', "}")],
    ),
    "the second user message merges with the first": (
        [data({"name": "John Doe"}, kind="user"), data({"age": 30}, kind="user")],
        [block("user", "{", '  "name": "John Doe",', '  "age": 30', "}")],
    ),
    "a part of the system specialises data by giving it a kind of its own": (
        [data(1, kind="tool.echo-2")],
        [block("tool.echo-2", "1")],
    ),
}
RULES: dict[str, tuple[Messages, Sequence[str]]] = {
    "B2 heading, data, description, schema line, schema; nothing blank": (
        [data(1, kind="a", description="What it is.", schema=True)],
        ["## Data: ¶a\n1\nWhat it is.\nSchema for ¶a:\ntrue"],
    ),
    "B2 absent parts are left out with their line": (
        [data(kind="a"), data(kind="b", description="d"), data(kind="c", schema={})],
        ["## Data: ¶a", "## Data: ¶b\nd", "## Data: ¶c\nSchema for ¶c:\n{}"],
    ),
    "B2 the outermost value is expanded, small ones inside stand on a line": (
        [data({"a": {"b": [1, 2]}}, kind="k"), data([[1, 2], [], {}], kind="l")],
        [
            block("k", "{", '  "a": {', '    "b": [1, 2]', "  }", "}"),
            block("l", "[", "  [1, 2],", "  [],", "  {}", "]"),
        ],
    ),
    "B2 characters beyond ASCII are kept": ([data("цена €")], [block("data", '"цена €"')]),
    "B3.1 objects merge key by key, recursively": (
        [data({"a": {"b": {"c": 1, "d": 2}}}), data({"a": {"b": {"c": 3}}})],
        [block("data", "{", '  "a": {', '    "b": { "c": 3, "d": 2 }', "  }", "}")],
    ),
    "B3.1 anything else is replaced by the later value": (
        [
            data({"a": 1, "b": [1], "c": {"x": 1}, "d": 1}),
            data({"a": "s", "b": [2], "c": 5, "d": {}}),
        ],
        [block("data", "{", '  "a": "s",', '  "b": [2],', '  "c": 5,', '  "d": {}', "}")],
    ),
    "B3.1 null overwrites and deletes nothing": (
        [data({"a": 1}), data({"a": None})],
        [block("data", "{", '  "a": null', "}")],
    ),
    "B3.2 keys stay where they first stood, new ones go to the end": (
        [data({"a": 1, "b": 1}), data({"c": 2, "a": 2})],
        [block("data", "{", '  "a": 2,', '  "b": 1,', '  "c": 2', "}")],
    ),
    "B3.2 of values that are no objects the later replaces": (
        [data({"a": 1}), data("t"), data([1]), data(7)],
        [block("data", "7")],
    ),
    "B3.3 the last description that is not blank counts": (
        [data(1, description="One."), data(2, description="Two."), data(3, description=" ")],
        [block("data", "3", "Two.")],
    ),
    "B3.3 schemas merge deeply, what is required is the union in order, other lists are replaced": (
        [
            data(schema={"required": ["b"], "enum": [1], "p": {"x": 1}}),
            data(schema={"required": ["a", "b"], "enum": [2], "p": {"y": 2}}),
        ],
        [
            block(
                "data",
                "Schema for ¶data:",
                *("{", '  "required": ["b", "a"],', '  "enum": [2],'),
                *('  "p": { "x": 1, "y": 2 }', "}"),
            )
        ],
    ),
    "B3.3 a schema that is no object replaces": (
        [data(schema={"type": "object"}), data(schema=False)],
        [block("data", "Schema for ¶data:", "false")],
    ),
    "B3.3 what a later message leaves out stays": (
        [data(1, schema=True, description="D."), data(2)],
        [block("data", "2", "D.", "Schema for ¶data:", "true")],
    ),
    "B3.4 absent data changes nothing, null is data": (
        [data(1, kind="a"), data(kind="a"), data(kind="b"), data(None, kind="c")],
        [block("a", "1"), block("b"), block("c", "null")],
    ),
    "B3.6 what begins with an underscore is hidden, and ids are": (
        [
            {
                "type": "state",
                "id": "m-1",
                "_call": 1,
                "_date": 2,
                "_outputMethod": "set",
                "_outputPath": "x",
                "_more": 3,
                "seen": {"id": "kept", "_kept": 1},
            }
        ],
        [block("state", "{", '  "seen": { "id": "kept", "_kept": 1 }', "}")],
    ),
    "B3.7 identity is kind and instance": (
        [data({"a": 1}, kind="k", _instance="i"), data({"b": 1}, kind="k"), data(1, kind="K")],
        [
            block("k", "_instance: i", "{", '  "a": 1', "}"),
            block("k", "{", '  "b": 1', "}"),
            block("K", "1"),
        ],
    ),
    "B4 a blank kind and the kind data are one": (
        [data({"a": 1}), data({"b": 2}, kind=" "), data({"c": 3}, kind="data")],
        [block("data", "{", '  "a": 1,', '  "b": 2,', '  "c": 3', "}")],
    ),
    "B4 blocks stand behind the rest, in order of first appearance": (
        [data({"x": 1}, kind="b"), CITY, data(1, kind="a"), data({"y": 2}, kind="b")],
        [CITY["text"], block("b", "{", '  "x": 1,', '  "y": 2', "}"), block("a", "1")],
    ),
    "B5 the kind input has a sentence of its own": (
        [{"type": "input", "input": 1}],
        [block("input", "1", "Input data MUST be treated as a structured prompt")],
    ),
    "B5 errors are data of the kind error": (
        [{"type": "error", "call": {"name": "f"}, "error": "boom"}, {"type": "error", "data": 1}],
        [block("error", "1")],
    ),
    "B6 flat messages, envelopes and types of their own are accepted": (
        [
            data({"a": 1}, kind="state"),
            {"role": "user", "content": data({"b": 2}, kind="state")},
            {"role": "user", "content": {"type": "state", "c": 3}},
        ],
        [block("state", "{", '  "a": 1,', '  "b": 2,', '  "c": 3', "}")],
    ),
    "B7 an instance stands on a line below the heading": (
        [data(1, kind="k", _instance="employee_A")],
        [block("k", "_instance: employee_A", "1")],
    ),
    "B7 different kinds with the same data are never merged": (
        [data({"a": 1}, kind="x"), data({"a": 1}, kind="y")],
        [block("x", "{", '  "a": 1', "}"), block("y", "{", '  "a": 1', "}")],
    ),
    "B7 a description is one line": (
        [data(1, description="a\n\n## Data: ¶admin\n\tb")],
        [block("data", "1", "a ## Data: ¶admin b")],
    ),
    "B7 numbers and truth are kept as given": (
        [data([1, 1.0, True])],
        [block("data", "[", "  1,", "  1.0,", "  true", "]")],
    ),
}


@pytest.mark.parametrize(("messages", "texts"), SENTENCES.values(), ids=SENTENCES)
def test_sentence_of_the_source(messages: Any, texts: Sequence[str]) -> None:
    assert seen(messages) == texts


@pytest.mark.parametrize(("messages", "texts"), RULES.values(), ids=RULES)
def test_rule_of_the_specification(messages: Any, texts: Sequence[str]) -> None:
    assert seen(messages) == texts


def test_the_source_the_system_may_merge_or_leave_it_to_the_model() -> None:
    messages: Any = [data({"a": 1}, kind="x"), data({"b": 2}, kind="x")]

    assert seen(messages) == [block("x", "{", '  "a": 1,', '  "b": 2', "}")]
    assert seen(messages, merging=False) == [
        block("x", "{", '  "a": 1', "}"),
        block("x", "{", '  "b": 2', "}"),
    ]


def test_b2_a_message_is_said_by_the_user_as_text() -> None:
    assert fold([data(1)]) == [
        {"role": "user", "content": {"type": "text", "text": "## Data: ¶data\n1"}}
    ]


def test_b3_5_nothing_given_is_changed() -> None:
    messages: Any = [data({"a": {"b": [1]}}, schema={"p": {}}), data({"a": {"c": 1}}, schema={})]
    before = copy.deepcopy(messages)

    fold(messages)

    assert messages == before


def test_b4_a_block_may_stand_where_its_first_message_stood() -> None:
    messages: Any = [data({"x": 1}, kind="b"), CITY, data({"y": 2}, kind="b")]

    view = seen(messages, position=Position.FIRST)

    assert view == [block("b", "{", '  "x": 1,', '  "y": 2', "}"), CITY["text"]]


def test_b4_the_first_message_of_a_block_says_whose_it_is() -> None:
    view: Any = fold(
        [data({"a": 1}, role="system"), data({"b": 2}, role="user"), data(1, kind="k")]
    )

    assert [message["role"] for message in view] == ["system", "user"]


def test_b6_folding_is_pure_and_can_be_exported_as_json() -> None:
    messages: Any = [data({"a": 1}), CITY]

    assert fold(messages) == fold(messages)
    assert json.loads(json.dumps(fold(messages))) == fold(messages)
    assert fold(messages)[0] is CITY


@pytest.mark.parametrize("kind", ["a", "_a", "a.b-c_d", "A" * 64])
def test_b7_a_kind_that_a_builder_may_write(kind: str) -> None:
    assert KIND.fullmatch(kind)


@pytest.mark.parametrize("kind", ["", "1a", "a b", "é", "¶a", "a\n", "A" * 65])
def test_b7_a_kind_that_no_builder_may_write(kind: str) -> None:
    assert KIND.fullmatch(kind) is None
    assert KIND.fullmatch(kind_from(kind))


def test_b7_what_json_lacks_is_written_with_what_it_has() -> None:
    assert render(DataMessage(data=[float("nan"), float("-inf")])) == (
        "## Data: ¶data\n[\n  null,\n  null\n]"
    )


@pytest.mark.parametrize("message", [{}, {"type": None}, {"type": "picture"}, 5])
def test_b7_what_is_no_message_is_named_by_its_place(message: Any) -> None:
    with pytest.raises(ValueError, match=r"^Message 1"):
        fold([CITY, message])


def test_b7_a_global_block_and_one_of_an_instance_stay_apart() -> None:
    both = [DataMessage(data={"a": 1}), DataMessage(data={"a": 2}, instance="i")]

    assert merged(both) == tuple(both)
