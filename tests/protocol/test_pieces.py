"""What is done to a long text piece by piece is what would be done to the whole."""

from collections.abc import Callable
import json
import random
from typing import Any

import pytest

from protocol import pieces, redaction
from protocol.pieces import pieces_of
from protocol.reading import fields
from protocol.reading.fields import as_text
from protocol.redaction import redact_text


@pytest.fixture(params=[1, 2, 5, 17])
def small_pieces(request: pytest.FixtureRequest, monkeypatch: Any) -> None:
    monkeypatch.setattr(pieces, "PIECE", request.param)


@pytest.mark.parametrize(
    ("text", "border", "found"),
    [
        ("", None, [""]),
        ("abc", None, ["abc"]),
        ("abcd", None, ["abc", "d"]),
        ("abcdefg", None, ["abc", "def", "g"]),
        ("ab cd ef", lambda text, at: text.index(" ", at) + 1, ["ab cd ", "ef"]),
        ("abcdefgh", lambda text, at: len(text), ["abcdefgh", ""]),
    ],
)
def test_pieces_are_together_the_text(
    text: str, border: Callable[[str, int], int] | None, found: list[str], monkeypatch: Any
):
    monkeypatch.setattr(pieces, "PIECE", 3)
    assert list(pieces_of(text, border=border)) == found


SCRIPTS = ["", "plain", "é", "xé" * 9, "年\u0301 " * 9, "😀" * 9, "x😀é年" * 9]


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


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("before", [",", "\u6708", "_", "a", "2."])
def test_addresses_without_blanks_between_them_are_parted_where_one_begins(before, monkeypatch):
    monkeypatch.setattr(redaction, "_LONGEST_ADDRESS", 2 * len(SIGNED))
    assert redact_text((SIGNED + before) * 9) == (UNSIGNED + before) * 9
    escaped = "https:\\/\\/a.example\\/x?a=1&amp;sig=abc&amp;b=2"
    assert "abc" not in redact_text((escaped + before) * 9)


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
