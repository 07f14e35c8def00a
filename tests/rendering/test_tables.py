"""Rows as tables, numbers as text."""

import pytest

from copilot_admin.rendering.tables import MOST_COLUMNS, DrawnCell, are_rows, table_of
from copilot_admin.rendering.text import (
    cell_text,
    duration,
    number_text,
    pretty_json,
    shortened,
)


def test_rows_become_columns_in_the_order_in_which_they_are_named():
    table = table_of([{"b": 1, "a": "x"}, {"c": None, "a": 2.5}])
    assert table.columns == ("b", "a", "c")
    assert table.numeric == (True, False, False)
    assert table.rows == (
        (DrawnCell("1", True), DrawnCell("x", False), DrawnCell("", False)),
        (DrawnCell("", False), DrawnCell("2.5", True), DrawnCell("", False)),
    )
    assert [head.text for head in table.heads] == ["b", "a", "c"]
    assert not table.is_cut


def test_a_long_table_is_cut_and_says_so():
    table = table_of([{"n": n} for n in range(40)], most_rows=3)
    assert (len(table.rows), table.total_rows, table.is_cut) == (3, 40, True)


def test_a_wide_table_leaves_columns_out():
    table = table_of([{f"c{n}": n for n in range(MOST_COLUMNS + 5)}])
    assert (len(table.columns), table.hidden_columns) == (MOST_COLUMNS, 5)


def test_only_the_wanted_columns_are_shown():
    assert table_of([{"a": 1, "b": 2}], columns=("b", "z")).rows == (
        (DrawnCell("2", True), DrawnCell("", False)),
    )


def test_a_long_cell_is_shortened():
    assert table_of([{"a": "x" * 50}], most_cell=5).rows == ((DrawnCell("xxxx…", False),),)


@pytest.mark.parametrize(
    ("value", "are"),
    [
        ([{"a": 1}], True),
        ([{}, {"a": 1}], True),
        ([], False),
        ([{}], False),
        ([{"a": 1}, 2], False),
        ("[{}]", False),
        ({"a": 1}, False),
        (None, False),
    ],
)
def test_rows_are_a_list_of_objects(value, are):
    assert are_rows(value) is are


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (0.1 + 0.2, "0.3"),
        ("x", "x"),
        ([1, {"a": (2,)}], '[1, {"a": [2]}]'),
        ({"é": 1}, '{"é": 1}'),
    ],
)
def test_a_cell_shows_any_value(value, text):
    assert cell_text(value) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1000, "1.0 s"),
        (59_940, "59.9 s"),
        (60_000, "1 min 0 s"),
        (125_400, "2 min 5 s"),
    ],
)
def test_durations_are_said_as_people_say_them(ms, text):
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.00000001, "-1e-08"),
        (1234567, "1,234,567"),
        (0.5, "0.5"),
        (1e18, "1e+18"),
        (-0.0, "0"),
    ],
)
def test_numbers_show_the_digits_that_matter(value, text):
    assert number_text(value) == text


def test_texts_are_shortened_to_the_character():
    assert (shortened("abc", most=3), shortened("abcd", most=3)) == ("abc", "ab…")


def test_json_keeps_its_script():
    assert pretty_json({"a": ("ä",)}) == '{\n  "a": [\n    "ä"\n  ]\n}'
