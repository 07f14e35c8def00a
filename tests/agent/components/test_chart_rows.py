"""Rows made ready for a chart."""

import doctest

import pytest

from copilot_admin.agent.components import chart_rows as module
from copilot_admin.agent.components.chart_rows import MAX_POINTS, ChartRows, chart_rows
from copilot_admin.agent.tools.artifacts import MAX_SERIES, ChartType

SALES = [
    {"quarter": "Q1", "sales": "1,200", "costs": 80, "note": "x"},
    {"quarter": "Q2", "sales": None, "costs": -5},
    {"quarter": "", "sales": 3, "costs": 3},
    {"quarter": "Q4", "sales": "n/a", "costs": ""},
]


def test_the_examples_of_its_docstrings_are_true():
    assert doctest.testmod(module)[:] == (0, 1)


def test_only_what_is_drawn_is_kept_and_numbers_are_numbers():
    assert chart_rows(SALES, type="line", x="quarter", y=["sales", "costs", "sales"]) == ChartRows(
        ChartType.LINE,
        "quarter",
        ("sales", "costs"),
        (
            {"quarter": "Q1", "sales": 1200, "costs": 80},
            {"quarter": "Q2", "sales": None, "costs": -5},
        ),
        left_out=2,
    )


@pytest.mark.parametrize("type", [*ChartType])
def test_every_type_can_be_drawn(type):
    drawn = chart_rows("q,n\n1,5\n2,7", type=type.value, x="q", y="n")

    assert drawn == ChartRows(type, "q", ("n",), ({"q": 1, "n": 5}, {"q": 2, "n": 7}))
    assert drawn.in_words == f"The user now sees a {type} chart of n by q with 2 points."


@pytest.mark.parametrize(
    ("left_out", "sentence"),
    [(0, ""), (1, " 1 row had nothing to draw."), (1200, " 1,200 rows had nothing to draw.")],
)
def test_rows_left_out_are_told(left_out, sentence):
    drawn = ChartRows(ChartType.BAR, "q", ("a", "b"), ({"q": 1, "a": 1, "b": 2},), left_out)

    assert drawn.in_words == f"The user now sees a bar chart of a, b by q with 1 point.{sentence}"


def test_a_column_may_be_drawn_by_itself():
    rows = chart_rows([{"n": "5%"}], type="scatter", x="n", y="n").rows

    assert rows == ({"n": 0.05},)


def test_the_numbers_on_x_of_a_scatter_chart_may_be_written_as_text():
    rows = [{"x": "1,000", "y": 1}, {"x": "n/a", "y": 2}, {"x": 2, "y": 3}]

    drawn = chart_rows(rows, type="scatter", x="x", y="y")

    assert (drawn.rows, drawn.left_out) == (({"x": 1000, "y": 1}, {"x": 2, "y": 3}), 1)


def test_parts_of_a_whole_may_be_zero():
    rows = [{"q": 1, "n": 0}, {"q": 2, "n": 1}]

    assert chart_rows(rows, type="pie", x="q", y="n").rows == tuple(rows)


@pytest.mark.parametrize(
    ("rows", "changes", "sentence"),
    [
        (SALES, {"type": "radar"}, "no chart 'radar'. Take one of line, bar, scatter, pie, donut"),
        (SALES, {"type": None}, "There is no chart None"),
        (SALES, {"x": "day"}, "no column 'day'. The columns are: quarter, sales, costs, note"),
        (SALES, {"y": ["sales", "tax"]}, "There is no column 'tax'"),
        (SALES, {"y": []}, "y names from 1 to 20 columns, not 0"),
        (SALES, {"y": None}, "y names from 1 to 20 columns, not 0"),
        (SALES, {"y": [f"c{n}" for n in range(MAX_SERIES + 1)]}, "not 21"),
        (SALES, {"y": "note"}, "'note' has 'x' in it, which is no number"),
        (
            SALES,
            {"type": "scatter"},
            "'quarter' has text in it; x of a scatter chart takes numbers",
        ),
        (SALES, {"type": "pie", "y": ["sales", "costs"]}, "exactly one column in y, not 2"),
        (SALES, {"type": "donut", "y": "costs"}, "no negative numbers and not only zeros"),
        ([{"quarter": 1, "sales": 0}], {"type": "pie"}, "not only zeros. Take a bar chart"),
        ([{"quarter": 1, "sales": None}], {}, "'sales' has no numbers, so there is nothing"),
        ([{"quarter": None, "sales": 1}], {}, "No row has a value in both 'quarter' and sales"),
        ([{"quarter": 1, "sales": 1}] * (MAX_POINTS + 1), {}, "5,001 points; at most 5,000"),
        ([], {}, "There are no rows with values"),
        (None, {}, "The rows are no table"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(rows, changes, sentence):
    wanted = {"type": "line", "x": "quarter", "y": ["sales"]} | changes

    with pytest.raises(ValueError, match=sentence):
        chart_rows(rows, **wanted)


def test_as_many_points_as_are_allowed_are_drawn():
    rows = [{"q": 1, "n": 1}] * MAX_POINTS

    assert len(chart_rows(rows, type="line", x="q", y="n").rows) == MAX_POINTS
