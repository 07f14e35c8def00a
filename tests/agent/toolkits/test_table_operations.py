"""Rows in every form they come in, and what every operation makes of them."""

import doctest
import importlib
import json
from math import nan
from typing import Any, get_args

import pytest

from copilot_admin.agent.toolkits.table_operations import Aggregate, analyse
from copilot_admin.agent.toolkits.tables import (
    MAX_CELL_CHARACTERS,
    MAX_CELLS,
    MAX_DESCRIBED_CHARACTERS,
    MAX_DESCRIBED_ROWS,
    MAX_NUMBER,
    MAX_SHOWN_ROWS,
    MAX_TEXT,
    Table,
    describe_table,
    is_empty,
    number_of,
    parsed,
    read_table,
)

AGGREGATES = get_args(Aggregate)
SALES: list[dict[str, Any]] = [
    {"region": "EU", "product": "A", "sales": 120},
    {"region": "US", "product": "A", "sales": "1,080.5"},
    {"region": "EU", "product": "B", "sales": None},
    {"region": "eu", "product": "B", "sales": 95},
]


MODULES = ("arithmetic", "tables", "table_operations", "returns.options", "returns.measures")


def sales(*operations):
    """Return the values of the rows that the operations leave."""
    return [tuple(row.values()) for row in analyse(SALES, list(operations)).rows]


def filtered(column, how, **value):
    found = sales({"op": "filter", "column": column, "is": how, **value})
    return [row[list(SALES[0]).index(column)] for row in found]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_the_docstrings_are_true(module):
    name = f"copilot_admin.agent.toolkits.{module}"
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted > outcome.failed == 0


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        *((-0.5, -0.5), ("1,234,567.5", 1234567.5), (".5", 0.5), (" 12 % ", 0.12), ("$9", 9)),
        *(("-€ 5", -5), ("−7", -7), ("(5.5)", -5.5), ("1.5e3", 1500.0)),  # the minus of print
        *((one, None) for one in (MAX_NUMBER * 10, 10**400, "1e999", nan, True, None, "", "n/a")),
        *((one, None) for one in ("12 apples", "1,23", "1.234,56", "(-5)", "1" * 61, "٣")),
    ],
)
def test_numbers_are_understood_as_people_write_them(cell, number):
    assert number_of(cell) == number


def test_nothing_is_written_in_many_ways():
    assert all(map(is_empty, [None, "", "  ", "-", "—", "N/A", "NaN", "null", "None"]))
    assert not any(map(is_empty, [0, False, "0", "no"]))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *(("5", 5), ("-5.25", -5.25)),
        *((one, one) for one in ("007", "5.10", "-0", "1,200", "1" * 16, "0.0000001")),
    ],
)
def test_text_becomes_a_number_only_if_nothing_of_it_is_lost(text, cell):
    assert parsed(text) == cell
    assert type(parsed(text)) is type(cell)


@pytest.mark.parametrize(
    "rows",
    [
        ({"a": 1, "b": "x"}, {"a": 2}),
        *('[{"a": 1, "b": "x"}, {"a": 2}]', '{"data": [{"a": 1, "b": "x"}, {"a": 2}]}'),
        *("a,b\n1,x\n2", "\ufeffa;b\r\n1;x\r\n\r\n2\r\n", "a | b\n1 | x\n2"),
    ],
)
def test_every_form_gives_the_same_rows(rows):
    assert read_table(rows) == Table(("a", "b"), ({"a": 1, "b": "x"}, {"a": 2, "b": None}))


