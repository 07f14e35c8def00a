"""Charts of rows as geometry: lines, bars, points, pies and donuts."""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext

from copilot_admin.rendering.chart_plot import (
    X_LABELS,
    Plot,
    Scale,
    are_whole,
    make_plot,
    parse_number,
    point_text,
    round_ticks,
)
from copilot_admin.rendering.svg import (
    HEIGHT,
    WIDTH,
    DrawnChart,
    DrawnShape,
    LegendEntry,
    ShapeKind,
    Tick,
    bar_path,
    colour_of,
    line_path,
    slice_path,
)
from copilot_admin.rendering.text import cell_text, number_text, shortened
from protocol.json import Json, JsonObject, text_of

MAX_POINTS = 400  # of a series: more are finer than the picture
MAX_MARKED_POINTS = 40  # up to here every point of a line is marked
MAX_BARS = 120
MAX_BAR_WIDTH = 48.0
MAX_SLICES = 8  # one for each colour; the rest becomes one more
MAX_SLICE_LABEL = 40
OUTER_RADIUS, HOLE_RADIUS = 130.0, 78.0


def chart_of(
    params: JsonObject, rows: Sequence[JsonObject], *, from_zero: bool = False
) -> DrawnChart | None:
    """Draw a chart, or return None if the parameters name no numbers of these rows.

    Args:
        params: `chart_params` of the artifact: `{chartType, xKey, yKey}`, for pie and donut
            `{chartType, angleKey, calloutLabelKey}`.
        rows: The data.
        from_zero: The y axis of lines includes zero, as that of bars always does.
    """
    kind = params.get("chartType")
    if kind in ("pie", "donut"):
        label, value = text_of(params.get("calloutLabelKey")), text_of(params.get("angleKey"))
        return _draw_ring(rows, label_key=label, value_key=value, is_donut=kind == "donut")
    x_key, y_keys = text_of(params.get("xKey")), _keys(params.get("yKey"))
    match kind:
        case "line" if y_keys:
            return _draw_lines(rows, x_key=x_key, y_keys=y_keys, from_zero=from_zero)
        case "bar" if y_keys:
            return _draw_bars(rows, x_key=x_key, y_keys=y_keys)
        case "scatter" if y_keys:
            return _draw_points(rows, x_key=x_key, y_keys=y_keys)
    return None


def _keys(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence):
        return ()
    return tuple(dict.fromkeys(key for key in value if isinstance(key, str)))


def _draw_lines(
    rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str], from_zero: bool
) -> DrawnChart | None:
    plot = make_plot(rows, x_key=x_key, y_keys=y_keys, max_rows=MAX_POINTS, from_zero=from_zero)
    if plot is None:
        return None
    places = plot.evenly()
    shapes: list[DrawnShape] = []
    for series in plot.series:
        path = line_path(plot.points(places, series))
        shapes.append(
            DrawnShape(kind=ShapeKind.LINE, path=path, colour=series.colour, label=series.name)
        )
        if len(places) <= MAX_MARKED_POINTS:
            shapes += plot.dots(places, series, radius=2.5)
    return plot.chart("line", shapes, x_ticks=plot.named_ticks(places))


def _draw_bars(
    rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str]
) -> DrawnChart | None:
    max_rows = max(1, MAX_BARS // len(y_keys))
    plot = make_plot(rows, x_key=x_key, y_keys=y_keys, max_rows=max_rows, from_zero=True)
    if plot is None:
        return None
    frame = plot.frame
    pitch = (frame.right - frame.left) / len(plot.labels)
    places = [frame.left + pitch * (index + 0.5) for index in range(len(plot.labels))]
    width = min(pitch * 0.8 / len(plot.series), MAX_BAR_WIDTH)
    shapes = list(_bars(plot, places, width=width))
    return plot.chart("bar", shapes, x_ticks=plot.named_ticks(places))


def _bars(plot: Plot, places: Sequence[float], *, width: float) -> Iterator[DrawnShape]:
    zero, middle = plot.y_scale.place(0.0), len(plot.series) / 2
    for series in plot.series:
        for place, label, value in zip(places, plot.labels, series.values, strict=True):
            if value is not None:
                path = bar_path(
                    left=place + (series.index - middle) * width,
                    width=width,
                    start=zero,
                    end=plot.y_scale.place(value),
                )
                text = point_text(label, series.name, value)
                yield DrawnShape(kind=ShapeKind.BAR, path=path, colour=series.colour, label=text)


def _draw_points(
    rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str]
) -> DrawnChart | None:
    plot = make_plot(rows, x_key=x_key, y_keys=y_keys, max_rows=MAX_POINTS)
    if plot is None:
        return None
    places, x_ticks = _along_numbers(plot) or (plot.evenly(), plot.named_ticks(plot.evenly()))
    shapes = [shape for one in plot.series for shape in plot.dots(places, one, radius=4.0)]
    return plot.chart("scatter", shapes, x_ticks=x_ticks)


def _along_numbers(plot: Plot) -> tuple[list[float], tuple[Tick, ...]] | None:
    numbers = [number for label in plot.labels if (number := parse_number(label)) is not None]
    if len(numbers) < len(plot.labels):
        return None
    frame = plot.frame
    rounds = round_ticks(min(numbers), max(numbers), wanted=X_LABELS - 2, whole=are_whole(numbers))
    scale = Scale(low=rounds[0], high=rounds[-1], start=frame.left, end=frame.right)
    ticks = tuple(Tick(at=scale.place(n), label=number_text(n)) for n in rounds)
    return [scale.place(number) for number in numbers], ticks


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
        colour = 0 if index == MAX_SLICES else colour_of(index)
        path = slice_path(
            start=start,
            share=share,
            centre=(WIDTH / 2, HEIGHT / 2),
            radii=(HOLE_RADIUS if is_donut else 0.0, OUTER_RADIUS),
        )
        shapes.append(DrawnShape(kind=ShapeKind.SLICE, path=path, colour=colour, label=text))
        legend.append(LegendEntry(label=text, colour=colour))
        start += share
    note = gettext("%(number)d of %(of)d rows have no positive value.")
    left_out = len(rows) - len(values)
    return DrawnChart(
        kind="donut" if is_donut else "pie",
        shapes=tuple(shapes),
        legend=tuple(legend),
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
