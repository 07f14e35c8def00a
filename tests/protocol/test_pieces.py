"""What is done to a long text piece by piece is what would be done to the whole."""

from collections.abc import Callable
import json
import random
import re
from typing import Any

import pytest

from protocol import canonical, markers, pieces, redaction
from protocol.markers import artifact_names, strip_markers
from protocol.messages import HumanMessage
from protocol.pieces import decoded, encoded, pieces_of
from protocol.reading import fields
from protocol.reading.fields import as_text
from protocol.redaction import redact_text
from protocol.storable import Marks, clean_text, storable


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


@pytest.mark.parametrize("piece", [4, 5, 6, 7, 17])
@pytest.mark.parametrize("text", SCRIPTS)
def test_utf8_is_read_and_written_as_if_it_were_one_piece(text, piece, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", piece)
    assert encoded(text) == text.encode()
    assert decoded(text.encode()) == text


@pytest.mark.parametrize("piece", [4, 5, 6, 7])
def test_half_characters_are_written_as_if_they_were_in_one_piece(piece, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", piece)
    text = "年x\ud800" * 9
    for errors in ("replace", "surrogatepass"):
        assert encoded(text, errors=errors) == text.encode(errors=errors)
    with pytest.raises(UnicodeEncodeError):
        encoded(text)


@pytest.mark.parametrize("piece", [4, 5, 6, 7])
@pytest.mark.parametrize(
    "wrong", [b"\xff", b"\x80", b"\x80" * 9, b"\xf0\x9f", b"\xed\xa0\x80", b"\xe5"]
)
def test_what_is_not_utf8_is_found_at_the_same_place(wrong, piece, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", piece)
    for text in SCRIPTS:
        for at in range(len(text) + 1):
            body = text[:at].encode() + wrong + text[at:].encode()
            with pytest.raises(UnicodeDecodeError) as whole:
                body.decode()
            with pytest.raises(UnicodeDecodeError) as found:
                decoded(body)
            assert found.value.start == whole.value.start
            assert found.value.object == body


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


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("before", [",", "\u6708", "_", "a", "2."])
def test_addresses_without_blanks_between_them_are_parted_where_one_begins(before, monkeypatch):
    monkeypatch.setattr(redaction, "_LONGEST_ADDRESS", 2 * len(SIGNED))
    assert redact_text((SIGNED + before) * 9) == (UNSIGNED + before) * 9
    escaped = "https:\\/\\/a.example\\/x?a=1&amp;sig=abc&amp;b=2"
    assert "abc" not in redact_text((escaped + before) * 9)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "a < b <|start_artifact_id|>x<|end_artifact_id|>c<|end_citation_id|> <<artifact",
        '<artifact className="a"/>b</artifact  ><<citation><|start_citation_id|><|end_citation_id|>',
        "<art<|start_artifact_id|>ifact>",
    ],
)
def test_markers_are_taken_out_as_if_it_were_one_piece(text, monkeypatch):
    found = (strip_markers(text), artifact_names(text))
    monkeypatch.setattr(pieces, "PIECE", 1000)
    assert found == (strip_markers(text), artifact_names(text))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("text", ["a\r\nb\rc\n", "\r\r\n\n\r", "\r\n" * 20, "\n\r" * 20])
def test_lines_end_in_one_way_as_if_it_were_one_piece(text):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    assert canonical.canonical(HumanMessage(text)) == f"human\ntext\n{lines}".encode()


class _Noted:
    """A pattern that notes how many characters each call may look at."""

    def __init__(self, pattern: re.Pattern[str], sizes: list[int]) -> None:
        self._pattern = pattern
        self._sizes = sizes

    def sub(self, by: Any, text: str) -> str:
        self._sizes.append(len(text))
        return self._pattern.sub(by, text)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        end = len(text) if end is None else end
        self._sizes.append(end - start)
        return self._pattern.search(text, start, end)

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Any:
        end = len(text) if end is None else end
        self._sizes.append(end - start)
        return self._pattern.finditer(text, start, end)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1000 + "=",
        "https://a.example/" + "x" * 1000,
        "https://a.example/?" + "a=1&" * 250,
        "https://a.example/?sig=1," * 40,
        "://" * 330,
        "<artifact " + "x" * 1000,
        "<" * 1000,
    ],
)
def test_no_call_looks_at_more_than_some_of_a_text_without_blanks(text, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 100)
    monkeypatch.setattr(redaction, "_LONGEST_ADDRESS", 100)
    monkeypatch.setattr(markers, "_LONGEST_TAG", 100)
    sizes: list[int] = []
    patterns = [(redaction, one) for one in ("_URL", "_USER", "_NO_ADDRESS", "_ESCAPED")]
    patterns += [(markers, one) for one in ("_START", "_LEFTOVER", "_TAG", "_NAMED_TAG")]
    for module, name in patterns:
        monkeypatch.setattr(module, name, _Noted(getattr(module, name), sizes))
    redact_text(text)
    strip_markers(text)
    artifact_names(text)
    assert max(sizes) <= 200


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
