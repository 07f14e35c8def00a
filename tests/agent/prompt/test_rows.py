"""Of a text that is too long the first rows are shown, and nothing is made of the others."""

import json
import random
import re
import tracemalloc
from types import SimpleNamespace
from typing import SupportsIndex

import pytest

from copilot_admin.agent.prompt import rows
from copilot_admin.agent.prompt.rows import FirstRows, first_rows
from protocol import pieces

MUCH = 10**9
PIECE = 4096
ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("[]", []),
        (' [ 1 , "a,b]" , {"a": [1, 2]} ] ', ["1", '"a,b]"', '{"a": [1, 2]}']),
        ('["é", null, NaN, 1.50]', ['"é"', "null", "NaN", "1.5"]),
        ("[1, 2", ["[1, 2"]),
        ("[1, 2,]", ["[1, 2,]"]),
        ("[1] 2", ["[1] 2"]),
        ("[1 2]", ["[1 2]"]),
        ('{"a":\n1}', ['{"a":', "1}"]),
        ("[" * 100_000, ["[" * 100_000]),
        ("a\r\nb\n\nc", ["a", "b", "", "c"]),
        ("", []),
    ],
)
def test_rows_are_elements_of_a_list_or_lines(text, texts):
    assert first_rows(text, limit=MUCH) == FirstRows(texts, len(texts))


@pytest.mark.parametrize("window", [1, 2, 3, 7, 64])
def test_it_makes_no_difference_where_a_text_is_cut_to_be_read(window, monkeypatch):
    monkeypatch.setattr(rows, "WINDOW", window)
    monkeypatch.setattr(rows, "BLANKS_AT_ONCE", window)
    monkeypatch.setattr(pieces, "PIECE", window)
    draw = random.Random(window)
    for _ in range(300):
        text = "".join(draw.choices("ab" + ENDS, k=draw.randrange(20)))
        assert first_rows(text, limit=MUCH).texts == text.splitlines()
        values = [draw.choice(["a", 12, True, [1], {}]) for _ in range(draw.randrange(9))]
        blanks = draw.choice(["", " ", "\n"])
        listed = json.dumps(values, separators=(f"{blanks},{blanks}", ":"))
        if max((len(json.dumps(one)) for one in values), default=0) < window:
            assert first_rows(listed, limit=MUCH).texts == [json.dumps(one) for one in values]


class NotedText(str):
    """A text that notes how long the parts are that are taken of it."""

    longest = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.longest = max(self.longest, len(part))
        return part


@pytest.mark.parametrize("unit", ["a b ", " ", "\n", "a\r\n"])
def test_no_call_reads_more_than_some_of_a_text_whose_line_has_no_end(unit, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 100)
    monkeypatch.setattr(rows, "BLANKS_AT_ONCE", 100)
    sizes: list[int] = []
    blanks: re.Pattern[str] = rows._BLANKS

    def match(text: str, at: int, end: int) -> re.Match[str] | None:
        sizes.append(end - at)
        return blanks.match(text, at, end)

    monkeypatch.setattr(rows, "_BLANKS", SimpleNamespace(match=match))
    text = NotedText(unit * 1000)
    assert first_rows(text, limit=50).number == len(text.splitlines())
    assert max(text.longest, *sizes) <= 101  # no line end of two signs is parted


def test_so_many_fit_as_there_is_room_for_and_all_are_counted():
    text = json.dumps([*range(100)])
    assert first_rows(text, limit=6) == FirstRows(["0", "1", "2"], 100)
    assert first_rows("aa\nb\nc\n", limit=4) == FirstRows(["aa"], 3)


def test_of_elements_that_do_not_fit_so_many_are_counted_and_of_lines_all(monkeypatch):
    monkeypatch.setattr(rows, "MOST_COUNTED", 10)
    as_list, as_lines = json.dumps([*range(100)]), "\n".join(map(str, range(100)))
    assert first_rows(as_list, limit=6) == FirstRows(["0", "1", "2"], 13, goes_on=True)
    assert first_rows(as_list[:-1], limit=6) == FirstRows(["0", "1", "2"], 13, goes_on=True)
    assert first_rows(as_list, limit=MUCH) == FirstRows([*map(str, range(100))], 100)
    assert first_rows(json.dumps([*range(13)]), limit=6) == FirstRows(["0", "1", "2"], 13)
    assert first_rows(as_lines, limit=6) == FirstRows(["0", "1", "2"], 100)


def test_of_a_row_that_takes_most_of_the_room_there_is_the_beginning():
    text = "abcdefgh " * 1000
    assert first_rows(text, limit=200) == FirstRows([], 1, "abcdefgh " * 22, len(text))
    assert first_rows("head\n" + text, limit=200) == FirstRows(
        ["head"], 2, "abcdefgh " * 21, len(text)
    )
    assert first_rows("x" * 9000, limit=200) == FirstRows([], 1, "x" * 199, 9000), "one long word"


def test_no_row_is_begun_where_others_fill_half_of_the_room_or_too_little_would_be_told():
    assert first_rows(f"{'a' * 150}\n{'b' * 500}", limit=300) == FirstRows(["a" * 150], 2)
    assert first_rows("b" * 500, limit=100) == FirstRows([], 1)


@pytest.mark.parametrize("opened", ["{", "["])
def test_a_json_of_one_line_that_is_too_long_is_begun(opened):
    rows = [{"day": day, "close": 1.5} for day in range(1000)]
    text = json.dumps({"rows": rows} if opened == "{" else [{"rows": rows}])
    found = first_rows(text, limit=1000)
    assert (found.texts, found.number) == ([], 1)
    assert found.beginning == text.removeprefix("[")[: len(found.beginning)]
    assert 950 <= len(found.beginning) < 1000


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param('{"a":1},', id="objects"),
        pytest.param("1,", id="numbers", marks=pytest.mark.nightly),  # elements as objects are
    ],
)
def test_no_objects_are_made_of_what_does_not_fit(unit, monkeypatch):
    monkeypatch.setattr(rows, "WINDOW", PIECE)
    monkeypatch.setattr(pieces, "PIECE", PIECE)
    count = 64 * PIECE // len(unit)
    monkeypatch.setattr(rows, "MOST_COUNTED", count)
    text = f"[{(unit * count)[:-1]}]"
    tracemalloc.start()
    try:
        found = first_rows(text, limit=100)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.number == count
    assert peak < 50 * PIECE  # a text has 64, and its objects would have a thousand
