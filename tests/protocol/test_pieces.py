"""What is done to a long text piece by piece is what would be done to the whole."""

import json
import random
import re
from typing import Any

import pytest

from protocol import pieces
from protocol.pieces import pieces_of
from protocol.reading import fields
from protocol.reading.fields import as_text
from protocol.redaction import redact_text
from protocol.storable import Marks, clean_text, storable


@pytest.fixture(params=[1, 2, 5, 17])
def small_pieces(request: pytest.FixtureRequest, monkeypatch: Any) -> None:
    monkeypatch.setattr(pieces, "PIECE", request.param)


@pytest.mark.parametrize(
    ("text", "ends", "found"),
    [
        ("", None, [""]),
        ("abc", None, ["abc"]),
        ("abcd", None, ["abc", "d"]),
        ("abcdefg", None, ["abc", "def", "g"]),
        ("ab cd ef", r"\s", ["ab cd ", "ef"]),
        ("abcdefgh", r"\s", ["abcdefgh", ""]),
    ],
)
def test_pieces_are_together_the_text(text, ends, found, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 3)
    assert list(pieces_of(text, ends=ends and re.compile(ends))) == found


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("text", ["", "fine", "é\x00\ud800x\udfff", "\x00" * 40, "é" * 40])
def test_a_text_is_cleaned_as_if_it_were_one_piece(text):
    expected = re.sub("[\x00\ud800-\udfff]", "\ufffd", text)
    assert clean_text(text) == expected
    cleaned, marks = storable([text])
    assert cleaned == [expected]
    assert marks == Marks(
        nul=text.count("\x00"), surrogate=len(re.findall("[\ud800-\udfff]", text))
    )


SIGNED = "https://a.example/x?a=1&X-Amz-Signature=abc&b=2"
UNSIGNED = "https://a.example/x?a=1&b=2"


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (
            f'see {SIGNED}, and "{SIGNED}" <{SIGNED}>',
            f'see {UNSIGNED}, and "{UNSIGNED}" <{UNSIGNED}>',
        ),
        (SIGNED.replace("&", "\\u0026"), UNSIGNED.replace("&", "\\u0026")),
        ("a = b, c=d", "a = b, c=d"),
        ("nothing", "nothing"),
    ],
)
def test_secrets_are_taken_out_of_every_piece(text, redacted):
    assert redact_text(text) == redacted


def test_json_is_written_in_parts_as_if_it_were_one(monkeypatch):
    monkeypatch.setattr(fields, "_AT_ONCE", 3)
    draw = random.Random(1)

    def value(depth: int) -> Any:
        kind = draw.randrange(4 if depth else 2)
        if kind == 2:
            return [value(depth - 1) for _ in range(draw.randrange(9))]
        if kind == 3:
            return {str(number): value(depth - 1) for number in range(draw.randrange(4))}
        return draw.choice([None, True, 1, 1.5, "é\n"])

    for _ in range(300):
        one = value(4)
        expected = json.dumps(one, ensure_ascii=False, separators=(",", ":"))
        assert as_text(one) == (one if isinstance(one, str) else expected)


def test_no_call_writes_more_than_some_of_a_long_list(monkeypatch):
    monkeypatch.setattr(fields, "_AT_ONCE", 3)
    written: list[str] = []
    dumps = json.dumps

    def noted(value: Any, **options: Any) -> str:
        written.append(dumps(value, **options))
        return written[-1]

    monkeypatch.setattr(fields.json, "dumps", noted)
    assert as_text([*range(7), [*range(7)]]) == "[0,1,2,3,4,5,6,[0,1,2,3,4,5,6]]"
    assert written == ["[0,1,2]", "[3,4,5]", "6", "[0,1,2]", "[3,4,5]", "[6]"]
