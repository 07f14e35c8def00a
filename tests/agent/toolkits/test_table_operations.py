"""Rows in every form they come in, and what every operation makes of them."""

import doctest
import importlib
import json
from math import inf, isfinite, nan
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.toolkits.cells import (
    MAX_NUMBER,
    flat,
    is_empty,
    number_of,
    numbers,
    parsed,
)
from copilot_admin.agent.toolkits.table_operations import MAX_OPERATIONS, Aggregate, analyse
from copilot_admin.agent.toolkits.tables import (
    MAX_CELL_CHARACTERS,
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_DESCRIBED_CHARACTERS,
    MAX_DESCRIBED_ROWS,
    MAX_ROWS,
    MAX_SHOWN_ROWS,
    MAX_TEXT,
    Table,
    describe_table,
    read_table,
)

SALES: list[dict[str, Any]] = [
    {"region": "EU", "product": "A", "sales": 120},
    {"region": "US", "product": "A", "sales": "1,080.5"},
    {"region": "EU", "product": "B", "sales": None},
    {"region": "eu", "product": "B", "sales": 95},
]


def aggregated(kind, cells, *, column):
    """The aggregate of the cells of one column."""
    table = Table((column,), tuple({column: cell} for cell in cells))
    rows = table.rows or '[{"a": null}]'
    done = analyse(rows, {"op": "group", "aggregate": {column: kind}})
    return done.rows[0][f"{column}_{kind}"]


def sales(*operations):
    """What the operations leave, as the values of its rows."""
    return [tuple(row.values()) for row in analyse(SALES, list(operations)).rows]


def filtered(column, how, *value):
    operation = {"op": "filter", "column": column, "is": how}
    return sales(operation | ({"value": value[0]} if value else {}))


@pytest.mark.parametrize("module", ["cells", "tables", "table_operations"])
def test_the_examples_of_the_docstrings_are_true(module):
    name = f"copilot_admin.agent.toolkits.{module}"
    outcome = doctest.testmod(importlib.import_module(name))

    assert outcome.attempted > 0
    assert outcome.failed == 0


class TestCells:
    @pytest.mark.parametrize(
        ("cell", "number"),
        [
            (5, 5),
            (-0.5, -0.5),
            ("1,234,567.5", 1234567.5),
            ("1200.", 1200.0),
            (".5", 0.5),
            (" 12 % ", 0.12),
            ("1.1%", 0.011),
            ("$1,200", 1200),
            ("-€ 5", -5),
            ("−7", -7),  # the minus of print
            ("+7", 7),
            ("(5.5)", -5.5),
            ("1.5e3", 1500.0),
            (MAX_NUMBER, MAX_NUMBER),
            (MAX_NUMBER * 10, None),
            (10**400, None),
            ("1e999", None),
            (nan, None),
            (inf, None),
            (True, None),
            (None, None),
            ("", None),
            ("n/a", None),
            ("12 apples", None),
            ("1,23", None),
            ("1.234,56", None),
            ("(-5)", None),
            ("1" * 61, None),
            ("٣", None),
        ],
    )
    def test_numbers_are_understood_as_people_write_them(self, cell, number):
        assert number_of(cell) == number

    @pytest.mark.parametrize("cell", [None, "", "  ", "-", "—", "N/A", "NaN", "null", "None"])
    def test_nothing_is_written_in_many_ways(self, cell):
        assert is_empty(cell)

    @pytest.mark.parametrize("cell", [0, False, "0", "no"])
    def test_zero_and_no_are_something(self, cell):
        assert not is_empty(cell)

    @pytest.mark.parametrize(
        ("text", "cell"),
        [
            ("5", 5),
            ("-5.25", -5.25),
            ("007", "007"),
            ("5.10", "5.10"),
            ("-0", "-0"),
            ("1,200", "1,200"),
            ("1" * 16, "1" * 16),
            ("0.0000001", "0.0000001"),
        ],
    )
    def test_text_becomes_a_number_only_if_nothing_of_it_is_lost(self, text, cell):
        assert parsed(text) == cell
        assert type(parsed(text)) is type(cell)

    def test_what_is_nested_becomes_text(self):
        assert flat({"a": [1, "é"]}) == '{"a": [1, "é"]}'
        assert flat(nan) is None

    def test_what_is_nested_too_deeply_is_refused(self):
        deep = []
        for _ in range(200_000):
            deep = [deep]
        with pytest.raises(ValueError, match=r"nested too deeply\. Send flat rows"):
            flat(deep)


