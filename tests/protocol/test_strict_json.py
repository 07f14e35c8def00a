"""Untrusted JSON is read strictly, or refused with what to do."""

import gzip

import pytest

from protocol.json import MAX_DEPTH, MalformedJson, loads, parse


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
        (b"NaN", "malformed-json"),
        (b"1e400", "malformed-json"),
        (rb'["\ud800",', "malformed-json"),
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
