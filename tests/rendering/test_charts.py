"""Charts are drawn as geometry."""

from math import isfinite
import re

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.rendering.chart_plot import MAX_SERIES, parse_number, round_ticks
from copilot_admin.rendering.charts import MAX_POINTS, MAX_SLICES, chart_of
from copilot_admin.rendering.svg import (
    WIDTH,
    DrawnChart,
    LegendEntry,
    ShapeKind,
    line_path,
)

ROWS = [{"day": f"d{n}", "close": 10.0 + n, "volume": n * 100} for n in range(5)]


def drawn(kind: str, rows=ROWS, *y: str, x: str = "day") -> DrawnChart:
    chart = chart_of({"chartType": kind, "xKey": x, "yKey": list(y or ("close",))}, rows)
    assert chart is not None
    return chart


def ring(kind: str, rows) -> DrawnChart | None:
    params = {"chartType": kind, "angleKey": "volume", "calloutLabelKey": "day"}
    return chart_of(params, rows)


def test_a_line_is_drawn_for_each_series_with_its_points():
    chart = drawn("line", ROWS, "close", "volume")
    assert [shape.kind for shape in chart.shapes] == [
        ShapeKind.LINE, *[ShapeKind.DOT] * 5, ShapeKind.LINE, *[ShapeKind.DOT] * 5
    ]  # fmt: skip
    assert chart.legend == (
        LegendEntry(label="close", colour=1),
        LegendEntry(label="volume", colour=2),
    )
    assert chart.shapes[2].label == "d1, close: 11"
    assert [tick.label for tick in chart.x_ticks] == ["d0", "d1", "d2", "d3", "d4"]
    assert [tick.label for tick in chart.y_ticks] == ["0", "100", "200", "300", "400"]
    assert chart.drawn_columns == ("day", "close", "volume")


def test_a_gap_interrupts_a_line():
    rows = [{"day": "a", "close": 1}, {"day": "b", "close": None}, {"day": "c", "close": 2}]
    assert drawn("line", rows).shapes[0].path.count("M") == 2
    assert line_path([None, (1, 2), (3, 4), None]) == "M1.0 2.0L3.0 4.0"


def test_many_points_are_thinned_and_it_is_said():
    chart = drawn("line", [{"day": n, "close": n} for n in range(MAX_POINTS * 3)])
    assert chart.note == "One row in 3 is drawn; there are 1200."
    assert chart.shapes[0].path.count("L") == MAX_POINTS - 1
    assert len(chart.shapes) == 1


def test_many_series_are_cut_and_it_is_said():
    keys = [f"s{n}" for n in range(MAX_SERIES + 3)]
    chart = drawn("line", [dict.fromkeys(keys, 1) | {"day": "a"}], *keys)
    assert len(chart.legend) == MAX_SERIES
    assert chart.note == f"{MAX_SERIES} of {len(keys)} series are drawn."
    assert chart.legend[8].colour == 1


def test_bars_stand_on_zero_also_below_it():
    chart = drawn("bar", [{"day": "a", "close": 5}, {"day": "b", "close": -5}])
    zero = f"{chart.baseline:.1f}"
    assert all(f" {zero}h" in shape.path for shape in chart.shapes)
    tops = [float(re.search(r"V([\d.]+)", shape.path)[1]) for shape in chart.shapes]
    assert tops[0] < chart.baseline < tops[1]


def test_a_line_can_be_wanted_from_zero():
    params = {"chartType": "line", "xKey": "day", "yKey": ["close"]}
    chart = chart_of(
        params, [{"day": "a", "close": 90}, {"day": "b", "close": 100}], from_zero=True
    )
    assert [tick.label for tick in chart.y_ticks] == ["0", "20", "40", "60", "80", "100"]
    assert chart.baseline is not None


def test_points_go_along_a_number_line_when_x_is_a_number():
    rows = [{"x": 1, "y": 1}, {"x": "10", "y": 2}, {"x": 100, "y": 3}]
    chart = drawn("scatter", rows, "y", x="x")
    places = [float(re.match(r"M([\d.]+)", shape.path)[1]) for shape in chart.shapes]
    assert (places[2] - places[1]) / (places[1] - places[0]) == pytest.approx(10, rel=0.02)
    assert chart.x_ticks[0].label == "0"


