"""Untrusted JSON is read strictly, or refused with what to do."""

import gzip
import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest

from protocol.storable import Marks, clean_text, storable
from protocol.strict_json import (
    MAX_DEPTH,
    MAX_OPAQUE_DEPTH,
    MalformedJson,
    loads,
    parse,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
            inner,
        )
    ),
    max_leaves=20,
)


def nested(depth: int, inside: str = "") -> bytes:
    return f"{'[' * depth}{inside}{']' * depth}".encode()


def code_of(body: bytes) -> str:
    with pytest.raises(MalformedJson) as refused:
        loads(body)
    assert refused.value.public == str(refused.value)
    assert refused.value.public.endswith(".")
    return refused.value.code


@given(JSON, st.booleans())
def test_valid_json_is_read_as_the_standard_library_reads_it(value: object, ascii_only: bool):
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert loads(body) == json.loads(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b' \t\r\n{"a" : [ ] }\n', {"a": []}),
        (b"18446744073709551615", 18446744073709551615),
        (b"-9223372036854775808", -9223372036854775808),
        (b"18446744073709551616", "18446744073709551616"),
        (b"-9223372036854775809", "-9223372036854775809"),
        (b"123456789012345678901234567890", "123456789012345678901234567890"),
        (b"9" * 5000, "9" * 5000),
        (b"1e308", 1e308),
        (b"-1.5E-400", -0.0),
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\u0000 \ud800"', "\ufffd \ufffd"),
        (rb'{"\u0000":[1,"\udfff"],"n":null}', {"\ufffd": [1, "\ufffd"], "n": None}),
    ],
)
def test_oddities_are_read(body: bytes, value: object):
    assert loads(body) == value


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed-json"),
        (b"{", "malformed-json"),
        (b"{'a':1}", "malformed-json"),
        (b'{"a":1,}', "malformed-json"),
        (b'{"a":1} x', "malformed-json"),
        (b'"raw \n newline"', "malformed-json"),
        (b'"raw \x00 nul"', "malformed-json"),
        (b"01", "malformed-json"),
        (b"1.", "malformed-json"),
        (b'"\\x"', "malformed-json"),
        (b'"never \\', "malformed-json"),
        ('{"a":1}'.encode("utf-16"), "not-utf8"),
        ('{"a":1}'.encode("utf-16-le"), "malformed-json"),
        ('"é"'.encode("latin-1"), "not-utf8"),
        (b'"\xed\xa0\x80"', "not-utf8"),
        (gzip.compress(b"{}", mtime=0), "compressed-body"),
        (b"NaN", "not-a-number"),
        (b"[Infinity]", "not-a-number"),
        (b"-Infinity", "not-a-number"),
        (b"1e400", "number-too-large"),
        (b"-1e400", "number-too-large"),
        (b"9" * 400 + b".0", "number-too-large"),
        (b'{"a":1,"a":2}', "duplicate-key"),
        (b'{"a":1,"\\u0061":2}', "duplicate-key"),
        (b'{"x":[{"a":1,"a":2}]}', "duplicate-key"),
        (nested(65), "too-deep"),
        (nested(1_000), "too-deep"),
        (b"[" * 100_000, "too-deep"),
        (b'{"a":' * 50_000, "too-deep"),
    ],
)
def test_what_could_mislead_is_refused(body: bytes, code: str):
    assert code_of(body) == code


def test_bounds_of_depth():
    assert loads(nested(MAX_DEPTH)) is not None
    assert code_of(nested(MAX_DEPTH + 1)) == "too-deep"
    opaque = b'{"messages":[{"data":%b}]}'
    assert loads(opaque % nested(MAX_OPAQUE_DEPTH)) is not None
    assert code_of(opaque % nested(MAX_OPAQUE_DEPTH + 1)) == "too-deep"
    assert code_of(b'{"messages":[{"other":%b}]}' % nested(MAX_DEPTH)) == "too-deep"


def test_objects_count_as_levels_too():
    assert code_of(b'{"a":' * 65 + b"1" + b"}" * 65) == "too-deep"
    assert loads(b'{"content":' + b'{"a":' * 200 + b"1" + b"}" * 201) is not None


def test_repeated_keys_inside_data_are_noted_and_the_last_counts():
    parsed = parse(b'{"data":[{"a":1,"a":2}],"content":{"b":{"c":1,"c":3}}}')
    assert parsed.value == {"data": [{"a": 2}], "content": {"b": {"c": 3}}}
    assert parsed.notes == (
        'Inside data, the key "a" stood twice; its last value was used.',
        'Inside data, the key "c" stood twice; its last value was used.',
    )


