"""A plot with two axes: which rows it draws, where values are in it, how it becomes a chart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from django.utils.translation import gettext

from copilot_admin.rendering.charts.scales import (
    Scale,
    are_whole,
    extent,
    number_of,
    round_ticks,
    thinned,
)
from copilot_admin.rendering.charts.scene import (
    HEIGHT,
    WIDTH,
    DrawnChart,
    DrawnShape,
    Frame,
    LegendEntry,
    ShapeKind,
    Tick,
    colour_of,
    dot_path,
)
from copilot_admin.rendering.text import cell_text, number_text, shortened
from protocol.json import JsonObject

MOST_SERIES = 12
X_LABELS = 8
X_LABEL_LENGTH = 12
TOP, BOTTOM, BESIDE = 14.0, HEIGHT - 40, 22.0
CHARACTER = 6.4  # width of a character of an axis label
WIDE = "WF"  # East Asian widths of characters that take twice as much
MIDNIGHT = "T00:00:00"

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlottedSeries:
    """One key of the rows as numbers; `index` is its place among the series."""

    index: int
    name: str
    values: tuple[float | None, ...]

    @property
    def colour(self) -> int:
        """The number of the colour in which the series is drawn."""
        return colour_of(self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """The drawn rows between their axes; `labels` are their texts on the x axis."""

    x_key: str
    labels: tuple[str, ...]
    series: tuple[PlottedSeries, ...]
    y_scale: Scale
    y_ticks: tuple[Tick, ...]
    note: str

    @property
    def frame(self) -> Frame:
        """Where values are drawn; labels need room beside it, of the x axis half of the outer ones."""
        widest = max(len(tick.label) for tick in self.y_ticks)
        first, last = (_width(self.labels[place]) / 2 for place in (0, -1))
        return Frame(
            left=max(18 + widest * CHARACTER, first),
            top=TOP,
            right=WIDTH - max(BESIDE, last),
            bottom=BOTTOM,
        )

    def evenly(self) -> list[float]:
        """A place on the x axis for each row, from edge to edge."""
        frame, last = self.frame, max(len(self.labels) - 1, 1)
        scale = Scale(low=0, high=last, start=frame.left, end=frame.right)
        return [scale.place(index) for index in range(len(self.labels))]

    def points(self, places: Sequence[float], series: PlottedSeries) -> list[Point | None]:
        """Where the values of a series are; None where there is none."""
        return [
            None if value is None else (place, self.y_scale.place(value))
            for place, value in zip(places, series.values, strict=True)
        ]

    def dots(
        self, places: Sequence[float], series: PlottedSeries, *, radius: float
    ) -> Iterator[DrawnShape]:
        """A disc for each value of a series."""
        points = self.points(places, series)
        for point, label, value in zip(points, self.labels, series.values, strict=True):
            if point is not None and value is not None:
                yield DrawnShape(
                    kind=ShapeKind.DOT,
                    path=dot_path(x=point[0], y=point[1], radius=radius),
                    colour=series.colour,
                    label=point_text(label, series.name, value),
                )

    def chart(
        self, kind: str, shapes: Sequence[DrawnShape], *, x_ticks: tuple[Tick, ...]
    ) -> DrawnChart:
        """The chart with its axes, legend and shapes."""
        scale = self.y_scale
        return DrawnChart(
            kind=kind,
            shapes=tuple(shapes),
            legend=tuple(LegendEntry(label=one.name, colour=one.colour) for one in self.series),
            frame=self.frame,
            x_ticks=x_ticks,
            y_ticks=self.y_ticks,
            x_label=self.x_key,
            baseline=scale.place(0.0) if scale.low <= 0 <= scale.high else None,
            note=self.note,
            drawn_columns=(self.x_key, *(one.name for one in self.series)),
        )

    def named_ticks(self, places: Sequence[float]) -> tuple[Tick, ...]:
        """As many labels of the rows as there is room for."""
        return tuple(
            Tick(at=places[index], label=shortened(self.labels[index], most=X_LABEL_LENGTH))
            for index in thinned(len(self.labels), most=X_LABELS)
        )


def plot_of(
    rows: Sequence[JsonObject],
    *,
    x_key: str,
    y_keys: Sequence[str],
    most: int,
    from_zero: bool = False,
) -> Plot | None:
    """Lays out a plot; None when the rows hold no number under these keys.

    Args:
        rows: The data.
        x_key: What stands on the x axis.
        y_keys: One for each series.
        most: How many rows may be drawn; of more, every n-th is taken.
        from_zero: Whether zero has to be on the y axis.
    """
    kept = [rows[index] for index in thinned(len(rows), most=most)]
    series = tuple(
        PlottedSeries(index=index, name=key, values=tuple(number_of(row.get(key)) for row in kept))
        for index, key in enumerate(y_keys[:MOST_SERIES])
    )
    numbers = [value for one in series for value in one.values if value is not None]
    if not numbers:
        return None
    enclosed = extent([*numbers, 0.0] if from_zero else numbers)
    rounds = round_ticks(*enclosed, whole=are_whole(numbers))
    scale = Scale(low=rounds[0], high=rounds[-1], start=BOTTOM, end=TOP)
    return Plot(
        x_key=x_key,
        labels=tuple(cell_text(row.get(x_key)).removesuffix(MIDNIGHT) for row in kept),
        series=series,
        y_scale=scale,
        y_ticks=tuple(Tick(at=scale.place(n), label=number_text(n)) for n in rounds),
        note=" ".join(_left_out(len(rows), len(y_keys), most=most)),
    )


def _width(label: str) -> float:
    shown = shortened(label, most=X_LABEL_LENGTH)
    return CHARACTER * sum(2 if east_asian_width(sign) in WIDE else 1 for sign in shown)


def point_text(label: str, name: str, value: float) -> str:
    """What pointing at a value says."""
    return f"{label}, {name}: {number_text(value)}"


def _left_out(rows: int, keys: int, *, most: int) -> Iterator[str]:
    if rows > most:
        words = gettext("One row in %(step)d is drawn; there are %(count)d.")
        yield words % {"step": thinned(rows, most=most)[1], "count": rows}
    if keys > MOST_SERIES:
        words = gettext("%(shown)d of %(count)d series are drawn.")
        yield words % {"shown": MOST_SERIES, "count": keys}
