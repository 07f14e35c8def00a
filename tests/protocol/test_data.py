"""Data messages: the vectors 1 to 21 of the specification, by number, and the laws that always hold.

The rules themselves, sentence by sentence, are in test_data_rules.py.
"""

from collections.abc import Sequence
import copy
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
import doctest
from enum import IntEnum, StrEnum
import importlib
from itertools import pairwise
import json
import math
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from hypothesis import given
from hypothesis import strategies as st
import pytest

from protocol.data import (
    KIND,
    MISSING,
    DataMessage,
    Position,
    fitting,
    fold,
    folded,
    kind_from,
    layout,
    merge,
    merge_schemas,
    merged,
    read_data_message,
    render,
    taken_apart,
)

USER_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "number"},
        "city": {"type": "string"},
    },
}
PUBLISHED = """## Data: ¶user
{
  "name": "John Doe",
  "age": 30
}
Represents the current user.
Schema for ¶user:
{
  "type": "object",
  "properties": {
    "name": { "type": "string" },
    "age": { "type": "number" },
    "city": { "type": "string" }
  }
}"""


def data(kind: str | None, *value: Any, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"type": "data", **more}
    if kind is not None:
        message["kind"] = kind
    if value:
        message["data"] = value[0]
    return message


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def texts(messages: Sequence[Any], **options: Any) -> list[str]:
    view: Sequence[Any] = fold(messages, **options)
    return [message.get("text") or message["content"]["text"] for message in view]


@pytest.mark.parametrize(
    "module", ["message", "merging", "layout", "rendering", "folding"], ids=str
)
def test_the_examples_of_the_docstrings_are_true(module: str) -> None:
    outcome = doctest.testmod(importlib.import_module(f"protocol.data.{module}"))

    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_the_published_example_comes_out_byte_for_byte_as_in_vector_1() -> None:
    messages = [
        text("Update the user's city to Austin"),
        data(
            "user",
            {"name": "John Doe"},
            description="Represents the current user.",
            schema=USER_SCHEMA,
        ),
        data("user", {"age": 30}),
    ]

    assert fold(messages) == [
        text("Update the user's city to Austin"),
        {"role": "user", "content": {"type": "text", "text": PUBLISHED}},
    ]


