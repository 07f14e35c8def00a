"""Charts drawn on the server."""

from django.template.loader import render_to_string
import pytest

from copilot_admin.admin.analytics.charts import Chart, ChartKind, Series, draw_chart


def draw(kind: ChartKind, *values: list[float | None], is_whole: bool = False) -> Chart:
    return draw_chart(
        kind,
        [f"d{place}" for place in range(len(values[0]))],
        [Series(f"s{place}", one) for place, one in enumerate(values)],
        label="Things",
        column="Day",
        format_value=lambda value: f"{value:g}",
        is_whole=is_whole,
    )


@pytest.mark.parametrize(
    ("highest", "is_whole", "axis"),
    [
        (0, True, "3 2 1 0"),
        (1, True, "3 2 1 0"),
        (7, True, "9 6 3 0"),
        (45, True, "45 30 15 0"),
        (300, True, "300 200 100 0"),
        (0.4, False, "0.45 0.3 0.15 0"),
        (1.6, False, "1.8 1.2 0.6 0"),
        (123456, True, "150000 100000 50000 0"),
    ],
)
def test_axis_has_round_steps(highest: float, is_whole: bool, axis: str) -> None:
    chart = draw(ChartKind.LINE, [highest], is_whole=is_whole)
    assert " ".join(chart.y_labels) == axis


def test_lines_leave_gaps_and_bars_stack() -> None:
    assert draw(ChartKind.LINE, [3, None, 3]).marks == [("ca-chart__line ca-s1", "M50 0h0M250 0h0")]
    area, line = draw(ChartKind.AREA, [0, 3]).marks
    assert area[1].endswith("V100Z")
    assert line[1] == "M75 100h0L225 0"
    first, second = draw(ChartKind.BARS, [2], [1]).marks
    assert first == ("ca-chart__bar ca-s1", "M51 100V33.3h198V100z")
    assert second == ("ca-chart__bar ca-s2", "M51 33.3V0h198V33.3z")


def test_chart_renders_its_words_escaped_and_without_styles() -> None:
    chart = draw_chart(
        ChartKind.LINE,
        ["<b>"],
        [Series("<i>", [None])],
        label="<u>",
        column="Day",
        format_value=str,
    )
    html = render_to_string("admin/includes/chart.html", {"chart": chart})
    assert not any(tag in html for tag in ("<b>", "<i>", "<u>", "style="))
    assert 'role="img"' in html
    assert "<table" in html
    assert chart.is_empty