class TestReading:
    @pytest.mark.parametrize(
        "rows",
        [
            [{"a": 1, "b": "x"}, {"a": 2}],
            ({"a": 1, "b": "x"}, {"a": 2}),
            '[{"a": 1, "b": "x"}, {"a": 2}]',
            {"rows": [{"a": 1, "b": "x"}, {"a": 2}]},
            '{"data": [{"a": 1, "b": "x"}, {"a": 2}]}',
            "a,b\n1,x\n2",
            "\ufeffa;b\r\n1;x\r\n\r\n2\r\n",
            "a\tb\n1\tx\n2\t\n".replace("2\t\n", "2"),
            "a | b\n1 | x\n2",
        ],
    )
    def test_every_form_gives_the_same_rows(self, rows):
        table = read_table(rows)

        assert table.columns == ("a", "b")
        assert [{key: row[key] for key in row} for row in table.rows] == [
            {"a": 1, "b": "x"},
            {"a": 2, "b": None},
        ]

    def test_one_object_is_one_row(self):
        assert read_table({"a": 1}) == Table(("a",), ({"a": 1},))
        assert read_table({"rows": 3}) == Table(("rows",), ({"rows": 3},))

    def test_quotation_marks_hold_separators_and_lines(self):
        assert read_table('name,note\n"Smith, J","two\nlines"').rows == (
            {"name": "Smith, J", "note": "two\nlines"},
        )

    def test_columns_without_a_name_or_with_one_that_stands_twice_get_their_own(self):
        assert read_table("a,,a\n1,2,3").columns == ("a", "column 2", "a (3)")

    @pytest.mark.parametrize(
        ("rows", "sentence"),
        [
            (None, "The rows are no table. Give a list of objects"),
            (5, "The rows are no table"),
            ([1, 2], "The rows are no table"),
            ([[1, 2]], "The rows are no table"),
            ([], "There are no rows with values"),
            ({}, "There are no rows with values"),
            ([{}, {}], "There are no rows with values"),
            ("[]", "There are no rows with values"),
            ("", "There are no rows. Give"),
            ("hello", "There are no rows. Give"),
            ("a,b", "There are no rows. Give"),
            ("[1", "look like JSON but are none: Expecting"),
            ('{"a": ' + "9" * 5000 + "}", "look like JSON but are none: Exceeds"),
            ("[" * 100_000, "nested too deeply"),
            (f"[{'0,' * 750_000}0]", "The rows have more than 750,000 JSON values. Send fewer."),
            ("a,b\n1,2,3", "Row 1 has 3 values, but the header names 2 columns"),
            ("a\n" + "x" * 200_000, "are no CSV: field larger than"),
            ("x" * (MAX_TEXT + 1), "longer than 5,000,000 characters"),
            ([{"a": 1}] * (MAX_ROWS + 1), "20,001 rows; at most 20,000"),
            ("a,b\n" * 1_000_000, "There are 999,999 rows; at most 20,000"),
            ("," * MAX_COLUMNS + "\n1", "201 columns in 1 rows. At most 200"),
            (
                "," * 49 + "\n1" * (MAX_CELLS // 50 + 1),
                "50 columns in 6,001 rows. At most 200 columns and 300,000 values",
            ),
            ([{str(n): 1 for n in range(MAX_COLUMNS + 1)}], "201 columns in 1 rows. At most 200"),
            (
                [{str(n): 1 for n in range(50)}] * (MAX_CELLS // 50 + 1),
                "At most 200 columns and 300,000 values",
            ),
        ],
    )
    def test_what_is_no_table_is_refused_in_words(self, rows, sentence):
        with pytest.raises(ValueError, match=sentence):
            read_table(rows)


class TestFilter:
    @pytest.mark.parametrize(
        ("how", "value", "kept"),
        [
            ("==", 120, [120]),
            ("=", "120", [120]),
            ("==", "1080.5", ["1,080.5"]),
            ("==", None, [None]),
            ("!=", 120, ["1,080.5", None, 95]),
            ("!=", [120, 95], ["1,080.5", None]),
            (">", 100, [120, "1,080.5"]),
            (">", "1,000", ["1,080.5"]),
            (">=", 120, [120, "1,080.5"]),
            ("<", 120, [95]),
            ("<=", 120, [120, 95]),
            (">", "abc", []),
            (">", None, []),
            ("in", [95, "120"], [120, 95]),
            ("in", 95, [95]),
            ("contains", "0", [120, "1,080.5"]),
            (">", 1e9, []),
            (">", -1, [120, "1,080.5", 95]),
        ],
    )
    def test_numbers_compare_as_numbers_and_what_is_empty_with_nothing(self, how, value, kept):
        assert [row[2] for row in filtered("sales", how, value)] == kept

    @pytest.mark.parametrize(
        ("how", "value", "kept"),
        [
            ("==", "eu", ["EU", "EU", "eu"]),
            ("==", " EU ", ["EU", "EU", "eu"]),
            ("!=", "EU", ["US"]),
            (">", "EU", ["US"]),
            ("<", 5, []),
            ("contains", "u", ["EU", "US", "EU", "eu"]),
            ("contains", ["s"], ["US"]),
            ("in", ["us", "cn"], ["US"]),
            ("in", [], []),
            ("==", "", []),
        ],
    )
    def test_texts_compare_without_regard_to_case(self, how, value, kept):
        assert [row[0] for row in filtered("region", how, value)] == kept

    def test_empty_and_filled_need_no_value(self):
        assert [row[2] for row in filtered("sales", "empty")] == [None]
        assert [row[2] for row in filtered("sales", "filled")] == [120, "1,080.5", 95]

    def test_truth_is_no_number(self):
        rows = [{"a": True}, {"a": 1}, {"a": "true"}]
        found = analyse(rows, {"op": "filter", "column": "a", "is": "==", "value": True})
        assert found.rows == ({"a": True}, {"a": "true"})

    @pytest.mark.parametrize("how", [">", "<=", "contains"])
    @pytest.mark.parametrize("values", [[], [1, 2]])
    def test_an_order_has_one_value(self, how, values):
        with pytest.raises(ValueError, match=f"'{how}' takes one value, not {len(values)}"):
            filtered("sales", how, values)

    def test_a_comparison_without_a_value_is_refused(self):
        with pytest.raises(ValueError, match="filter of 'sales' has no value to compare with"):
            filtered("sales", ">")


class TestOrder:
    def test_sorting_puts_numbers_before_texts_and_what_is_empty_last(self):
        rows = [{"a": one} for one in ["b", None, 10, "9", "A", "", 9]]

        def order(descending):
            done = analyse(rows, {"op": "sort", "by": "a", "descending": descending})
            return [row["a"] for row in done.rows]

        assert order(False) == ["9", 9, 10, "A", "b", None, ""]
        assert order(True) == ["b", "A", 10, "9", 9, None, ""]

    def test_sorting_by_several_columns(self):
        assert sales({"op": "sort", "by": ["product", "region"]}) == [
            ("EU", "A", 120),
            ("US", "A", "1,080.5"),
            ("EU", "B", None),
            ("eu", "B", 95),
        ]

    def test_top_and_bottom_leave_out_what_has_no_number(self):
        assert sales({"op": "top", "n": 2, "by": "sales"}) == [
            ("US", "A", "1,080.5"),
            ("EU", "A", 120),
        ]
        assert sales({"op": "bottom", "n": 9, "by": "sales"}) == [
            ("eu", "B", 95),
            ("EU", "A", 120),
            ("US", "A", "1,080.5"),
        ]

    def test_the_top_of_texts_is_refused(self):
        with pytest.raises(ValueError, match="'region' has 'EU' in it, which is no number"):
            sales({"op": "top", "n": 1, "by": "region"})

    def test_limit_and_select(self):
        assert sales({"op": "limit", "n": 1}) == [("EU", "A", 120)]
        assert sales(
            {"op": "select", "columns": ["sales", "region", "sales"]}, {"op": "limit", "n": 1}
        ) == [(120, "EU")]
        assert sales({"op": "select", "columns": "region"})[0] == ("EU",)


class TestGroup:
    def test_one_row_for_each_group_in_the_order_of_appearance(self):
        done = analyse(
            SALES,
            {
                "op": "group",
                "by": "product",
                "aggregate": {"sales": ["sum", "mean"], "region": "first", "*": "count"},
            },
        )

        assert done.columns == ("product", "sales_sum", "sales_mean", "region_first", "count")
        assert [tuple(row.values()) for row in done.rows] == [
            ("A", 1200.5, 600.25, "EU", 2),
            ("B", 95, 95, "EU", 2),
        ]

    def test_without_columns_everything_is_one_group(self):
        aggregate = {"sales": [*Aggregate], "*": ["count"]}
        assert sales({"op": "group", "aggregate": aggregate}) == [
            (1295.5, 431.833333333333, 120, 95, 1080.5, 561.900866108367, 3, 120, 95, 4)
        ]

    def test_of_no_rows_there_is_no_group_but_still_a_total(self):
        nobody = {"op": "filter", "column": "region", "is": "==", "value": "CN"}
        aggregate = {"sales": ["sum", "mean", "std", "median", "max", "last"], "*": "count"}

        assert sales(nobody, {"op": "group", "by": "region", "aggregate": aggregate}) == []
        assert sales(nobody, {"op": "group", "aggregate": aggregate}) == [
            (0, None, None, None, None, None, 0)
        ]

    def test_truth_and_one_are_two_groups_and_one_and_one_point_zero_are_one(self):
        rows = [{"a": True}, {"a": 1}, {"a": 1.0}, {"a": None}]
        done = analyse(rows, {"op": "group", "by": ["a"], "aggregate": {"*": "count"}})
        assert [row["count"] for row in done.rows] == [1, 2, 1]

    def test_sums_are_exact(self):
        assert aggregated(Aggregate.SUM, [0.1] * 10, column="a") == 1
        assert aggregated(Aggregate.SUM, [2**80, 1], column="a") == 2**80 + 1
        assert aggregated(Aggregate.MEAN, [0.1, 0.2], column="a") == 0.15

    @pytest.mark.parametrize("kind", [*Aggregate])
    def test_what_comes_of_the_largest_numbers_is_finite(self, kind):
        result = aggregated(kind, [MAX_NUMBER, -MAX_NUMBER, MAX_NUMBER], column="a")

        assert isfinite(result)

    def test_least_and_greatest_of_texts_are_by_their_letters(self):
        dates = ["2024-02-01", "", "2024-01-31"]
        assert aggregated(Aggregate.MIN, dates, column="a") == "2024-01-31"
        assert aggregated(Aggregate.MAX, dates, column="a") == "2024-02-01"
        assert aggregated(Aggregate.MIN, [], column="a") is None

    @pytest.mark.parametrize("kind", ["sum", "mean", "median", "std", "max"])
    def test_numbers_cannot_be_made_of_other_text(self, kind):
        with pytest.raises(
            ValueError, match=r"'a' has 'x' in it, which is no number\. Filter such"
        ):
            aggregated(kind, [1, "x"], column="a")

    def test_rows_can_only_be_counted(self):
        with pytest.raises(ValueError, match="Rows can only be counted"):
            sales({"op": "group", "aggregate": {"*": ["count", "sum"]}})

    def test_there_are_not_more_results_than_anybody_reads(self):
        rows = [{str(n): 1 for n in range(6)}]
        aggregate = {str(n): [*Aggregate] for n in range(6)}
        with pytest.raises(ValueError, match="at most 50 aggregates"):
            analyse(rows, {"op": "group", "aggregate": aggregate})

    def test_only_numbers_are_numbers(self):
        assert numbers([1, None, "2%", ""], column="a") == [1, 0.02]


class TestDerive:
    @pytest.mark.parametrize(
        ("left", "sign", "right", "result"),
        [
            ("a", "+", "b", 12),
            ("a", "-", 2.5, 7.5),
            ("b", "*", 0.1, 0.2),
            ("a", "/", "b", 5),
            (1, "/", "a", 0.1),
            ("a", "/", 0, None),
            ("a", "*", "none", None),
            ("a", "+", MAX_NUMBER * 10, None),
            ("a", "*", MAX_NUMBER, None),
            (MAX_NUMBER, "/", 1e-300, None),
        ],
    )
    def test_a_column_is_worked_out_of_two_others_or_numbers(self, left, sign, right, result):
        step = {"op": "derive", "column": "c", "left": left, "operator": sign, "right": right}

        done = analyse([{"a": 10, "b": "2", "none": ""}], step)

        assert done.columns == ("a", "b", "none", "c")
        assert done.rows[0]["c"] == result

    def test_it_may_take_the_place_of_a_column(self):
        step = {"op": "derive", "column": "a", "left": "a", "operator": "*", "right": 2}
        assert analyse([{"a": 1}], step) == Table(("a",), ({"a": 2},))

    def test_text_is_no_number(self):
        with pytest.raises(ValueError, match="which is no number"):
            step = {"op": "derive", "column": "c", "left": "region", "operator": "+", "right": 1}
            sales(step)


class TestOperations:
    def test_a_single_one_needs_no_list(self):
        assert analyse(SALES, {"op": "limit", "n": 1}).rows == (SALES[0],)

    def test_they_follow_each_other_and_leave_what_was_sent_alone(self):
        before = json.dumps(SALES)
        done = sales(
            {"op": "filter", "column": "sales", "is": "filled"},
            {"op": "group", "by": ["region"], "aggregate": {"sales": "sum"}},
            {"op": "sort", "by": ["sales_sum"], "descending": True},
            {"op": "limit", "n": 2},
        )

        assert done == [("US", 1080.5), ("EU", 120)]
        assert json.dumps(SALES) == before

    def test_columns_are_known_even_if_no_row_is_left(self):
        nobody = {"op": "filter", "column": "region", "is": "==", "value": "CN"}
        assert analyse(SALES, [nobody, {"op": "select", "columns": ["sales"]}]) == Table(
            ("sales",), ()
        )

    @pytest.mark.parametrize(
        "operation",
        [
            {"op": "filter", "column": "x", "is": "empty"},
            {"op": "select", "columns": ["region", "x"]},
            {"op": "sort", "by": "x"},
            {"op": "top", "n": 1, "by": "x"},
            {"op": "group", "by": "x", "aggregate": {"*": "count"}},
            {"op": "group", "by": "region", "aggregate": {"x": "sum"}},
            {"op": "derive", "column": "c", "left": "x", "operator": "+", "right": 1},
        ],
    )
    def test_an_unknown_column_is_answered_with_those_there_are(self, operation):
        with pytest.raises(
            ValueError, match=r"no column 'x'\. The columns are: region, product, sales"
        ):
            sales(operation)

    @pytest.mark.parametrize(
        ("operations", "sentence"),
        [
            (None, "The operations are no list of objects"),
            ("top", "The operations are no list of objects"),
            (5, "The operations are no list of objects"),
            ([1], "Operation 1: it has to be an object whose op is one of filter, select"),
            ({}, "Operation 1: it has to be an object whose op"),
            ([{"op": "limit", "n": 1}, {"op": "drop"}], "Operation 2: it has to be an object"),
            ({"op": "filter"}, "Operation 1: filter: column: Field required"),
            ({"op": "filter", "column": "a", "is": "~"}, "filter: is: Input should be '=='"),
            ({"op": "limit", "n": 0}, "limit: n: Input should be greater than or equal to 1"),
            ({"op": "limit", "n": -1}, "limit: n: Input should be greater"),
            ({"op": "limit", "n": MAX_ROWS + 1}, "limit: n: Input should be less"),
            ({"op": "limit", "n": 1, "by": "a"}, "limit: by: Extra inputs are not permitted"),
            ({"op": "select", "columns": []}, "select: columns: Value should have at least 1"),
            ({"op": "sort", "by": ["a"] * 11}, "sort: by: Value should have at most 10 items"),
            (
                {"op": "filter", "column": "a", "is": "in", "value": [1] * 1001},
                "filter: value: it is a text, a number or a list of at most 1,000",
            ),
            ({"op": "group", "aggregate": {}}, "group: aggregate: Dictionary should have"),
            ({"op": "group", "aggregate": {"a": "avg"}}, "aggregate: a: 0: Input should be 'sum'"),
            ([{"op": "limit", "n": 1}] * (MAX_OPERATIONS + 1), "13 operations; at most 12"),
        ],
    )
    def test_what_is_no_operation_is_refused_in_words(self, operations, sentence):
        with pytest.raises(ValueError, match=sentence):
            analyse(SALES, operations)


class TestTelling:
    def test_a_table_is_told_row_by_row(self):
        assert describe_table(analyse(SALES, {"op": "limit", "n": 2})) == (
            "2 rows with the columns: region, product, sales.\n"
            '{"region": "EU", "product": "A", "sales": 120}\n'
            '{"region": "US", "product": "A", "sales": "1,080.5"}'
        )

    def test_an_empty_one_is_told_as_such(self):
        assert describe_table(Table(("a", "b"), ())) == "No row is left. The columns are: a, b."

    def test_what_is_left_out_is_said(self):
        rows = tuple({"n": n} for n in range(MAX_SHOWN_ROWS + 1))
        first, *lines = describe_table(Table(("n",), rows)).splitlines()

        assert first == (
            "1,001 rows with the columns: n. Only the first 100 are listed here: do not count or"
            " add them up. For the others use group, top, filter or select."
            " The user sees the first 1,000."
        )
        assert lines == [f'{{"n": {n}}}' for n in range(MAX_DESCRIBED_ROWS)]

    def test_long_cells_are_shortened_and_wide_rows_left_out(self):
        long = {f"c{n}": "x" * 1000 for n in range(10)}
        text = describe_table(Table(tuple(long), (long,) * 10))

        assert len(text) < MAX_DESCRIBED_CHARACTERS + 1000
        assert text.count("\n") == MAX_DESCRIBED_CHARACTERS // (10 * MAX_CELL_CHARACTERS + 150) == 3
        assert f'"{"x" * MAX_CELL_CHARACTERS}…"' in text


CELLS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
ROWS = st.lists(st.dictionaries(st.sampled_from("abc"), CELLS, min_size=1), min_size=1, max_size=12)
SIZES = st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=20)
STEPS = st.fixed_dictionaries(
    {"op": st.sampled_from(["filter", "select", "sort", "top", "limit", "group", "derive", "x"])},
    optional={
        "column": st.sampled_from("abcd"),
        "is": st.sampled_from(["==", "!=", ">", "<=", "contains", "in", "empty"]),
        "value": CELLS | st.lists(CELLS, max_size=2),
        "columns": st.lists(st.sampled_from("abcd"), max_size=3),
        "by": st.sampled_from("abcd") | st.lists(st.sampled_from("abc"), max_size=2),
        "n": st.integers(-1, 5),
        "aggregate": st.dictionaries(
            st.sampled_from("abc*"), st.sampled_from([*Aggregate]).map(str), max_size=2
        ),
        "left": st.sampled_from("ab") | st.integers(),
        "operator": st.sampled_from("+-*/"),
        "right": st.sampled_from("ab") | st.floats(),
    },
)


@given(SIZES, st.integers(1, 25))
def test_the_top_are_the_first_of_the_sorted(sizes, n):
    rows = [{"n": size} for size in sizes]

    top = analyse(rows, {"op": "top", "n": n, "by": "n"})

    assert [row["n"] for row in top.rows] == sorted(sizes, reverse=True)[:n]


@given(ROWS | st.text(max_size=80) | st.text('ab,;"\n\t{}[]1:', max_size=40), st.lists(STEPS))
def test_whatever_is_sent_gives_a_table_of_strict_json_or_a_sentence(rows, steps):
    try:
        table = analyse(rows, steps)
    except ValueError as error:
        assert str(error).endswith((".", "}."))
    else:
        assert all(tuple(row) == table.columns for row in table.rows)
        json.dumps(table.rows, allow_nan=False)
        assert describe_table(table)
