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
    truncate_result,
    truncate_rows,
)
from protocol.models import CommandResult, DataItem, FileReference, SourceData, SourceError
from tests.agent.answer_requests import data

ROWS = json.dumps([{"day": 1, "close": 1.5}, {"day": 2, "close": 2.5}, {"day": 3}])
ADDED = CommandResult("success", "Added.", {"left": 0}, {"widget_uuid": "w-1"})
ENCODED = base64.b64encode(bytes(300)).decode()
LINK = FileReference(url="https://f.example/x?signature=s", data_format={"data_type": "pdf"})


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        *((empty, EMPTY) for empty in (SourceData(()), data(""), data("", ""))),
        (data(ROWS, "more"), f"{ROWS}\nmore"),
        (SourceError("not_found", "No such widget."), "(error not_found: No such widget.)"),
        (SourceError("gateway_error", ""), "(error gateway_error: no reason given)"),
        (CommandResult("success"), "(success)"),
        (CommandResult("error", "Full.", {"left": 0}), '(error) Full. {"left": 0}'),
        (ADDED, '(success) Added. {"left": 0, "widget_uuid": "w-1"}'),
        *(
            (data("AAAA", data_format={"data_type": kind, "filename": "a"}),
             f"[the {kind} 'a', 4 characters encoded; not readable here]")
            for kind in ("pdf", "png", "xlsx", "docx")
        ),
        (data(ENCODED), "[the file 'without a name', 400 characters encoded; not readable here]"),
        # A link may be signed.
        (SourceData((LINK,)), "[the pdf 'without a name' is only linked; its content is not here]"),
    ],
)  # fmt: skip
def test_each_result_is_text(result, shown):
    assert truncate_result(result, limit=1000).text == shown


@pytest.mark.parametrize(
    ("form", "content", "shown"),
    [
        ("chart", ROWS, f"[a chart]\n{ROWS}"),
        ("table", ROWS, ROWS),
        ("text", '"Rates \\"rose\\".\\nMuch."', 'Rates "rose".\nMuch.'),
        ("text", '"Rates" rose.', '"Rates" rose.'),
        ("table", '"text"', '"text"'),
        ("snowflake_python", "1", "[Python code for Snowflake]\n1"),
        *((odd, '"words"', '"words"') for odd in (["text"], {"text": 1}, 1, None, True)),
    ],
)
def test_an_artifact_is_described(form, content, shown):
    item = DataItem(content=content, data_format={"data_type": "object", "parse_as": form})
    assert truncate_result(SourceData((item,)), limit=1000).text == shown


@pytest.mark.parametrize("text", ["[1, 2", '{"a": 1}\n{"b": 2}', "[" * 100_000])
def test_text_that_is_no_list_is_cut_between_lines(text):
    assert truncate_rows(text, limit=4).text.endswith("rows left out: too much data]")


def test_items_of_a_source_share_its_limit():
    assert truncate_result(data("a" * 50, "b\n" * 50), limit=60).text == (
        "a" * 50 + "\n" + "b\nb\nb\nb\nb\n" + "[45 of 50 rows left out: too much data]"
    )


def test_of_a_file_of_one_line_the_beginning_is_kept():
    line = "12.5, " * 1000
    notice = "[only the first 192 of 6,000 characters of this row: too much data]"
    assert truncate_rows(f"day\n{line}\nx\ny", limit=200) == TruncatedText(
        f"day\n{'12.5, ' * 32}\n{notice}\n[2 of 4 rows left out: too much data]",
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
    (cut,) = budget.cuts
    assert cut.startswith(f"Not all data fits: of 'x.txt' the model is given {kept}. Ask about ")


@given(
    rows=st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=20))),
    limit=st.integers(0, MIN_BEGINNING),
)
def test_short_rows_are_kept_or_left_out_whole(rows, limit):
    text = json.dumps(rows)
    result = truncate_rows(text, limit=limit).text
    if result != text:
        *kept, notice = result.split("\n")
        assert [json.loads(row) for row in kept] == rows[: len(kept)]
        assert notice == f"[{len(rows) - len(kept)} of {len(rows)} rows left out: too much data]"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        (' [ 1 , "a,b]" , {"a": [1, 2]} ] ', 20, '1\n"a,b]"'),
        ('["é", null, NaN, 1.50]', 20, '"é"\nnull\nNaN\n1.5'),
        ("a\r\nb\n\nc", 5, "a\nb"),
        (f"{'a' * 150}\n{'b' * 500}", 300, "a" * 150),
        ("b" * 500, 100, ""),
    ],
)
def test_rows_are_elements_of_a_json_list_or_lines(text, limit, shown):
    kept = truncate_rows(text, limit=limit).text.split("\n")[:-1]
    assert "\n".join(kept).rstrip("\n") == shown
