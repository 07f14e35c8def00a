"""Very long texts are read and written in pieces, and mean what they mean in one."""

from contextlib import contextmanager
from itertools import product
import json

from hypothesis import given
from hypothesis import strategies as st
import orjson
import pytest

from protocol import canonical, long_texts, strict_json
from protocol.messages import DataItem, ResultMessage, SourceData
from protocol.strict_json import MalformedJson, parse

ESCAPED = st.sampled_from(
    [*"ab/é年😀\u2028", "\\n", "\\\\", '\\"', "\\/", "\\u0041", "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\u0000",
     "\\u005c", "\\u0022", "u", "n", "\\\\u0041", "[", "{", ",", ":", "\\u", "\\x", "\n"]
)  # fmt: skip
TEXTS = st.lists(ESCAPED, max_size=40).map("".join)


@contextmanager
def small():
    """Texts are long from 16 bytes on, and pieces have 7."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_texts, "LONG", 16)
        patch.setattr(long_texts, "_PIECE", 7)
        patch.setattr(long_texts, "_PROBED_EVERY", 8)
        patch.setattr(long_texts, "_PROBE", 4)
        yield patch


def read(body):
    with small():
        return _read(body)


def plainly(body):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json, "split", long_texts.Split)
        return _read(body)


def _read(body):
    try:
        return parse(body)
    except MalformedJson as error:
        return error.public, error.code, error.place


class TestReading:
    @given(texts=st.tuples(TEXTS, TEXTS, TEXTS))
    def test_a_body_means_what_it_means_in_one_call(self, texts):
        one, other, last = texts
        body = f'{{"a": "{one}", "b": ["{other}", {{"{last}": 1, "c": "{one}{other}"}}], "a ": "{last}"}}'
        assert read(body.encode()) == plainly(body.encode())

    @pytest.mark.parametrize(
        "where",
        [
            '{"a": %s}',
            '{"a": [%s]}',
            '[{"a": {"b": %s}}]',
            "{%s: 1}",
            "%s",
            '{"a": 1, "a": %s}',
            '{"a": %s, "a": 1}',
        ],
    )
    def test_wherever_a_long_text_stands(self, where):
        body = (where % json.dumps("a\nb\\" * 30)).encode()
        assert read(body) == plainly(body)

    @pytest.mark.parametrize("broken", [b"\xff", b"\x01", b"\\q", b"\\u12G4", b'"', b"\xe5\xb9"])
    def test_what_is_wrong_in_one_is_told_with_its_place(self, broken):
        body = b'{"a": "%b%b%b"}' % (b"\\n" * 20, broken, b"\\n" * 20)
        assert read(body) == plainly(body)
        assert isinstance(read(body), tuple)

    def test_a_character_in_two_escapes_is_one_wherever_pieces_end(self):
        emoji = "\\ud83d\\ude00" * 5
        for before in product(["", "\\\\", "a", "年", "\\n"], repeat=4):
            text = "".join(before) + emoji + "\\n"
            body = b'{"a": "%b"}' % text.encode()
            assert read(body).value == json.loads(body)


def test_an_escape_that_cannot_be_stored_is_found_at_the_end_of_a_piece(monkeypatch):
    monkeypatch.setattr(strict_json, "AT_ONCE", 8)
    for blanks in range(10):
        body = b'{"a": "%b\\u0000"}' % (b" " * blanks)
        assert parse(body).value == {"a": " " * blanks + "\ufffd"}


def test_a_text_that_is_not_long_stays_where_it_is():
    with small():
        body = b'{"a": "%b", "b": "%b\\n", "c": "\\n%b"}' % (b"x" * 20, b"y" * 20, b"z" * 10)
        assert list(long_texts.split(body).texts.values()) == ["x" * 20, "y" * 20 + "\n"]


def test_a_long_text_is_seen_though_a_look_begins_within_an_escape():
    with small():
        body = b'{"a": "\\"\\n%b"}' % (b"x" * 20)
        assert body[8:10] == b'"\\'  # where it is looked at
        assert list(long_texts.split(body).texts.values()) == ['"\n' + "x" * 20]


def test_no_call_reads_or_writes_a_long_text_whole(monkeypatch):
    rows = json.dumps([{"day": "Mon", "close": 1.5}] * 100_000)
    sizes, pieces = [], []
    loads, dumps, quickly = json.loads, json.dumps, orjson.loads
    monkeypatch.setattr(
        json, "loads", lambda text, **given: sizes.append(len(text)) or loads(text, **given)
    )
    monkeypatch.setattr(
        orjson, "loads", lambda quoted: pieces.append(len(quoted)) or quickly(quoted)
    )
    monkeypatch.setattr(
        json,
        "dumps",
        lambda value, **given: sizes.append(len(text := dumps(value, **given))) or text,
    )
    content = parse(dumps({"messages": [{"content": rows}]}).encode()).value["messages"][0][
        "content"
    ]
    result = ResultMessage("get_widget_data", {}, (SourceData((DataItem(content=content),)),))
    said = canonical.canonical(result)
    assert max(sizes) < 1_000 and max(pieces) <= long_texts._PIECE + 2 and content == rows
    assert loads(said[said.index(b"{") :])["data"] == [[rows]]


@given(texts=st.lists(st.text(min_size=10, max_size=40), max_size=4))
def test_what_is_written_is_what_one_call_writes(texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_texts, "LONG", 16)
        writer = long_texts.LongTextWriter()
        value = {f"k{number}": writer.scalar(text) for number, text in enumerate(texts)}
        plain = {f"k{number}": text for number, text in enumerate(texts)}
        options = {"sort_keys": True, "separators": (",", ":")}
        assert writer.dumped(value, **options) == json.dumps(plain, ensure_ascii=False, **options)