@pytest.mark.parametrize(
    ("rows", "row"),
    [
        ({"a": 1}, {"a": 1}),
        ([{"a": {"b": [1, "é"]}}], {"a": '{"b": [1, "é"]}'}),
        ('name,note\n"Smith, J","a\nb"', {"name": "Smith, J", "note": "a\nb"}),
        ("a,,a\n1,2,3", {"a": 1, "column 2": 2, "a (3)": 3}),
    ],
)
def test_one_row(rows, row):
    assert read_table(rows).rows == (row,)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        *((one, "The rows are no table. Give a list") for one in (None, 5, [1, 2], [[1, 2]])),
        ([{}, {}], "There are no rows with values"),
        ("[]", "There are no rows with values"),
        *((one, "There are no rows. Give") for one in ("", "hello", "a,b")),
        ("[1", "look like JSON but are none: Expecting"),
        ("[" * 100_000, "nested too deeply"),
        (f"[{'0,' * 750_000}0]", "The rows have more than 750,000 JSON values. Send fewer."),
        ("a,b\n1,2,3", "Row 1 has 3 values, but the header names 2 columns"),
        ("a\n" + "x" * 200_000, "are no CSV: field larger than"),
        ("x" * (MAX_TEXT + 1), "longer than 5,000,000 characters"),
        ("a\n" + "1\n" * (MAX_CELLS + 1), "1 columns in 300,001 rows. At most 300,000 values"),
    ],
)
def test_what_is_no_table_is_refused_in_words(rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_table(rows)


@pytest.mark.parametrize(
    ("column", "how", "value", "kept"),
    [
        *(("sales", "==", 120, [120]), ("sales", "=", "1080.5", ["1,080.5"])),
        *(("sales", "==", None, [None]), ("sales", "!=", [120, 95], ["1,080.5", None])),
        *(("sales", ">", "1,000", ["1,080.5"]), ("sales", ">=", 120, [120, "1,080.5"])),
        *(("sales", "<", 120, [95]), ("sales", "<=", 120, [120, 95]), ("sales", ">", "abc", [])),
        *(("sales", "in", [95, "120"], [120, 95]), ("sales", "contains", "0", [120, "1,080.5"])),
        *(("region", "==", " EU ", ["EU", "EU", "eu"]), ("region", "!=", "EU", ["US"])),
        *(("region", ">", "EU", ["US"]), ("region", "<", 5, []), ("region", "in", ["us"], ["US"])),
        ("region", "contains", ["s"], ["US"]),
    ],
)
def test_numbers_compare_as_numbers_and_texts_without_regard_to_case(column, how, value, kept):
    assert filtered(column, how, value=value) == kept


def test_empty_and_filled_need_no_value_and_an_order_has_one():
    assert filtered("sales", "empty") == [None]
    assert filtered("sales", "filled") == [120, "1,080.5", 95]
    with pytest.raises(ValueError, match="'>' takes one value, not 2"):
        filtered("sales", ">", value=[1, 2])
    with pytest.raises(ValueError, match="filter of 'sales' has no value to compare with"):
        filtered("sales", ">")


@pytest.mark.parametrize(
    ("operation", "rows"),
    [
        (
            {"op": "sort", "by": ["product", "region"]},
            [("EU", "A", 120), ("US", "A", "1,080.5"), ("EU", "B", None), ("eu", "B", 95)],
        ),
        ({"op": "top", "n": 2, "by": "sales"}, [("US", "A", "1,080.5"), ("EU", "A", 120)]),
        ({"op": "bottom", "n": 1, "by": "sales"}, [("eu", "B", 95)]),
        ({"op": "limit", "n": 1}, [("EU", "A", 120)]),
        (
            {"op": "select", "columns": ["sales", "region", "sales"]},
            [(120, "EU"), ("1,080.5", "US"), (None, "EU"), (95, "eu")],
        ),
        (
            {"op": "group", "by": "product", "aggregate": {"sales": ["sum", "mean"], "*": "count"}},
            [("A", 1200.5, 600.25, 2), ("B", 95, 95, 2)],
        ),
        (
            {"op": "group", "aggregate": {"sales": [*AGGREGATES], "*": ["count"]}},
            [(1295.5, 431.833333333333, 120, 95, 1080.5, 561.900866108367, 3, 120, 95, 4)],
        ),
    ],
)
def test_an_operation(operation, rows):
    before = json.dumps(SALES)
    assert sales(operation) == rows
    assert json.dumps(SALES) == before


@pytest.mark.parametrize(
    ("descending", "order"),
    [(False, ["9", 9, 10, "A", "b", None, ""]), (True, ["b", "A", 10, "9", 9, None, ""])],
)
def test_sorting_puts_numbers_before_texts_and_what_is_empty_last(descending, order):
    rows = [{"a": one} for one in ["b", None, 10, "9", "A", "", 9]]
    done = analyse(rows, {"op": "sort", "by": "a", "descending": descending})
    assert [row["a"] for row in done.rows] == order


def test_of_no_rows_there_is_no_group_but_still_a_total():
    nobody = {"op": "filter", "column": "region", "is": "==", "value": "CN"}
    aggregate = {"sales": ["sum", "mean", "std", "median", "max", "last"], "*": "count"}
    assert sales(nobody, {"op": "group", "by": "region", "aggregate": aggregate}) == []
    [total] = sales(nobody, {"op": "group", "aggregate": aggregate})
    assert total == (0, None, None, None, None, None, 0)


@pytest.mark.parametrize(
    ("kind", "cells", "result"),
    [
        *(("sum", [0.1] * 10, 1), ("sum", [2**80, 1], 2**80 + 1), ("mean", [0.1, 0.2], 0.15)),
        ("min", ["2024-02-01", "", "2024-01-31"], "2024-01-31"),
        ("max", ["2024-02-01", "", "2024-01-31"], "2024-02-01"),
        ("std", [MAX_NUMBER, -MAX_NUMBER], pytest.approx(2**0.5 * MAX_NUMBER)),
    ],
)
def test_sums_are_exact_and_dates_have_an_order(kind, cells, result):
    rows = [{"a": cell} for cell in cells]
    done = analyse(rows, {"op": "group", "aggregate": {"a": kind}})
    assert done.rows == ({f"a_{kind}": result},)


@pytest.mark.parametrize(
    ("left", "sign", "right", "result"),
    [
        *(("a", "+", "b", 12), ("a", "-", 2.5, 7.5), ("b", "*", 0.1, 0.2), (1, "/", "a", 0.1)),
        *(("a", "/", 0, None), ("a", "*", "none", None), ("a", "*", MAX_NUMBER, None)),
    ],
)
def test_a_column_is_worked_out_of_two_others_or_numbers(left, sign, right, result):
    step = {"op": "derive", "column": "c", "left": left, "operator": sign, "right": right}
    done = analyse([{"a": 10, "b": "2", "none": ""}], step)
    assert done.columns == ("a", "b", "none", "c")
    assert done.rows[0]["c"] == result


@pytest.mark.parametrize(
    ("operations", "sentence"),
    [
        (None, "The operations are no list of objects"),
        ([1], "Operation 1: Input should be a valid dictionary"),
        ([{"op": "limit", "n": 1}, {"op": "drop"}], "Operation 2: .* 'filter', 'select'"),
        ({"op": "filter"}, "Operation 1: filter: column: Field required"),
        ({"op": "limit", "n": 0}, "limit: n: Input should be greater than or equal to 1"),
        ({"op": "group", "aggregate": {"a": "avg"}}, "aggregate: a: 0: Input should be 'sum'"),
        ({"op": "group", "aggregate": {"*": ["count", "sum"]}}, "Rows can only be counted"),
        ({"op": "group", "aggregate": {"region": "sum"}}, "'region' has 'EU' in it, which is no"),
        ({"op": "top", "n": 1, "by": "region"}, "'region' has 'EU' in it, which is no number"),
        ({"op": "group", "by": "x", "aggregate": {"*": "count"}}, "no column 'x'"),
        ({"op": "group", "aggregate": {"x": "sum"}}, "no column 'x'"),
        ({"op": "sort", "by": "x"}, r"no column 'x'\. The columns are: region, product, sales"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(operations, sentence):
    with pytest.raises(ValueError, match=sentence):
        analyse(SALES, operations)


def test_a_table_is_described_row_by_row():
    rows = tuple({"n": n} for n in range(MAX_SHOWN_ROWS + 1))
    first, *lines = describe_table(Table(("n",), rows)).splitlines()
    assert "1,001 rows with the columns: n. Only the first 100 are listed here" in first
    assert first.endswith("The user sees the first 1,000.")
    assert lines == [f'{{"n": {n}}}' for n in range(MAX_DESCRIBED_ROWS)]
    assert describe_table(Table(("a", "b"), ())) == "No row is left. The columns are: a, b."


def test_long_cells_are_shortened_and_wide_rows_left_out():
    long = {f"c{n}": "x" * 1000 for n in range(10)}
    text = describe_table(Table(tuple(long), (long,) * 10))
    assert len(text) < MAX_DESCRIBED_CHARACTERS + 1000
    assert f'"{"x" * MAX_CELL_CHARACTERS}…"' in text
