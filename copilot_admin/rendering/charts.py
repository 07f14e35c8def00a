"""Charts of rows: SVG for the shapes; a template writes the words around them as HTML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import cos, pi, sin

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from copilot_admin.rendering.chart_plot import (
    MAX_X_LABELS,
    SIZE,
    Plot,
    PlottedSeries,
    Point,
    Scale,
    XLabel,
    are_whole,
    describe_point,
    make_plot,
    parse_number,
    round_ticks,
)
from copilot_admin.rendering.text import cell_text, number_text, shortened
from protocol.json import Json, JsonObject, text_of

COLOURS = 6  # classes ca-s1 to ca-s6; further series take the first again
MAX_POINTS = 400  # of a series: more are finer than the picture
MAX_MARKED_POINTS = 40  # up to here every point of a line is marked
MAX_BARS = 120
MAX_BAR_WIDTH = 9.0
MAX_SLICES = COLOURS - 1  # the rest becomes one more, in the last colour
MAX_SLICE_LABEL = 40
OUTER_RADIUS, HOLE_RADIUS = 48.0, 29.0


class ShapeKind(StrEnum):
    """CSS class of a shape, behind `ca-chart__`."""

    LINE = "line"
    BAR = "bar"
    DOT = "dot"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnShape:
    """A path; `label` is its tooltip."""

    kind: ShapeKind
    path: str
    colour: int
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """A colour with its meaning."""

    label: str
    colour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """A chart in a coordinate system of 100 by 100.

    Attributes:
        is_round: Pie or donut, without axes.
        y_labels: From top to bottom, at equal distances.
        zero: Place of zero on the y axis.
        note: Text about rows or series that are left out.
        drawn_columns: Keys of the rows that the chart shows.
    """

    kind: str
    shapes: tuple[DrawnShape, ...]
    legend: tuple[LegendEntry, ...]
    is_round: bool = False
    x_labels: tuple[XLabel, ...] = ()
    y_labels: tuple[str, ...] = ()
    zero: float | None = None
    note: str = ""
    drawn_columns: tuple[str, ...] = ()

    @property
    def svg(self) -> SafeString:
        """The grid and the shapes; up to 500 elements, too many for a template."""
        lines = max(len(self.y_labels) - 1, 1)
        grid = "".join(f"M0 {SIZE * index / lines:.2f}H100" for index in range(lines + 1))
        parts = [] if self.is_round else [f'<path class="ca-chart__grid" d="{grid}"/>']
        parts += map(_draw, self.shapes)
        if self.zero is not None:
            parts.append(
                f'<path class="ca-chart__grid ca-chart__zero" d="M0 {self.zero:.2f}H100"/>'
            )
        return SafeString("\n".join(parts))


def _draw(shape: DrawnShape) -> str:
    painted = f'class="ca-chart__{shape.kind} ca-s{shape.colour}"'
    return f'<path {painted} d="{escape(shape.path)}"><title>{escape(shape.label)}</title></path>'


def draw_chart(params: JsonObject, rows: Sequence[JsonObject]) -> DrawnChart | None:
    """Draw a chart, or return None if the parameters name no numbers of these rows.

    Args:
        params: `chart_params` of the artifact: `{chartType, xKey, yKey}`, for pie and donut
            `{chartType, angleKey, calloutLabelKey}`.
        rows: The data.
    """
    kind = params.get("chartType")
    if kind in ("pie", "donut"):
        label, value = text_of(params.get("calloutLabelKey")), text_of(params.get("angleKey"))
        return _draw_ring(rows, label_key=label, value_key=value, is_donut=kind == "donut")
    x_key, y_keys = text_of(params.get("xKey")), _read_keys(params.get("yKey"))
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
    places, x_labels = plot.bands, plot.label_rows(plot.bands)
    if kind == "scatter":
        places, x_labels = _place_along_numbers(plot) or (places, x_labels)
    draw = {"line": _draw_lines, "bar": _draw_bars, "scatter": _draw_points}[kind]
    scale = plot.y_scale
    return DrawnChart(
        kind=kind,
        shapes=tuple(draw(plot, places)),
        legend=tuple(LegendEntry(label=one.name, colour=_colour(one)) for one in plot.series),
        x_labels=x_labels,
        y_labels=tuple(map(number_text, reversed(plot.ticks))),
        zero=scale.place(0.0) if scale.low <= 0 <= scale.high else None,
        note=plot.note,
        drawn_columns=(plot.x_key, *(one.name for one in plot.series)),
    )


def _colour(series: PlottedSeries) -> int:
    return series.index % COLOURS + 1


def _read_keys(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence):
        return ()
    return tuple(dict.fromkeys(key for key in value if isinstance(key, str)))


def _draw_lines(plot: Plot, places: Sequence[float]) -> Iterator[DrawnShape]:
    for series in plot.series:
        path = line_path(plot.points(places, series))
        yield DrawnShape(kind=ShapeKind.LINE, path=path, colour=_colour(series), label=series.name)
        if len(places) <= MAX_MARKED_POINTS:
            yield from _draw_dots(plot, places, series)


def line_path(points: Sequence[Point | None]) -> str:
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


def _draw_points(plot: Plot, places: Sequence[float]) -> Iterator[DrawnShape]:
    for series in plot.series:
        yield from _draw_dots(plot, places, series)


def _draw_dots(plot: Plot, places: Sequence[float], series: PlottedSeries) -> Iterator[DrawnShape]:
    points = plot.points(places, series)
    for point, label, value in zip(points, plot.labels, series.values, strict=True):
        if point is not None and value is not None:
            yield DrawnShape(
                kind=ShapeKind.DOT,
                path=f"M{point[0]:.2f} {point[1]:.2f}h0",  # a round cap that isn't stretched
                colour=_colour(series),
                label=describe_point(label, series.name, value),
            )


def _draw_bars(plot: Plot, places: Sequence[float]) -> Iterator[DrawnShape]:
    width = min(SIZE / len(plot.labels) * 0.7 / len(plot.series), MAX_BAR_WIDTH)
    zero, middle = plot.y_scale.place(0.0), len(plot.series) / 2
    for series in plot.series:
        points = plot.points(places, series)
        for point, label, value in zip(points, plot.labels, series.values, strict=True):
            if point is not None and value is not None:
                left = point[0] + (series.index - middle) * width
                yield DrawnShape(
                    kind=ShapeKind.BAR,
                    path=f"M{left:.2f} {zero:.2f}h{width:.2f}V{point[1]:.2f}h{-width:.2f}z",
                    colour=_colour(series),
                    label=describe_point(label, series.name, value),
                )


def _place_along_numbers(plot: Plot) -> tuple[list[float], tuple[XLabel, ...]] | None:
    numbers = [number for label in plot.labels if (number := parse_number(label)) is not None]
    if len(numbers) < len(plot.labels):
        return None
    whole = are_whole(numbers)
    ticks = round_ticks(min(numbers), max(numbers), wanted=MAX_X_LABELS - 2, whole=whole)
    scale = Scale(low=ticks[0], high=ticks[-1])
    labels = tuple(XLabel(at=scale.place(tick), text=number_text(tick)) for tick in ticks)
    return [scale.place(number) for number in numbers], labels


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
    slices = _merge_small(values)
    total = sum(value for _, value in slices)
    shapes, legend, start = [], [], 0.0
    for index, (label, value) in enumerate(slices):
        share = value / total
        text = f"{label}: {number_text(value)} ({share:.1%})"
        path = slice_path(start, share, hole=HOLE_RADIUS if is_donut else 0.0)
        shapes.append(DrawnShape(kind=ShapeKind.BAR, path=path, colour=index + 1, label=text))
        legend.append(LegendEntry(label=text, colour=index + 1))
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


def _merge_small(values: list[tuple[str, float]]) -> list[tuple[str, float]]:
    if len(values) <= MAX_SLICES:
        return values
    largest = sorted(values, key=lambda pair: -pair[1])
    rest = largest[MAX_SLICES:]
    others = (gettext("%d others") % len(rest), sum(value for _, value in rest))
    return [*largest[:MAX_SLICES], others]


def slice_path(start: float, share: float, *, hole: float) -> str:
    """Return the path of a piece of a ring, clockwise from twelve.

    Args:
        start: Beginning, as a share of the whole circle.
        share: Share of the circle that it takes.
        hole: Inner radius; 0 makes a piece of a pie.
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