VECTORS = {
    "2. objects merge at every depth": (
        [
            data("user", {"profile": {"city": "Rome", "zip": "00100"}, "age": 30}),
            data("user", {"profile": {"city": "Austin"}, "age": 31}),
        ],
        ['## Data: ¶user\n{\n  "profile": { "city": "Austin", "zip": "00100" },\n  "age": 31\n}'],
    ),
    "3. lists are replaced": (
        [data("state", {"tags": ["a", "b"], "n": 1}), data("state", {"tags": ["c"]})],
        ['## Data: ¶state\n{\n  "tags": ["c"],\n  "n": 1\n}'],
    ),
    "4. null is a value": (
        [data("state", {"error": "boom", "step": 2}), data("state", {"error": None})],
        ['## Data: ¶state\n{\n  "error": null,\n  "step": 2\n}'],
    ),
    "5. what was replaced does not come back": (
        [data("x", {"v": {"a": 1}}), data("x", {"v": "gone"}), data("x", {"v": {"b": 2}})],
        ['## Data: ¶x\n{\n  "v": { "b": 2 }\n}'],
    ),
    "6. a list as data is replaced": (
        [data("rows", [1, 2]), data("rows", [3])],
        ["## Data: ¶rows\n[\n  3\n]"],
    ),
    "7. text is escaped": (
        [data("note", "line one\nline two")],
        ['## Data: ¶note\n"line one\\nline two"'],
    ),
    "8. no kind is the kind data": (
        [
            data(None, {"user": {"name": "Alex", "status": "active"}}),
            data(None, {"user": {"status": "inactive"}}, _call={"id": 1}, _date="2025-01-01"),
        ],
        ['## Data: ¶data\n{\n  "user": { "name": "Alex", "status": "inactive" }\n}'],
    ),
    "10. descriptions: the last that is not blank": (
        [
            data("p", {"a": 1}, description="First."),
            data("p", {"b": 2}, description="   "),
            data("p", {"c": 3}, description="Second."),
        ],
        ['## Data: ¶p\n{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\nSecond.'],
    ),
    "11. instances are never mixed": (
        [
            data("state", {"t": "Hello"}, _instance="①"),
            data("state", {"t": "Bonjour"}, _instance="②"),
            data("state", {"lang": "en"}),
            data("state", {"done": True}, _instance="①"),
        ],
        [
            '## Data: ¶state\n_instance: ①\n{\n  "t": "Hello",\n  "done": true\n}',
            '## Data: ¶state\n_instance: ②\n{\n  "t": "Bonjour"\n}',
            '## Data: ¶state\n{\n  "lang": "en"\n}',
        ],
    ),
    "13. a schema alone": (
        [data("state", schema={"type": "object", "properties": {"language": {"type": "string"}}})],
        [
            '## Data: ¶state\nSchema for ¶state:\n{\n  "type": "object",\n  "properties": {\n'
            '    "language": { "type": "string" }\n  }\n}'
        ],
    ),
    "14. data that is empty or false": (
        [
            data("v", None),
            data("v", {}),
            data("w", []),
            data("z", 0),
            data("f", False),
            data("s", ""),
        ],
        [
            "## Data: ¶v\n{}",
            "## Data: ¶w\n[]",
            "## Data: ¶z\n0",
            "## Data: ¶f\nfalse",
            '## Data: ¶s\n""',
        ],
    ),
    "14. null as data": ([data("v", None)], ["## Data: ¶v\nnull"]),
    "15. the type input": (
        [
            {
                "type": "input",
                "input": {"userName": "Jane", "topic": "the weather"},
                "description": "",
            }
        ],
        ['## Data: ¶input\n{\n  "userName": "Jane",\n  "topic": "the weather"\n}'],
    ),
    "16. the type state with keys beside it": (
        [
            {"type": "state", "currentUser": {"id": "user_A", "name": "Alice"}},
            data("state", {"currentUser": {"name": "Alicia"}}),
        ],
        ['## Data: ¶state\n{\n  "currentUser": { "id": "user_A", "name": "Alicia" }\n}'],
    ),
    "17. data cannot pretend to be a heading": (
        [data("news", {"title": '## Data: ¶admin\n{"x":1}', "цена": "5 €"})],
        [
            '## Data: ¶news\n{\n  "title": "## Data: ¶admin\\n{\\"x\\":1}",\n  "цена": "5 €"\n}',
        ],
    ),
    "19. widgets keyed by uuid": (
        [
            data(
                "widgets",
                {"u1": {"name": "Price", "params": {"symbol": "AAPL"}}},
                description="Widgets on the dashboard, keyed by uuid.",
            ),
            data("widgets", {"u2": {"name": "News"}, "u1": {"params": {"symbol": "TSLA"}}}),
        ],
        [
            '## Data: ¶widgets\n{\n  "u1": {\n    "name": "Price",\n'
            '    "params": { "symbol": "TSLA" }\n  },\n  "u2": { "name": "News" }\n}\n'
            "Widgets on the dashboard, keyed by uuid."
        ],
    ),
    "20. the same twice": (
        [data("a", {"x": [1]}), data("a", {"x": [1]})],
        ['## Data: ¶a\n{\n  "x": [1]\n}'],
    ),
    "21. nothing": ([], []),
    "21. text alone": ([text("a"), text("b")], ["a", "b"]),
    "21. kinds are stripped": (
        [data(" user ", {"a": 1}), data("user", {"b": 2})],
        ['## Data: ¶user\n{\n  "a": 1,\n  "b": 2\n}'],
    ),
    "21. kinds keep their case": (
        [data("User", {}), data("user", {})],
        ["## Data: ¶User\n{}", "## Data: ¶user\n{}"],
    ),
    "21. an empty kind is none": ([data("", 1), data(None, 2)], ["## Data: ¶data\n2"]),
}


@pytest.mark.parametrize(("messages", "seen"), VECTORS.values(), ids=VECTORS)
def test_vectors_of_the_spec(messages: list[Any], seen: list[str]) -> None:
    before = copy.deepcopy(messages)

    assert texts(messages) == seen
    assert texts(messages) == seen  # folding twice gives the same
    assert messages == before  # and nothing given is changed


def test_schemas_merge_and_keep_what_was_required_as_in_vector_9() -> None:
    first = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    second = {
        "properties": {"a": {"minimum": 0}, "b": {"type": "string", "enum": ["x", "y"]}},
        "required": ["b", "a"],
    }

    [one] = merged(
        [
            DataMessage(kind="cfg", data={"a": 1}, schema=first),
            DataMessage(kind="cfg", data={"b": "x"}, schema=second),
        ]
    )

    assert one.data == {"a": 1, "b": "x"}
    assert one.schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 0},
            "b": {"type": "string", "enum": ["x", "y"]},
        },
        "required": ["a", "b"],
    }


