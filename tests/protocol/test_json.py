"""JSON: untrusted bodies are read strictly, and values have a layout for models."""

from collections.abc import Callable
from enum import IntEnum, StrEnum
import gzip
import math
from typing import Any

import pytest

from protocol.json import MAX_DEPTH, MalformedJson, layout, loads, parse


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