def test_only_a_few_repeated_keys_are_named():
    rows = b",".join(b'{"k":1,"k":%d}' % number for number in range(50))
    assert len(parse(b'{"data":[%b]}' % rows).notes) == 5


def test_replaced_characters_are_noted():
    assert parse(rb'["\u0000"]').notes == (
        "Characters that cannot be stored were replaced with U+FFFD.",
    )
    assert parse(rb'["\ud83d\ude00"]').notes == ()


@pytest.mark.parametrize(
    "body",
    [b"[" + b"0," * 2_000_000 + b"0]", b"[" + b"[]," * 500_000 + b"[]]", b'{"":' * 1_000_001],
    ids=["numbers", "lists", "objects"],
)
def test_too_many_values_are_refused_before_they_are_read(body: bytes):
    assert code_of(body) == "too-many-tokens"


@pytest.mark.parametrize(("body", "tokens"), [(b"[[]]", 6), (b'{"a":{}}', 21), (b"[1,2,3]", 5)])
def test_commas_and_colons_are_counted_lists_thrice_and_objects_ten_times(body: bytes, tokens: int):
    assert loads(body, most_tokens=tokens) == json.loads(body)
    with pytest.raises(MalformedJson) as refused:
        loads(body, most_tokens=tokens - 1)
    assert refused.value.code == "too-many-tokens"


def test_commas_inside_texts_are_no_values():
    given = ["a,{[:" * 100, '",', "\\,"]
    assert loads(json.dumps(given).encode(), most_tokens=5) == given


def test_a_shallow_stack_is_no_crash():
    def at_depth(frames: int) -> object:
        return at_depth(frames - 1) if frames else loads(nested(MAX_DEPTH))

    with pytest.raises((MalformedJson, RecursionError)):
        for frames in range(880, 1000, 4):
            at_depth(frames)


@pytest.mark.parametrize(
    ("table_as_text", "megabytes"),
    [
        (True, 3),
        pytest.param(True, 15, marks=pytest.mark.nightly),
        pytest.param(False, 15, marks=pytest.mark.nightly),
    ],
)
def test_megabytes_are_read_as_they_are(table_as_text: bool, megabytes: int):
    numbers = random.Random(1)
    rows = [
        {"date": f"2024-10-{i % 30}", "open": numbers.random(), "v": i}
        for i in range(megabytes * 13_000)
    ]
    content = json.dumps(rows) if table_as_text else rows[:60_000]  # a million values
    body = json.dumps({"messages": [{"role": "tool", "data": [{"content": content}]}]}).encode()
    padding = (megabytes * 1_000_000 - len(body)) // 2
    body = body.replace(b'"tool"', b'"tool","pad":"' + b"x," * padding + b'"')
    assert len(body) >= megabytes * 900_000
    assert loads(body) == json.loads(body)


@pytest.mark.parametrize(
    "body",
    [b'"' + b'\\"' * 600_000, b'"a,' * 300_000, b"[],[" * 200_000, b'{"a":' * 160_000],
)
def test_hostile_bodies_are_refused(body: bytes):
    """What takes longer than a straight line would not end."""
    with pytest.raises(MalformedJson):
        loads(body)


def test_clean_text_replaces_what_no_database_takes():
    assert clean_text("a\x00b\ud800c😀") == "a\ufffdb\ufffdc😀"


def test_clean_value_is_given_back_as_it_is():
    value = {"a": [1, None, {"b": "text"}], "c": ("x", True)}
    cleaned, marks = storable(value)
    assert cleaned is value
    assert marks == Marks()
    assert not marks


def test_dirty_value_is_copied_and_counted():
    value: Any = {"k\x00": ["\ud800\x00", {"in": ("\udfff",)}], "fine": 1.5, "none": None}
    cleaned, marks = storable(value)
    assert cleaned == {
        "k\ufffd": ["\ufffd\ufffd", {"in": ["\ufffd"]}],
        "fine": 1.5,
        "none": None,
    }
    assert marks == Marks(nul=2, surrogate=2)
    assert marks
    assert value["k\x00"] == ["\ud800\x00", {"in": ("\udfff",)}]


def test_keys_that_become_one_keep_the_first():
    assert storable({"\x00": 1, "\ud800": 2})[0] == {"\ufffd": 1}


def test_text_alone_can_be_cleaned():
    assert storable("\x00") == ("\ufffd", Marks(nul=1))


def test_depth_is_no_limit_for_cleaning():
    value: object = "\x00"
    for _ in range(50_000):
        value = [value]
    cleaned, marks = storable(value)  # type: ignore[type-var]  # nested on purpose
    assert marks == Marks(nul=1)
    while isinstance(cleaned, list):
        [cleaned] = cleaned
    assert cleaned == "\ufffd"
