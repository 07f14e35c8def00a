"""Data of a client as text for a model, and its truncation."""

import base64
import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.prompt.truncation import (
    EMPTY,
    MIN_BEGINNING,
    ContextBudget,
    TruncatedText,
    describe_artifact,
    plain_content,
    truncate_result,
    truncate_rows,
)
from protocol.models import CommandResult, DataItem, FileReference, SourceData, SourceError
from tests.agent.answer_requests import data

ROWS = json.dumps([{"day": 1, "close": 1.5}, {"day": 2, "close": 2.5}, {"day": 3}])


def result_text(result, *, limit):
    return truncate_result(result, limit=limit).text


@pytest.mark.parametrize("result", [SourceData(()), data(""), data("", "")])
def test_source_without_data_says_so(result):
    assert result_text(result, limit=1000) == EMPTY


def test_error_reaches_the_model_as_text():
    assert result_text(SourceError("not_found", "No such widget."), limit=10) == (
        "(error not_found: No such widget.)"
    )
    assert result_text(SourceError("gateway_error", ""), limit=10) == (
        "(error gateway_error: no reason given)"
    )


def test_a_command_result_is_one_line():
    assert result_text(CommandResult("success"), limit=10) == "(success)"
    assert result_text(CommandResult("error", "Full.", {"left": 0}), limit=10) == (
        '(error) Full. {"left": 0}'
    )
    made = CommandResult("success", "Added.", {"left": 0}, {"widget_uuid": "w-1"})
    assert result_text(made, limit=10) == '(success) Added. {"left": 0, "widget_uuid": "w-1"}'


@pytest.mark.parametrize("kind", ["pdf", "png", "jpg", "jpeg", "xlsx", "xls", "docx"])
def test_file_is_named_and_not_dumped(kind):
    item = data("AAAA", data_format={"data_type": kind, "filename": "report"})
    assert result_text(item, limit=1000) == (
        f"[the {kind} 'report', 4 characters encoded; not readable here]"
    )


@pytest.mark.parametrize("prefix", ["", "data:application/pdf;base64,"])
def test_encoded_bytes_without_a_format_are_not_dumped_either(prefix):
    content = prefix + base64.b64encode(bytes(300)).decode()
    assert result_text(data(content), limit=1000) == (
        f"[the file 'without a name', {len(content)} characters encoded; not readable here]"
    )


@pytest.mark.parametrize(
    ("form", "content", "shown"),
    [
        ({"parse_as": "chart"}, ROWS, f"[a chart]\n{ROWS}"),
        ({"parse_as": "table"}, ROWS, ROWS),
        ({"parse_as": "text"}, '"Rates \\"rose\\".\\nMuch."', 'Rates "rose".\nMuch.'),
        ({"parse_as": "text"}, "Rates rose.", "Rates rose."),
        ({"parse_as": "text"}, '"Rates" rose.', '"Rates" rose.'),
        ({"parse_as": "table"}, '"text"', '"text"'),
        ({"parse_as": "snowflake_python"}, "", EMPTY),
    ],
)
def test_an_artifact_is_described(form, content, shown):
    item = data(content, data_format={"data_type": "object", **form})
    assert result_text(item, limit=1000) == shown


def test_link_to_a_file_is_not_shown_because_it_may_be_signed():
    item = FileReference(
        url="https://files.example.com/x?signature=secret",
        data_format={"data_type": "pdf", "filename": "x.pdf"},
    )
    assert result_text(SourceData((item,)), limit=1000) == (
        "[the pdf 'x.pdf' is only linked; its content is not here]"
    )


@pytest.mark.parametrize("text", ["[1, 2", '{"a": 1}\n{"b": 2}', "[" * 100_000])
def test_text_that_is_no_list_is_cut_between_lines(text):
    assert truncate_rows(text, limit=4).text.endswith("rows left out: too much data]")


def test_items_of_a_source_share_its_limit():
    assert result_text(data("a" * 50, "b\n" * 50), limit=60) == (
        "a" * 50 + "\n" + "b\nb\nb\nb\nb\n" + "[45 of 50 rows left out: too much data]"
    )


def test_of_a_file_of_one_line_the_beginning_is_kept():
    line = "12.5, " * 1000
    assert truncate_result(data(line), limit=200) == TruncatedText(
        f"{'12.5, ' * 33}\n[only the first 198 of 6,000 characters of this row: too much data]",
        rows=1,
        left_out=1,
        begun=1,
    )
    assert truncate_result(data(f"day\n{line}\nx\ny"), limit=200) == TruncatedText(
        f"day\n{'12.5, ' * 32}\n[only the first 192 of 6,000 characters of this row: too much "
        "data]\n[2 of 4 rows left out: too much data]",
        rows=4,
        left_out=3,
        begun=1,
    )


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("word " * 1000, "only the beginning"),
        (f"a\n{'word ' * 1000}\nb", "1 of 3 rows and the beginning of 1 more"),
        ("row\n" * 1000, "50 of 1,000 rows"),
    ],
)
def test_a_cut_is_described_for_the_user(text, kept):
    budget = ContextBudget(200)
    budget.truncate_result(data(text), source="x.txt")
    assert budget.cuts == [
        f"Not all data fits: of 'x.txt' the model is given {kept}. Ask about less to have all of it."
    ]


@given(
    rows=st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=20))),
    limit=st.integers(0, MIN_BEGINNING),
)
def test_short_rows_are_kept_or_left_out_whole(rows, limit):
    text = json.dumps(rows)
    result = truncate_rows(text, limit=limit).text
    if result == text:
        return
    *kept, notice = result.split("\n")
    assert [json.loads(row) for row in kept] == rows[: len(kept)]
    assert notice == f"[{len(rows) - len(kept)} of {len(rows)} rows left out: too much data]"


@pytest.mark.parametrize("odd", [["text"], {"text": 1}, 1, None, True, [[]]])
def test_a_data_format_of_any_shape_is_accepted(odd):
    item = DataItem(content='"words"', data_format={"parse_as": odd, "data_type": odd})
    assert (plain_content(item), describe_artifact(item)) == ('"words"', "")
    told = result_text(SourceData(items=(item,)), limit=1000)
    assert "words" in told


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        (' [ 1 , "a,b]" , {"a": [1, 2]} ] ', 20, '1\n"a,b]"'),
        ('["é", null, NaN, 1.50]', 20, '"é"\nnull\nNaN\n1.5'),
        ("[1, 2\n3", 7, "[1, 2"),
        ("a\r\nb\n\nc", 5, "a\nb"),
        (f"{'a' * 150}\n{'b' * 500}", 300, "a" * 150),
        ("b" * 500, 100, ""),
    ],
)
def test_rows_are_elements_of_a_json_list_or_lines(text, limit, shown):
    kept = truncate_rows(text, limit=limit).text.split("\n")[:-1]
    assert "\n".join(kept).rstrip("\n") == shown
