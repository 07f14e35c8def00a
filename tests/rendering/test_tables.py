"""Rows as tables, values as text."""

import csv
from io import StringIO
import re
from typing import Any

import pytest

from copilot_admin.rendering.tables import (
    MAX_COLUMNS,
    DrawnCell,
    are_rows,
    build_table,
    escape_formula,
    format_csv,
)
from copilot_admin.rendering.text import cell_text, duration, number_text, pretty_json, shortened


def test_rows_become_columns_in_the_order_in_which_they_are_named():
    table = build_table([{"b": 1, "a": "x"}, {"c": None, "a": 2.5}])
    assert table.heads == (DrawnCell("b", True), DrawnCell("a", False), DrawnCell("c", False))
    assert table.rows == (
        (DrawnCell("1", True), DrawnCell("x", False), DrawnCell("", False)),
        (DrawnCell("", False), DrawnCell("2.5", True), DrawnCell("", False)),
    )
    assert not table.is_cut


def test_long_and_wide_tables_are_cut():
    long = build_table([{"n": n} for n in range(40)], most_rows=3)
    assert (len(long.rows), long.total_rows, long.is_cut) == (3, 40, True)
    wide = build_table([{f"c{n}": n for n in range(MAX_COLUMNS + 5)}])
    assert (len(wide.heads), wide.hidden_columns) == (MAX_COLUMNS, 5)
    assert build_table([{"a": "x" * 50}], most_cell=5).rows == ((DrawnCell("xxxx…", False),),)
    chosen = build_table([{"a": 1, "b": 2}], columns=("b", "z"))
    assert chosen.rows == ((DrawnCell("2", True), DrawnCell("", False)),)


def test_rows_are_a_list_of_objects():
    others: list[Any] = [[], [{}], [{"a": 1}, 2], "[{}]", {"a": 1}, None]
    assert not any(are_rows(value) for value in others)
    assert are_rows([{"a": 1}]) and are_rows([{}, {"a": 1}])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (cell_text(None), ""),
        (cell_text(True), "true"),
        (cell_text(3), "3"),
        (cell_text(0.1 + 0.2), "0.3"),
        (cell_text([1, {"é": (2,)}]), '[1, {"é": [2]}]'),
        (pretty_json({"a": ("ä",)}), '{\n  "a": [\n    "ä"\n  ]\n}'),
        (duration(999), "999 ms"),
        (duration(59_940), "59.9 s"),
        (duration(125_400), "2 min 5 s"),
        (number_text(-0.00000001), "-1e-08"),
        (number_text(1234567), "1,234,567"),
        (number_text(0.5), "0.5"),
        (number_text(1e18), "1e+18"),
        (number_text(-0.0), "0"),
        (shortened("abc", most=3), "abc"),
        (shortened("abcd", most=3), "ab…"),
    ],
)
def test_values_are_short_texts(text: str, expected: str):
    assert text == expected


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
