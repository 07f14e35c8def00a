"""Charts as geometry, rows as tables, and values as text."""

import csv
from io import StringIO
from math import isfinite
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.rendering.chart_plot import MAX_SERIES
from copilot_admin.rendering.charts import (
    COLOURS,
    MAX_POINTS,
    MAX_SLICES,
    DrawnChart,
    LegendEntry,
    draw_chart,
    line_path,
)
from copilot_admin.rendering.tables import (
    MAX_COLUMNS,
    DrawnCell,
    are_rows,
    build_table,
    escape_formula,
    format_csv,
)
from copilot_admin.rendering.text import cell_text, duration, number_text, pretty_json, shortened

ROWS = [{"day": f"d{n}", "close": 10.0 + n, "volume": n * 100} for n in range(5)]


def draw(kind: str, rows: Any = ROWS, *y: str, x: str = "day") -> DrawnChart:
    params: dict[str, Any] = {"chartType": kind, "xKey": x, "yKey": list(y or ("close",))}
    params |= {"angleKey": "volume", "calloutLabelKey": "day"}
    chart = draw_chart(params, rows)
    assert chart is not None
    return chart


def texts(labels: Any) -> list[str]:
    return [label.text for label in labels]


def test_a_line_is_drawn_for_each_series_with_its_points():
    chart = draw("line", ROWS, "close", "volume")
    line = ["line", *["dot"] * 5]
    assert [shape.kind for shape in chart.shapes] == [*line, *line]
    assert [(one.label, one.colour) for one in chart.legend] == [("close", 1), ("volume", 2)]
    assert chart.shapes[2].label == "d1, close: 11"
    assert texts(chart.x_labels) == ["d0", "d1", "d2", "d3", "d4"]
    assert list(reversed(chart.y_labels)) == ["0", "100", "200", "300", "400"]
    assert chart.drawn_columns == ("day", "close", "volume")


def test_a_gap_interrupts_a_line():
    rows = [{"day": "a", "close": 1}, {"day": "b", "close": None}, {"day": "c", "close": 2}]
    assert draw("line", rows).shapes[0].path.count("M") == 2
    assert line_path([None, (1, 2), (3, 4), None]) == "M1.00 2.00L3.00 4.00"


def test_many_points_and_series_are_thinned_and_a_note_says_so():
    chart = draw("line", [{"day": n, "close": n} for n in range(MAX_POINTS * 3)])
    assert "1200" in chart.note
    assert chart.shapes[0].path.count("L") == MAX_POINTS - 1
    assert len(chart.shapes) == 1
    keys = [f"s{n}" for n in range(MAX_SERIES + 3)]
    chart = draw("line", [dict.fromkeys(keys, 1) | {"day": "a"}], *keys)
    assert len(chart.legend) == MAX_SERIES
    assert str(MAX_SERIES) in chart.note
    assert chart.legend[COLOURS].colour == 1


def test_bars_stand_on_zero_also_below_it():
    chart = draw("bar", [{"day": "a", "close": 5}, {"day": "b", "close": -5}])
    assert all(f" {chart.zero:.2f}h" in shape.path for shape in chart.shapes)
    tops = [float(re.search(r"V([\d.]+)", shape.path)[1]) for shape in chart.shapes]
    assert tops[0] < chart.zero < tops[1]


def test_points_lie_on_a_number_line_if_x_is_a_number():
    chart = draw("scatter", [{"x": 1, "y": 1}, {"x": "10", "y": 2}, {"x": 100, "y": 3}], "y", x="x")
    places = [float(re.match(r"M([\d.]+)", shape.path)[1]) for shape in chart.shapes]
    assert (places[2] - places[1]) / (places[1] - places[0]) == pytest.approx(10, rel=0.02)
    assert chart.x_labels[0].text == "0"
    assert texts(draw("scatter").x_labels) == ["d0", "d1", "d2", "d3", "d4"]


def test_a_pie_has_shares_and_a_donut_a_hole():
    rows = [{"day": "a", "volume": 1}, {"day": None, "volume": 3}, {"day": "c", "volume": "x"}]
    pie, donut = draw("pie", rows), draw("donut", rows)
    assert [shape.label for shape in pie.shapes] == ["a: 1 (25.0%)", "?: 3 (75.0%)"]
    assert pie.is_round and "1 of 3" in pie.note
    assert [chart.shapes[0].path.count("A") for chart in (pie, donut)] == [1, 2]
    many = draw("pie", [{"day": f"d{n}", "volume": n} for n in range(1, 13)])
    assert len(many.shapes) == MAX_SLICES + 1
    assert many.legend[-1] == LegendEntry(label="7 others: 28 (35.9%)", colour=COLOURS)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"chartType": "radar", "xKey": "day", "yKey": ["close"]},
        {"chartType": ["line"], "xKey": "day", "yKey": ["close"]},
        {"chartType": "line", "xKey": "day"},
        {"chartType": "line", "xKey": "day", "yKey": 5},
        {"chartType": "line", "xKey": "day", "yKey": ["day"]},
        {"chartType": "bar", "xKey": "day", "yKey": ["nothing"]},
        {"chartType": "scatter", "xKey": "day", "yKey": ["nothing"]},
        {"chartType": "pie", "angleKey": 3, "calloutLabelKey": None},
    ],
)
def test_parameters_that_name_no_numbers_give_no_chart(params: Any):
    assert draw_chart(params, ROWS) is None


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=5),
    st.just("1e999"),
    st.lists(st.integers(), max_size=2),
)


@given(
    kind=st.sampled_from(["line", "bar", "scatter", "pie", "donut"]),
    rows=st.lists(
        st.fixed_dictionaries({}, optional={"day": VALUES, "volume": VALUES, "close": VALUES}),
        max_size=6,
    ),
)
def test_every_shape_stays_in_the_picture(kind: str, rows: Any):
    params = {"chartType": kind, "xKey": "day", "yKey": ["volume", "close"]}
    chart = draw_chart(params | {"angleKey": "volume", "calloutLabelKey": "day"}, rows)
    for shape in chart.shapes if chart else ():
        numbers = map(float, re.findall(r"-?\d+(?:\.\d+)?", shape.path))
        assert all(isfinite(one) and abs(one) <= 101 for one in numbers), shape.path
    for label in chart.x_labels if chart else ():
        assert 0 <= label.at <= 100


@pytest.mark.parametrize(
    ("kind", "numbers", "ticks"),
    [
        ("line", [0, 10], ["0", "2", "4", "6", "8", "10"]),
        ("line", [-1.0, 1.5], ["-1", "-0.5", "0", "0.5", "1", "1.5"]),
        ("bar", [0, 1, 1], ["0", "1"]),  # counts have no fractions
        ("bar", [0, 0], ["0", "1"]),
        ("bar", [11, 3], ["0", "3", "6", "9", "12"]),
        ("bar", [7], ["0", "2", "4", "6", "8"]),
    ],
)
def test_ticks_are_round_and_enclose_the_values(kind: str, numbers: Any, ticks: list[str]):
    chart = draw(kind, [{"day": str(number), "close": number} for number in numbers])
    assert list(reversed(chart.y_labels)) == ticks


def test_a_shape_is_one_element_whose_texts_stay_text():
    chart = draw("bar", [{"a": "</title><script>alert(1)</script>", "b": 3}], "b", x="a")
    (shape,) = chart.shapes
    assert chart.svg.splitlines()[1] == (
        f'<path class="ca-chart__bar ca-s1" d="{shape.path}">'
        "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;, b: 3</title></path>"
    )


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
