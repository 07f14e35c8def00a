"""Charts are drawn as geometry."""

from math import isfinite
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.rendering.chart_plot import MAX_SERIES, parse_number, round_ticks
from copilot_admin.rendering.charts import MAX_POINTS, MAX_SLICES, chart_of
from copilot_admin.rendering.svg import WIDTH, DrawnChart, LegendEntry, ShapeKind, line_path

ROWS = [{"day": f"d{n}", "close": 10.0 + n, "volume": n * 100} for n in range(5)]


def draw(kind: str, rows: Any = ROWS, *y: str, x: str = "day", **options: Any) -> DrawnChart:
    params: dict[str, Any] = {"chartType": kind, "xKey": x, "yKey": list(y or ("close",))}
    params |= {"angleKey": "volume", "calloutLabelKey": "day"}
    chart = chart_of(params, rows, **options)
    assert chart is not None
    return chart


def labels(ticks: Any) -> list[str]:
    return [tick.label for tick in ticks]


def test_a_line_is_drawn_for_each_series_with_its_points():
    chart = draw("line", ROWS, "close", "volume")
    line = [ShapeKind.LINE, *[ShapeKind.DOT] * 5]
    assert [shape.kind for shape in chart.shapes] == [*line, *line]
    assert [(one.label, one.colour) for one in chart.legend] == [("close", 1), ("volume", 2)]
    assert chart.shapes[2].label == "d1, close: 11"
    assert labels(chart.x_ticks) == ["d0", "d1", "d2", "d3", "d4"]
    assert labels(chart.y_ticks) == ["0", "100", "200", "300", "400"]
    assert chart.drawn_columns == ("day", "close", "volume")


def test_a_gap_interrupts_a_line():
    rows = [{"day": "a", "close": 1}, {"day": "b", "close": None}, {"day": "c", "close": 2}]
    assert draw("line", rows).shapes[0].path.count("M") == 2
    assert line_path([None, (1, 2), (3, 4), None]) == "M1.0 2.0L3.0 4.0"


def test_many_points_and_series_are_thinned_and_a_note_says_so():
    chart = draw("line", [{"day": n, "close": n} for n in range(MAX_POINTS * 3)])
    assert chart.note == "One row in 3 is drawn; there are 1200."
    assert chart.shapes[0].path.count("L") == MAX_POINTS - 1
    assert len(chart.shapes) == 1
    keys = [f"s{n}" for n in range(MAX_SERIES + 3)]
    chart = draw("line", [dict.fromkeys(keys, 1) | {"day": "a"}], *keys)
    assert len(chart.legend) == MAX_SERIES
    assert chart.note == f"{MAX_SERIES} of {len(keys)} series are drawn."
    assert chart.legend[8].colour == 1


def test_bars_stand_on_zero_also_below_it():
    chart = draw("bar", [{"day": "a", "close": 5}, {"day": "b", "close": -5}])
    assert all(f" {chart.baseline:.1f}h" in shape.path for shape in chart.shapes)
    tops = [float(re.search(r"V([\d.]+)", shape.path)[1]) for shape in chart.shapes]
    assert tops[0] < chart.baseline < tops[1]


def test_a_line_can_start_at_zero():
    chart = draw("line", [{"day": "a", "close": 90}, {"day": "b", "close": 100}], from_zero=True)
    assert labels(chart.y_ticks) == ["0", "20", "40", "60", "80", "100"]


def test_points_lie_on_a_number_line_if_x_is_a_number():
    chart = draw("scatter", [{"x": 1, "y": 1}, {"x": "10", "y": 2}, {"x": 100, "y": 3}], "y", x="x")
    places = [float(re.match(r"M([\d.]+)", shape.path)[1]) for shape in chart.shapes]
    assert (places[2] - places[1]) / (places[1] - places[0]) == pytest.approx(10, rel=0.02)
    assert chart.x_ticks[0].label == "0"
    assert labels(draw("scatter").x_ticks) == ["d0", "d1", "d2", "d3", "d4"]


def test_a_pie_has_shares_and_a_donut_a_hole():
    rows = [{"day": "a", "volume": 1}, {"day": None, "volume": 3}, {"day": "c", "volume": "x"}]
    pie, donut = draw("pie", rows), draw("donut", rows)
    assert [shape.label for shape in pie.shapes] == ["a: 1 (25.0%)", "?: 3 (75.0%)"]
    assert (pie.frame, pie.note) == (None, "1 of 3 rows have no positive value.")
    assert [chart.shapes[0].path.count("A") for chart in (pie, donut)] == [1, 2]
    many = draw("pie", [{"day": f"d{n}", "volume": n} for n in range(1, 13)])
    assert len(many.shapes) == MAX_SLICES + 1
    assert many.legend[-1] == LegendEntry(label="4 others: 10 (12.8%)", colour=0)


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
    assert chart_of(params, ROWS) is None


def test_a_single_y_key_may_be_a_text():
    chart = chart_of({"chartType": "line", "yKey": "close"}, ROWS)
    assert chart is not None and chart.legend == (LegendEntry(label="close", colour=1),)


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
    chart = chart_of(params | {"angleKey": "volume", "calloutLabelKey": "day"}, rows)
    for shape in chart.shapes if chart else ():
        numbers = map(float, re.findall(r"-?\d+(?:\.\d+)?", shape.path))
        assert all(isfinite(one) and abs(one) <= WIDTH + 1 for one in numbers), shape.path
    for tick in (*chart.x_ticks, *chart.y_ticks) if chart else ():
        assert -1 <= tick.at <= WIDTH + 1


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
        (3, 3, [2.6, 2.8, 3.0, 3.2, 3.4]),
        (0, 0, [-1, -0.5, 0, 0.5, 1]),
    ],
)
def test_ticks_are_round_and_enclose_the_values(low: float, high: float, ticks: list[float]):
    assert round_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("counts", "ticks"),
    [
        ([0, 1, 1], ["0", "1"]),
        ([0, 0], ["0", "1"]),
        ([11, 3], ["0", "3", "6", "9", "12"]),
        ([7], ["0", "2", "4", "6", "8"]),
        ([0.5, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    ],
)
def test_counts_have_no_fractions(counts: list[float], ticks: list[str]):
    chart = draw("bar", [{"day": str(count), "close": count} for count in counts])
    assert labels(chart.y_ticks) == ticks


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), ("2.5", 2.5), *((one, None) for one in (True, "x", None, "nan", 10**400))],
)
def test_numbers_may_be_texts(value: Any, number: float | None):
    assert parse_number(value) == number


def test_a_shape_is_one_element_whose_texts_stay_text():
    chart = draw("bar", [{"a": "</title><script>alert(1)</script>", "b": 3}], "b", x="a")
    (shape,) = chart.shapes
    assert chart.drawn == (
        f'<path class="ca-bar ca-colour-1" d="{shape.path}">'
        "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;, b: 3</title></path>"
    )