def test_points_stand_side_by_side_when_x_is_a_name():
    chart = drawn("scatter")
    assert [tick.label for tick in chart.x_ticks] == ["d0", "d1", "d2", "d3", "d4"]


def test_a_single_point_has_an_axis_around_it():
    chart = drawn("line", [{"day": "a", "close": 7}])
    assert chart.y_ticks[0].label < "7" < chart.y_ticks[-1].label


def test_a_pie_says_shares():
    chart = ring("pie", [{"day": "a", "volume": 1}, {"day": "b", "volume": 3}])
    assert [shape.label for shape in chart.shapes] == ["a: 1 (25.0%)", "b: 3 (75.0%)"]
    assert chart.frame is None
    assert chart.note == ""


def test_a_ring_has_a_hole():
    pie, donut = (ring(kind, [{"day": "a", "volume": 1}]) for kind in ("pie", "donut"))
    assert donut.shapes[0].path.count("A") == 2
    assert pie.shapes[0].path.count("A") == 1


def test_small_slices_become_one():
    chart = ring("pie", [{"day": f"d{n}", "volume": n} for n in range(1, 13)])
    assert len(chart.shapes) == MAX_SLICES + 1
    assert chart.legend[-1] == LegendEntry(label="4 others: 10 (12.8%)", colour=0)


def test_what_has_no_share_is_left_out_and_it_is_said():
    rows = [{"day": None, "volume": 2}, {"day": "b", "volume": -3}, {"day": "c", "volume": "x"}]
    chart = ring("pie", rows)
    assert [shape.label for shape in chart.shapes] == ["?: 2 (100.0%)"]
    assert chart.note == "2 of 3 rows have no positive value."


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
def test_what_cannot_be_drawn_is_no_chart(params):
    assert chart_of(params, ROWS) is None


def test_a_single_y_key_may_stand_alone():
    params = {"chartType": "line", "yKey": "close"}
    assert chart_of(params, ROWS).legend == (LegendEntry(label="close", colour=1),)


def numbers_in(path: str) -> list[float]:
    return [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", path)]


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
def test_anything_that_is_drawn_stays_in_the_picture(kind, rows):
    params = {
        "chartType": kind,
        "xKey": "day",
        "yKey": ["volume", "close"],
        "angleKey": "volume",
        "calloutLabelKey": "day",
    }
    chart = chart_of(params, rows)
    for shape in chart.shapes if chart else ():
        numbers = numbers_in(shape.path)
        assert all(isfinite(one) and abs(one) <= WIDTH + 1 for one in numbers), shape.path
    for tick in (*chart.x_ticks, *chart.y_ticks) if chart else ():
        assert -1 <= tick.at <= WIDTH + 1


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
        (3, 3, [2.7, 2.8, 2.9, 3.0, 3.1, 3.2, 3.3]),
        (0, 0, [-1, -0.5, 0, 0.5, 1]),
    ],
)
def test_ticks_are_round_and_enclose_the_values(low, high, ticks):
    found = round_ticks(low, high)
    assert found[0] <= low
    assert found[-1] >= high
    assert len(found) <= 9
    if (low, high) != (3, 3):
        assert found == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("counts", "labels"),
    [
        ([0, 1, 1], ["0", "1"]),
        ([0, 0], ["0", "1"]),
        ([1, "2"], ["0", "1", "2"]),
        ([11, 3], ["0", "3", "6", "9", "12"]),
        ([7], ["0", "2", "4", "6", "8"]),
        ([0.5, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    ],
)
def test_beside_counts_there_are_no_fractions(counts, labels):
    chart = drawn("bar", [{"day": str(count), "close": count} for count in counts])
    assert [tick.label for tick in chart.y_ticks] == labels


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        ("2.5", 2.5),
        (True, None),
        ("x", None),
        (None, None),
        ("nan", None),
        (10**400, None),
    ],
)
def test_numbers_are_told_from_everything_else(value, number):
    assert parse_number(value) == number


def test_a_shape_is_one_element_whose_texts_stay_text():
    hostile = "</title><script>alert(1)</script>"
    chart = chart_of({"chartType": "bar", "xKey": "a", "yKey": ["b"]}, [{"a": hostile, "b": 3}])
    assert chart is not None
    (shape,) = chart.shapes
    assert chart.drawn == (
        f'<path class="ca-bar ca-colour-1" d="{shape.path}">'
        "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;, b: 3</title></path>"
    )