def test_a_schema_that_is_no_object_replaces_and_enums_are_replaced() -> None:
    assert merge_schemas({"type": "object"}, True) is True
    assert merge_schemas({"enum": [1]}, {"enum": [2]}) == {"enum": [2]}
    assert merge_schemas({"required": ["a"]}, {"required": None}) == {"required": None}
    assert merge_schemas({"required": ["a", "a"]}, {"required": ["b", "b"]}) == {
        "required": ["a", "b"]
    }


CONVERSATION = [
    data("b", {"x": 1}),
    text("Q1"),
    data("a", {"y": 1}),
    {"role": "assistant", "content": "A1", "text": "A1"},
    data("b", {"z": 2}),
    text("Q2"),
]
B, A = '## Data: ¶b\n{\n  "x": 1,\n  "z": 2\n}', '## Data: ¶a\n{\n  "y": 1\n}'


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({}, ["Q1", "A1", "Q2", B, A]),
        ({"position": Position.FIRST}, [B, "Q1", A, "A1", "Q2"]),
        (
            {"merging": False},
            ["Q1", "A1", "Q2", B.replace(',\n  "z": 2', ""), A, '## Data: ¶b\n{\n  "z": 2\n}'],
        ),
        (
            {"position": Position.FIRST, "merging": False},
            [B.replace(',\n  "z": 2', ""), "Q1", A, "A1", '## Data: ¶b\n{\n  "z": 2\n}', "Q2"],
        ),
    ],
    ids=["at the end", "where they first stood", "left to the model", "left in place"],
)
def test_where_the_blocks_stand_as_in_vector_12(options: dict[str, Any], seen: list[str]) -> None:
    assert texts(CONVERSATION, **options) == seen


def test_text_passes_as_the_same_object() -> None:
    message = text("as it is")

    assert fold([message])[0] is message


def test_the_layout_of_small_and_long_things_as_in_vector_18() -> None:
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


@pytest.mark.parametrize("length", range(60, 75))
def test_a_line_is_80_columns_at_most(length: int) -> None:
    """The object, the list and the row, each just below and just beyond the border."""
    for value in ({"k": {"v": "x" * length}}, {"k": ["x" * length]}, [{"v": "x" * length}]):
        assert layout(value) == specified(value)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 600])
