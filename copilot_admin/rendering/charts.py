"""Charts of rows: SVG for the shapes; a template writes the words around them as HTML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import cos, pi, sin
from typing import NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from copilot_admin.rendering.chart_plot import (
    MAX_X_LABELS,
    SIZE,
    Plot,
    XLabel,
    are_whole,
    make_plot,
    parse_number,
    place,
    round_ticks,
)
from copilot_admin.rendering.text import cell_text, number_text, shortened
from protocol.json import JsonObject, list_of, text_of

COLOURS = 6  # classes ca-s1 to ca-s6; further series take the first again
MAX_POINTS = 400  # of a series: more are finer than the picture
MAX_MARKED_POINTS = 40  # up to here every point of a line is marked
MAX_BARS = 120
MAX_BAR_WIDTH = 9.0
MAX_SLICES = COLOURS - 1  # the rest becomes one more, in the last colour
MAX_SLICE_LABEL = 40
OUTER_RADIUS, HOLE_RADIUS = 48.0, 29.0


class DrawnShape(NamedTuple):
    """A path; `kind` is "line", "bar" or "dot", `label` its tooltip."""

    kind: str
    path: str
    colour: int
    label: str


class LegendEntry(NamedTuple):
    """A colour with its meaning."""

    label: str
    colour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """A chart in a coordinate system of 100 by 100."""

    kind: str
    shapes: tuple[DrawnShape, ...]
    legend: tuple[LegendEntry, ...]
    is_round: bool = False  # pie or donut, without axes
    x_labels: tuple[XLabel, ...] = ()
    y_labels: tuple[str, ...] = ()  # from top to bottom, at equal distances
    zero: float | None = None  # its place on the y axis
    note: str = ""  # about rows or series that are left out
    drawn_columns: tuple[str, ...] = ()

    @property
    def svg(self) -> SafeString:
        """The grid and the shapes; up to 500 elements, too many for a template."""
        lines = max(len(self.y_labels) - 1, 1)
        grid = "".join(f"M0 {SIZE * index / lines:.2f}H100" for index in range(lines + 1))
        parts = [] if self.is_round else [f'<path class="ca-chart__grid" d="{grid}"/>']
        parts += [
            f'<path class="ca-chart__{kind} ca-s{colour}" d="{escape(path)}">'
            f"<title>{escape(label)}</title></path>"
            for kind, path, colour, label in self.shapes
        ]
        if self.zero is not None:
            parts.append(
                f'<path class="ca-chart__grid ca-chart__zero" d="M0 {self.zero:.2f}H100"/>'
            )
        return SafeString("\n".join(parts))


def draw_chart(params: JsonObject, rows: Sequence[JsonObject]) -> DrawnChart | None:
    """Draw a chart, or return None if the parameters name no numbers of these rows.

    `params` are `chart_params` of the artifact: `{chartType, xKey, yKey}`, for pie and donut
    `{chartType, angleKey, calloutLabelKey}`.
    """
    kind = params.get("chartType")
    if kind in ("pie", "donut"):
        label, value = text_of(params.get("calloutLabelKey")), text_of(params.get("angleKey"))
        return _draw_ring(rows, label_key=label, value_key=value, is_donut=kind == "donut")
    x_key, y = text_of(params.get("xKey")), params.get("yKey")
    named = [y] if isinstance(y, str) else list_of(y)
    y_keys = list(dict.fromkeys(key for key in named if isinstance(key, str)))
    if kind not in ("line", "bar", "scatter") or not y_keys:
        return None
    plot = make_plot(
        rows,
        x_key=x_key,
        y_keys=y_keys,
        max_rows=max(1, MAX_BARS // len(y_keys)) if kind == "bar" else MAX_POINTS,
        from_zero=kind == "bar",
    )
    if plot is None:
        return None
    count = len(plot.labels)
    places = [SIZE * (index + 0.5) / count for index in range(count)]
    x_labels = plot.label_rows(places)
    numbers = [number for label in plot.labels if (number := parse_number(label)) is not None]
    if kind == "scatter" and len(numbers) == count:
        whole = are_whole(numbers)
        ticks = round_ticks(min(numbers), max(numbers), wanted=MAX_X_LABELS - 2, whole=whole)
        places = [place(number, ticks) for number in numbers]
        x_labels = tuple(XLabel(number_text(tick), place(tick, ticks)) for tick in ticks)
    return DrawnChart(
        kind=kind,
        shapes=tuple(_draw_series(kind, plot, places)),
        legend=tuple(LegendEntry(*one) for one in zip(plot.series, _colours(), strict=False)),
        x_labels=x_labels,
        y_labels=tuple(map(number_text, reversed(plot.ticks))),
        zero=plot.place_y(0.0) if plot.ticks[0] <= 0 <= plot.ticks[-1] else None,
        note=plot.note,
        drawn_columns=(x_key, *plot.series),
    )


def _colours() -> Iterator[int]:
    return cycle(range(1, COLOURS + 1))


def _draw_series(kind: str, plot: Plot, places: Sequence[float]) -> Iterator[DrawnShape]:
    width = min(SIZE / len(places) * 0.7 / len(plot.series), MAX_BAR_WIDTH)
    for index, ((name, values), colour) in enumerate(
        zip(plot.series.items(), _colours(), strict=False)
    ):
        points = [
            None if value is None else (x, plot.place_y(value))
            for x, value in zip(places, values, strict=True)
        ]
        if kind == "line":
            yield DrawnShape(kind, line_path(points), colour, name)
            if len(places) > MAX_MARKED_POINTS:
                continue
        for point, label, value in zip(points, plot.labels, values, strict=True):
            if point is None or value is None:
                continue
            x, y = point
            tooltip = f"{label}, {name}: {number_text(value)}"
            if kind == "bar":
                left, zero = x + (index - len(plot.series) / 2) * width, plot.place_y(0.0)
                path = f"M{left:.2f} {zero:.2f}h{width:.2f}V{y:.2f}h{-width:.2f}z"
                yield DrawnShape(kind, path, colour, tooltip)
            else:  # a round cap that isn't stretched
                yield DrawnShape("dot", f"M{x:.2f} {y:.2f}h0", colour, tooltip)


def line_path(points: Sequence[tuple[float, float] | None]) -> str:
    """Return the path of a line through points; None interrupts it."""
    parts = []
    command = "M"
    for point in points:
        if point is None:
            command = "M"
        else:
            parts.append(f"{command}{point[0]:.2f} {point[1]:.2f}")
            command = "L"
    return "".join(parts)


def _draw_ring(
    rows: Sequence[JsonObject], *, label_key: str, value_key: str, is_donut: bool
) -> DrawnChart | None:
    values = [
        (shortened(cell_text(row.get(label_key)), most=MAX_SLICE_LABEL) or "?", value)
        for row in rows
        if (value := parse_number(row.get(value_key))) is not None and value > 0
    ]
    if not values:
        return None
    slices = values
    if len(values) > MAX_SLICES:
        largest = sorted(values, key=lambda pair: -pair[1])
        rest = largest[MAX_SLICES:]
        others = (gettext("%d others") % len(rest), sum(value for _, value in rest))
        slices = [*largest[:MAX_SLICES], others]
    total = sum(value for _, value in slices)
    shapes, legend, start = [], [], 0.0
    for index, (label, value) in enumerate(slices):
        share = value / total
        text = f"{label}: {number_text(value)} ({share:.1%})"
        path = _slice_path(start, share, hole=HOLE_RADIUS if is_donut else 0.0)
        shapes.append(DrawnShape("bar", path, index + 1, text))
        legend.append(LegendEntry(text, index + 1))
        start += share
    note = gettext("%(number)d of %(of)d rows have no positive value.")
    left_out = len(rows) - len(values)
    return DrawnChart(
        kind="donut" if is_donut else "pie",
        shapes=tuple(shapes),
        legend=tuple(legend),
        is_round=True,
        note=note % {"number": left_out, "of": len(rows)} if left_out else "",
        drawn_columns=(label_key, value_key),
    )


def _slice_path(start: float, share: float, *, hole: float) -> str:
    """Return the path of a piece of a ring, clockwise from twelve, in shares of the circle.

    Without a hole, it is a piece of a pie.
    """
    share = min(share, 0.99999)  # an arc that ends where it began wouldn't be drawn
    large = int(share > 0.5)
    a, b = _place_on_circle(OUTER_RADIUS, start), _place_on_circle(OUTER_RADIUS, start + share)
    c, d = _place_on_circle(hole, start + share), _place_on_circle(hole, start)
    back = f"A{hole:.1f} {hole:.1f} 0 {large} 0 {d}" if hole else ""
    return f"M{a}A{OUTER_RADIUS:.1f} {OUTER_RADIUS:.1f} 0 {large} 1 {b}L{c}{back}z"


def _place_on_circle(radius: float, share: float) -> str:
    angle = 2 * pi * share
    return f"{SIZE / 2 + radius * sin(angle):.2f} {SIZE / 2 - radius * cos(angle):.2f}"
