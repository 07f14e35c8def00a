"""Cells that no spreadsheet takes for formulas."""

import csv
from io import StringIO
import re

import pytest

from copilot_admin.rendering.no_formula import csv_lines, no_formula

SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫"  # of all widths


@pytest.mark.parametrize("before", ["", "  ", "\u00a0", "\u3000", "\u200b", "\ufeff", "\x0b"])
@pytest.mark.parametrize("first", SIGNS)
def test_a_cell_is_no_formula(first: str, before: str):
    assert no_formula(f"{before}{first}1+1") == f"'{before}{first}1+1"
    assert no_formula(f"1{before}{first}1") == f"1{before}{first}1"


@pytest.mark.parametrize("first", "\t\r\n")
def test_a_cell_begins_with_no_break(first: str):
    assert no_formula(f"{first}words") == f"'{first}words"


@pytest.mark.parametrize("plain", [-1, 0, None, "", "  ", "Почему?", "  words", "'=1", '"=1"', "¼"])
def test_other_cells_are_as_they_are(plain: str | int | None):
    assert no_formula(plain) == plain


@pytest.mark.parametrize("between", [";", "\t", "\n", "\r\n", "; ", ";\u200b", "\n \n\t"])
@pytest.mark.parametrize("first", SIGNS)
def test_what_begins_a_cell_for_other_separators_is_no_formula(first: str, between: str):
    split = between.rstrip(" \u200b")
    blanks = between[len(split) :]
    assert no_formula(f"1{between}{first}1|2") == f"1{split}'{blanks}{first}1|2"


@pytest.mark.parametrize("text", ["- one\n- two;\n  + three", "a; b\n\nc\td", "x\n* =1", "1;-"])
def test_lists_and_words_behind_separators_are_as_they_are(text: str):
    assert no_formula(f"So:\n{text}").replace("'", "") == f"So:\n{text}"
    assert no_formula(f"So:\n{text}").count("'") == text.count(";-")


@pytest.mark.parametrize("call", ["- cmd|' /C calc'!A0", "+ WEBSERVICE(A1)", "-Sheet1!A1"])
def test_a_list_in_which_something_is_called_is_none(call: str):
    assert no_formula(f"So:\n{call}") == f"So:\n'{call}"


HOSTILE = ["=1", "a;=1+1", 'b";=1', "c\t=1", "d\n=cmd|' /C calc'!A0\n@x", "e\r=1", ";=1", "\n=1"]


def test_no_row_has_a_formula_whatever_ends_cells():
    text = csv_lines([[7, one, None, -1.5] for one in HOSTILE])
    # Where commas end no cell, a quote amid one is a letter, and a line break ends the row.
    cells = [*re.split("[;\r\n]", text), *re.split("[\t\r\n]", text)]
    cells += [cell for row in csv.reader(StringIO(text, newline="")) for cell in row]
    assert len(cells) > 70
    assert [one for one in cells if one.strip(' "')[:1] in tuple("=+@")] == []


def test_texts_are_in_quotes_and_numbers_are_not():
    rows: list[list[str | int | float | None]] = [["a", 1, -2.5, None, 'x"y'], ["=1"]]
    assert csv_lines(rows) == '"a",1,-2.5,"","x""y"\r\n"\'=1"\r\n'