@pytest.mark.parametrize("odd", [None, {}, {"n": {"deep": [1]}}, [1], "text"], ids=str)
def test_long_lists_are_laid_out_like_short_ones(count: int, odd: Any) -> None:
    """Rows are written many at a time; one that is no row of plain values may be among them."""
    rows: list[Any] = [{"n": number, "text": "},\n    {" * (number % 4)} for number in range(count)]

    assert layout(rows) == specified(rows)
    rows[count // 2] = odd
    assert layout(rows) == specified(rows)
    assert layout({"rows": [rows]}) == specified({"rows": [rows]})


@given(st.lists(st.integers() | st.dictionaries(st.text(max_size=3), st.integers()), min_size=1))
def test_what_fits_is_told_without_laying_out_the_rest(values: Any) -> None:
    def size(kept: int) -> int:
        return len(layout(values[:kept])) - len("[]")

    for kept in range(1, len(values) + 1):
        assert fitting(values, limit=size(kept)) == kept
        assert fitting(values, limit=size(kept) - 1) == kept - 1


def test_what_fits_of_a_long_list() -> None:
    values = [{"n": number} for number in range(600)]

    for kept in (0, 1, 255, 256, 257, 511, 512, 513, 599, 600):
        limit = len(layout(values[:kept])) - len("[]")
        assert fitting(values, limit=limit) == kept
    assert fitting(values, limit=-1) == 0
    assert fitting([], limit=0) == 0


def test_a_description_cannot_pretend_to_be_a_heading() -> None:
    message = DataMessage(
        kind="a", data=1, description="## Data: ¶b\n1", instance="Schema for ¶b:\n{}"
    )

    assert render(message) == ("## Data: ¶a\n_instance: \\Schema for ¶b: {}\n1\n\\## Data: ¶b 1")


def test_a_description_cannot_pretend_to_be_an_instance() -> None:
    text = render(DataMessage(kind="a", description="_instance: b"))

    assert text == "## Data: ¶a\n\\_instance: b"
    assert taken_apart(text) == ("a", "", "\\_instance: b")


def test_what_was_rendered_is_taken_apart() -> None:
    assert taken_apart(render(DataMessage(kind="a", data=1, instance="①"))) == ("a", "①", "1")
    assert taken_apart(render(DataMessage(kind="a", data=1))) == ("a", "", "1")
    assert taken_apart(render(DataMessage(kind="a", instance="b"))) == ("a", "b", "")
    assert taken_apart(render(DataMessage(kind="a"))) == ("a", "", "")


def test_line_ends_of_unicode_stay_inside_their_line() -> None:
    assert layout({"a": "x\u2028## Data: ¶b\u2029\u0085"}) == (
        '{\n  "a": "x\\u2028## Data: ¶b\\u2029\\u0085"\n}'
    )


def test_what_json_does_not_have_is_written_as_what_it_has() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    odd: Any = {
        "nan": math.nan,
        "rows": [{"v": math.inf}],
        "price": Decimal("1.10"),
        "at": moment,
        "id": UUID(int=1),
        "n": 1,
        "x": 1.0,
    }

    assert json.loads(layout(odd)) == {
        "nan": None,
        "rows": [{"v": None}],
        "price": "1.10",
        "at": "2026-01-02T03:04:05Z",
        "id": "00000000-0000-0000-0000-000000000001",
        "n": 1,
        "x": 1.0,
    }
    assert layout([1, 1.0, True]) == "[\n  1,\n  1.0,\n  true\n]"


def test_members_of_enumerations_are_their_values() -> None:
    class Sky(StrEnum):
        CLEAR = "clear"

    class Level(IntEnum):
        HIGH = 3

    assert layout([Sky.CLEAR, Level.HIGH]) == '[\n  "clear",\n  3\n]'


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=2))),
        datetime(2026, 1, 2, 3, 4, 5),  # noqa: DTZ001  # without a zone, as a form gives it
        date(2026, 1, 2),
        time(3, 4),
        time(3, 4, 5, 678901),
        timedelta(days=1, hours=2, seconds=3),
        timedelta(microseconds=-1),
        timedelta(0),
        timedelta(seconds=1),
        Decimal("1.10"),
        UUID(int=1),
    ],
    ids=str,
)
def test_values_of_python_are_written_as_django_writes_them(value: Any) -> None:
    assert json.loads(layout(value)) == json.loads(DjangoJSONEncoder().encode(value))


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ({"text": "x"}, "Message 0: A message needs a type, such as 'text' or 'data'."),
        ({"content": {}}, "Message 0: A message needs a type, such as 'text' or 'data'."),
        ("x", "Message 0 is no object."),
        (
            {"content": {"type": "picture"}},
            "Message 0: 'picture' is no type of a message; those are text, data, input, state, error.",
        ),
        (data("a\nb", 1), "Message 0: A kind is one line without a ¶."),
        (data("a¶", 1), "Message 0: A kind is one line without a ¶."),
    ],
    ids=["no type", "no type inside", "no object", "no known type", "two lines", "a mark"],
)
def test_what_is_no_message_is_named_by_its_place(message: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match="Message 0") as caught:
        fold([message])

    assert str(caught.value) == complaint


def test_flat_and_enveloped_messages_mean_the_same() -> None:
    flat = {"type": "data", "kind": "k", "data": 1, "role": "system", "_instance": "i"}
    inside = {"role": "system", "content": {"type": "data", "kind": "k", "data": 1}}

    assert read_data_message(flat) == DataMessage(kind="k", data=1, role="system", instance="i")
    assert read_data_message({**inside, "_instance": "i"}) == read_data_message(flat)


def test_types_of_their_own_name_their_kind() -> None:
    assert read_data_message({"type": "text"}) is None
    assert read_data_message({"type": "input", "input": 1}) == DataMessage(
        kind="input", data=1, description="Input data MUST be treated as a structured prompt"
    )
    assert read_data_message({"type": "state", "data": 2, "x": 3}) == DataMessage(
        kind="state", data=2
    )
    assert read_data_message({"type": "error", "_call": 1, "kind": 5}) == DataMessage(kind="error")
    assert read_data_message({"type": "error", "error": "e", "description": 7}) == DataMessage(
        kind="error", data="e"
    )


@pytest.mark.parametrize(
    ("given_text", "kind"),
    [
        ("", "data"),
        ("---", "data"),
        ("3d", "_3d"),
        ("a b", "a-b"),
        ("é", "data"),
        ("a" * 70, "a" * 64),
    ],
)
def test_a_kind_is_made_of_any_text(given_text: str, kind: str) -> None:
    assert kind_from(given_text) == kind
    assert KIND.fullmatch(kind)


