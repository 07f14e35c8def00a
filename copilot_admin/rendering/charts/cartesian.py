"""Lines, bars and points over two axes."""

from collections.abc import Iterator, Sequence

from copilot_admin.rendering.charts.plot import X_LABELS, Plot, plot_of, point_text
from copilot_admin.rendering.charts.scales import Scale, are_whole, extent, number_of, round_ticks
from copilot_admin.rendering.charts.scene import (
    DrawnChart,
    DrawnShape,
    ShapeKind,
    Tick,
    bar_path,
    line_path,
)
from copilot_admin.rendering.text import number_text
from protocol.json import JsonObject

MOST_POINTS = 400  # of a series: more are finer than the picture
MOST_BARS = 120
WIDEST_BAR = 48.0
FEW_POINTS = 40  # up to here every point of a line is marked


def lines(
    rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str], from_zero: bool = False
) -> DrawnChart | None:
    """A line for each series, over the rows in their order."""
    plot = plot_of(rows, x_key=x_key, y_keys=y_keys, most=MOST_POINTS, from_zero=from_zero)
    if plot is None:
        return None
    places = plot.evenly()
    shapes: list[DrawnShape] = []
    for series in plot.series:
        path = line_path(plot.points(places, series))
        shapes.append(
            DrawnShape(kind=ShapeKind.LINE, path=path, colour=series.colour, label=series.name)
        )
        if len(places) <= FEW_POINTS:
            shapes += plot.dots(places, series, radius=2.5)
    return plot.chart("line", shapes, x_ticks=plot.named_ticks(places))


def bars(rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str]) -> DrawnChart | None:
    """A group of bars for each row, all from zero."""
    most = max(1, MOST_BARS // len(y_keys))
    plot = plot_of(rows, x_key=x_key, y_keys=y_keys, most=most, from_zero=True)
    if plot is None:
        return None
    frame = plot.frame
    room = (frame.right - frame.left) / len(plot.labels)
    places = [frame.left + room * (index + 0.5) for index in range(len(plot.labels))]
    shapes = list(_bars(plot, places, width=min(room * 0.8 / len(plot.series), WIDEST_BAR)))
    return plot.chart("bar", shapes, x_ticks=plot.named_ticks(places))


def scatter(rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str]) -> DrawnChart | None:
    """A point for each row and series; along a number line when every x is a number."""
    plot = plot_of(rows, x_key=x_key, y_keys=y_keys, most=MOST_POINTS)
    if plot is None:
        return None
    places, x_ticks = _along_numbers(plot) or (plot.evenly(), plot.named_ticks(plot.evenly()))
    shapes = [shape for one in plot.series for shape in plot.dots(places, one, radius=4.0)]
    return plot.chart("scatter", shapes, x_ticks=x_ticks)


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


def _along_numbers(plot: Plot) -> tuple[list[float], tuple[Tick, ...]] | None:
    numbers = [number for label in plot.labels if (number := number_of(label)) is not None]
    if len(numbers) < len(plot.labels):
        return None
    frame = plot.frame
    rounds = round_ticks(*extent(numbers), wanted=X_LABELS - 2, whole=are_whole(numbers))
    scale = Scale(low=rounds[0], high=rounds[-1], start=frame.left, end=frame.right)
    ticks = tuple(Tick(at=scale.place(n), label=number_text(n)) for n in rounds)
    return [scale.place(number) for number in numbers], ticks
