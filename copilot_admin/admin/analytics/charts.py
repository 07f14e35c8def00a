"""Charts drawn on the server: shapes in SVG, words in HTML, and no style attributes.

`admin/includes/chart.html` renders a `Chart` with its data table; `sparkline`, `spark_bars` and
`meter` return markup.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import pairwise
from math import floor, log10

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

WIDTH, HEIGHT = 300, 100  # of a plot
SPARK_WIDTH, SPARK_HEIGHT = 100, 28
N_STEPS = 3  # of the vertical axis
MAX_X_LABELS = 7
BAR_SHARE = 0.66  # of a slot
N_COLORS = 6
NONE = "–"  # noqa: RUF001  # a dash
STEPS = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)

Values = Sequence[float | None]


class ChartKind(StrEnum):
    LINE = "line"
    AREA = "area"
    BARS = "bars"  # stacked


@dataclass(frozen=True, slots=True)
class Series:
    """Values of a chart, one for each slot; None leaves a gap. `color` is a class like `ca-s1`."""

    label: str
    values: Values
    color: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    label: str  # accessible description
    column: str  # heading of the slots in the data table
    series: Sequence[Series]
    marks: Sequence[tuple[str, str]]  # classes and path of each shape
    y_labels: Sequence[str]  # from the top to zero
    x_labels: Sequence[str]  # one for each slot; most are empty
    rows: Sequence[tuple[str, Sequence[str]]]  # name and formatted values of each slot
    width: int = WIDTH
    height: int = HEIGHT
    grid: str = "".join(f"M0 {step * HEIGHT / N_STEPS:.1f}H{WIDTH}" for step in range(N_STEPS))

    @property
    def is_empty(self) -> bool:
        return not any(value for one in self.series for value in one.values)


def draw_chart(
    kind: ChartKind,
    slots: Sequence[str],
    series: Sequence[Series],
    *,
    label: str,
    column: str,
    format_value: Callable[[float], str],
    format_axis: Callable[[float, float], str] | None = None,
    short_slots: Sequence[str] | None = None,
    is_whole: bool = False,
) -> Chart:
    """Draw series over the slots of a horizontal axis, usually days.

    `slots` are full names for the data table, `short_slots` those of the axis. `format_axis` also
    gets the top of the axis. `is_whole` makes the labels of the axis whole numbers.
    """
    colored = [
        Series(one.label, one.values, one.color or f"ca-s{place % N_COLORS + 1}")
        for place, one in enumerate(series)
    ]
    combine = sum if kind is ChartKind.BARS else max
    columns = list(zip(*(one.values for one in colored), strict=True))
    highest = max((combine(value or 0 for value in column) for column in columns), default=0)
    step = _axis_step(highest, is_whole=is_whole)
    draw = _draw_bars if kind is ChartKind.BARS else partial(_draw_lines, kind)
    every = -(-len(slots) // MAX_X_LABELS)  # of the labels, back from the last
    return Chart(
        label=label,
        column=column,
        series=colored,
        marks=draw(colored, top=N_STEPS * step),
        y_labels=[
            format_axis(place * step, N_STEPS * step) if format_axis else format_value(place * step)
            for place in range(N_STEPS, -1, -1)
        ],
        x_labels=[
            "" if (len(slots) - 1 - place) % every else slot
            for place, slot in enumerate(short_slots or slots)
        ],
        rows=[
            (slot, [NONE if value is None else format_value(value) for value in column])
            for slot, column in zip(slots, columns or [()] * len(slots), strict=True)
        ],
    )


def _axis_step(highest: float, *, is_whole: bool) -> float:
    wanted = highest / N_STEPS
    if wanted <= 0:
        return 1
    unit = 10.0 ** floor(log10(wanted))
    steps = (round(factor * unit, 12) for factor in STEPS)
    fitting = [one for one in steps if one >= wanted * 0.999999]
    return next((one for one in fitting if not is_whole or one == int(one)), 1)


def _draw_lines(kind: ChartKind, series: Sequence[Series], *, top: float) -> list[tuple[str, str]]:
    marks = []
    for one in series:
        slot = WIDTH / max(1, len(one.values))
        points = [
            None if value is None else ((place + 0.5) * slot, HEIGHT - value / top * HEIGHT)
            for place, value in enumerate(one.values)
        ]
        if kind is ChartKind.AREA:
            marks.append((f"ca-chart__area {one.color}", _area_path(points, HEIGHT)))
        marks.append((f"ca-chart__line {one.color}", _line_path(points)))
    return marks


Points = Sequence[tuple[float, float] | None]


def _line_path(points: Points) -> str:
    parts = []
    for before, point in pairwise((None, *points)):
        if point is not None:
            parts.append(f"{'L' if before else 'M'}{_n(point[0])} {_n(point[1])}")
            if not before:
                parts.append("h0")  # a lone point is a dot
    return "".join(parts)


def _area_path(points: Points, bottom: float) -> str:
    known = [point for point in points if point is not None]
    if not known:
        return ""
    edge = "L".join(f"{_n(x)} {_n(y)}" for x, y in known)
    return f"M{_n(known[0][0])} {_n(bottom)}L{edge}V{_n(bottom)}Z"


def _draw_bars(series: Sequence[Series], *, top: float) -> list[tuple[str, str]]:
    marks = []
    bases = [0.0] * max((len(one.values) for one in series), default=0)
    for one in series:
        slot = WIDTH / max(1, len(one.values))
        width, path = slot * BAR_SHARE, ""
        for place, value in enumerate(one.values):
            if value:
                x = (place + (1 - BAR_SHARE) / 2) * slot
                low, high = (
                    HEIGHT - at / top * HEIGHT for at in (bases[place], bases[place] + value)
                )
                path += f"M{_n(x)} {_n(low)}V{_n(high)}h{_n(width)}V{_n(low)}z"
                bases[place] += value
        marks.append((f"ca-chart__bar {one.color}", path))
    return marks


def sparkline(values: Values, color: str = "ca-s1") -> SafeString:
    """Return a small line with the area below it, without axis, words and gaps."""
    known = [value for value in values if value is not None]
    high = max(known, default=0)
    low = max(0, 2 * min(known, default=0) - high)  # small changes of a high share stay visible
    if low == high:  # no change: a line in the middle, or at the bottom for zeros
        low, high = 0, 2 * high
    span = high - low or 1
    across = SPARK_WIDTH / max(1, len(values) - 1)
    points = [
        (place * across, SPARK_HEIGHT - 2 - (value - low) / span * (SPARK_HEIGHT - 5))
        for place, value in enumerate(values)
        if value is not None
    ]
    return format_html(
        '<svg class="ca-spark {}" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="ca-chart__area" d="{}"/><path class="ca-chart__line" d="{}"/></svg>',
        color, SPARK_WIDTH, SPARK_HEIGHT, _area_path(points, SPARK_HEIGHT), _line_path(points),
    )  # fmt: skip


def spark_bars(values: Sequence[float], color: str = "ca-s1", *, highest: float = 0) -> SafeString:
    """Return small bars, each at least a line high; `highest` is a common scale of several."""
    top, slot = max([highest, *values]) or 1, 100 / max(1, len(values))
    bars = "".join(
        f'<rect class="ca-chart__bar" x="{_n(place * slot + slot * 0.1)}%" y="{_n(100 - height)}%" '
        f'width="{_n(slot * 0.8)}%" height="{_n(height)}%" rx="1"/>'
        for place, value in enumerate(values)
        for height in [max(4.0, value / top * 100)]
    )
    return format_html(
        '<svg class="ca-spark ca-spark--bars {}" aria-hidden="true">{}</svg>',
        color,
        mark_safe(bars),  # noqa: S308  # numbers only
    )


def meter(share: float, css: str = "") -> SafeString:
    """Return a horizontal bar that is filled up to a share between 0 and 1."""
    return format_html(
        '<svg class="ca-meter {}" aria-hidden="true"><rect width="100%" height="100%" rx="3"/>'
        '<rect width="{}%" height="100%" rx="3"/></svg>',
        css,
        _n(100 * min(1, max(0, share))),
    )


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