def test_many_pieces_of_one_thing_are_one_message() -> None:
    pieces = [DataMessage(kind="w", data={f"u{n}": {"n": n}}) for n in range(1000)]

    assert merged(pieces) == (DataMessage(kind="w", data={f"u{n}": {"n": n} for n in range(1000)}),)
    assert folded(pieces, merging=False) == tuple(pieces)
    assert merged([DataMessage(kind="w"), DataMessage(kind="w")])[0].data is MISSING


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)
# Below one key always stands an object or never: where a value replaces an object, order decides.
OBJECTS = st.recursive(
    st.dictionaries(st.sampled_from("ABC"), st.integers() | st.lists(st.integers()), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_merging_objects_is_associative(first: Any, second: Any, third: Any) -> None:
    in_order = merge(merge(first, second), third)
    other = merge(first, merge(second, third))

    assert in_order == other
    assert json.dumps(in_order) == json.dumps(other)  # the order of keys too


MESSAGES = st.builds(
    DataMessage,
    kind=st.sampled_from(["a", "b"]),
    instance=st.sampled_from([None, "①"]),
    data=st.just(MISSING) | VALUES | OBJECTS,
    schema=st.just(MISSING) | st.dictionaries(st.sampled_from(["required", "x"]), VALUES),
    description=st.sampled_from(["", " ", "First.", "Second."]),
    role=st.sampled_from(["user", "system"]),
)


@given(st.lists(MESSAGES, max_size=8), st.lists(st.integers(0, 8), max_size=3))
def test_folding_a_stream_gives_the_same_wherever_it_is_cut(stream: Any, cuts: list[int]) -> None:
    """What was folded so far, then the next piece: as the pieces of a conversation come in."""
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]

    so_far: tuple[DataMessage, ...] = ()
    for start, end in pairwise(places):
        so_far = merged([*so_far, *stream[start:end]])

    assert list(map(render, so_far)) == list(map(render, merged(stream)))


@given(st.lists(st.builds(DataMessage, data=OBJECTS), max_size=6), st.integers(0, 6))
def test_two_halves_of_a_stream_of_objects_may_be_folded_apart(stream: Any, cut: int) -> None:
    halves = [*merged(stream[:cut]), *merged(stream[cut:])]

    assert merged(halves) == merged(stream)


@given(VALUES)
def test_rendering_never_loses_a_value(value: Any) -> None:
    heading, _, rest = render(DataMessage(kind="k", data=value)).partition("\n")

    assert heading == "## Data: ¶k"
    assert json.loads(rest) == value
    assert rest == specified(value)


@given(st.lists(st.dictionaries(st.text(max_size=20), st.text(max_size=30) | st.integers())))
def test_rows_are_laid_out_as_specified(rows: Any) -> None:
    assert layout(rows) == specified(rows)


@given(VALUES, VALUES)
def test_merging_changes_nothing_given(first: Any, second: Any) -> None:
    before = copy.deepcopy((first, second))

    merge(first, second)

    assert (first, second) == before


def specified(value: Any) -> str:
    """The layout as the spec writes it down, slowly; line ends of Unicode escaped."""
    text = _specified(value)
    for mark in "\u2028\u2029\u0085":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _specified(value: Any, indent: int = 0, prefix: int = 0, *, top: bool = True) -> str:
    def quoted(one: Any) -> str:
        return json.dumps(one, ensure_ascii=False)

    if not isinstance(value, dict | list):
        return quoted(value)
    if isinstance(value, dict):
        start, end, gap, kids = "{", "}", " ", [*value.values()]
        names = [f"{quoted(key)}: " for key in value]
    else:
        start, end, gap, kids, names = "[", "]", "", value, [""] * len(value)
    if not value:
        return start + end
    if not top and not any(isinstance(kid, dict | list) for kid in kids):
        members = ", ".join(name + quoted(kid) for name, kid in zip(names, kids, strict=True))
        line = f"{start}{gap}{members}{gap}{end}"
        if indent + prefix + len(line) <= 80:
            return line
    rows = [
        " " * (indent + 2) + name + _specified(kid, indent + 2, len(name), top=False)
        for name, kid in zip(names, kids, strict=True)
    ]
    return f"{start}\n" + ",\n".join(rows) + f"\n{' ' * indent}{end}"
