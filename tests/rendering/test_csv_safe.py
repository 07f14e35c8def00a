"""Cells of CSV files are never read as formulas."""

import csv
from io import StringIO
import re

import pytest

from copilot_admin.rendering.tables import escape_formula, format_csv

SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫"  # of all widths


@pytest.mark.parametrize("before", ["", "  ", "\u00a0", "\u3000", "\u200b", "\ufeff", "\x0b"])
def test_a_cell_that_begins_like_a_formula_is_escaped(before: str):
    for first in SIGNS:
        assert escape_formula(f"{before}{first}1+1") == f"'{before}{first}1+1"
        assert escape_formula(f"1{before}{first}1") == f"1{before}{first}1"


@pytest.mark.parametrize("between", [";", "\t", "\n", "\r\n", "; ", ";\u200b"])
def test_a_formula_after_another_separator_is_escaped(between: str):
    split = between.rstrip(" \u200b")
    for first in SIGNS:
        after = f"{between[len(split) :]}{first}1|2"
        assert escape_formula(f"1{split}{after}") == f"1{split}'{after}"


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        *((one, one) for one in (-1, 0, None, "", "  ", "Почему?", "  words", "'=1", '"=1"', "¼")),
        ("\twords", "'\twords"),
        ("\nwords", "'\nwords"),
        ("So:\n- one\n- two;\n  + three\nx\n* =1", "So:\n- one\n- two;\n  + three\nx\n* =1"),
        ("So:\n- cmd|' /C calc'!A0", "So:\n'- cmd|' /C calc'!A0"),
        ("So:\n+ WEBSERVICE(A1)", "So:\n'+ WEBSERVICE(A1)"),
        ("1;-", "1;'-"),
    ],
)
def test_numbers_words_and_lists_stay_as_they_are(value: str | int | None, escaped: object):
    assert escape_formula(value) == escaped


HOSTILE = ["=1", "a;=1+1", 'b";=1', "c\t=1", "d\n=cmd|' /C calc'!A0\n@x", "e\r=1", ";=1", "\n=1"]


def test_no_row_has_a_formula_whatever_separates_cells():
    text = format_csv([[7, one, None, -1.5] for one in HOSTILE])
    # With another separator, a quote amid a cell is a letter, and a line break ends the row.
    cells = [*re.split("[;\r\n]", text), *re.split("[\t\r\n]", text)]
    cells += [cell for row in csv.reader(StringIO(text, newline="")) for cell in row]
    assert len(cells) > 70
    assert [one for one in cells if one.strip(' "')[:1] in tuple("=+@")] == []


def test_texts_are_quoted_and_numbers_are_not():
    rows: list[list[str | int | float | None]] = [["a", 1, -2.5, None, 'x"y'], ["=1"]]
    assert format_csv(rows) == '"a",1,-2.5,"","x""y"\r\n"\'=1"\r\n'
