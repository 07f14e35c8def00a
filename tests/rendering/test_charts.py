"""Charts are drawn as geometry."""

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
