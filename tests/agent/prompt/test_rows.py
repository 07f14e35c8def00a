"""Of a text that is too long the first rows are shown."""

import json

import pytest

from copilot_admin.agent.prompt.rows import FirstRows, first_rows

MUCH = 10**9


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


def test_so_many_fit_as_there_is_room_for_and_all_are_counted():
    text = json.dumps([*range(100)])
    assert first_rows(text, limit=6) == FirstRows(["0", "1", "2"], 100)
    assert first_rows("aa\nb\nc\n", limit=4) == FirstRows(["aa"], 3)


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
