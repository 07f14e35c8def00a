"""A plot with two axes: scales, ticks, and the rows that are drawn."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from unicodedata import east_asian_width

from django.utils.translation import gettext

from copilot_admin.rendering.svg import (
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

MAX_SERIES = 12
X_LABELS = 8
X_LABEL_LENGTH = 12
TOP, BOTTOM, MARGIN = 14.0, HEIGHT - 40, 22.0
CHARACTER = 6.4  # width of a character of an axis label
MIDNIGHT = "T00:00:00"
WANTED_TICKS = 5
ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Maps values between `low` and `high` to places between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return the pixel at which a value is drawn."""
        # Halves can't overflow.
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return self.start + share * (self.end - self.start)


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
        """The rectangle of the values, inside the labels of both axes."""
        widest = max(len(tick.label) for tick in self.y_ticks)
        first, last = (_label_width(self.labels[index]) / 2 for index in (0, -1))
        return Frame(
            left=max(18 + widest * CHARACTER, first),
            top=TOP,
            right=WIDTH - max(MARGIN, last),
            bottom=BOTTOM,
        )

    def evenly(self) -> list[float]:
        """Return a place on the x axis for each row, from edge to edge."""
        frame, last = self.frame, max(len(self.labels) - 1, 1)
        scale = Scale(low=0, high=last, start=frame.left, end=frame.right)
        return [scale.place(index) for index in range(len(self.labels))]

    def points(self, places: Sequence[float], series: PlottedSeries) -> list[Point | None]:
        """Return the points of a series; None where there is no value."""
        return [
            None if value is None else (place, self.y_scale.place(value))
            for place, value in zip(places, series.values, strict=True)
        ]

    def dots(
        self, places: Sequence[float], series: PlottedSeries, *, radius: float
    ) -> Iterator[DrawnShape]:
        """Yield a disc for each value of a series."""
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
        """Return the chart with its axes, legend and shapes."""
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
        """Return as many labels of the rows as fit below the x axis."""
        return tuple(
            Tick(at=places[index], label=shortened(self.labels[index], most=X_LABEL_LENGTH))
            for index in thin_out(len(self.labels), limit=X_LABELS)
        )


def make_plot(
    rows: Sequence[JsonObject],
    *,
    x_key: str,
    y_keys: Sequence[str],
    max_rows: int,
    from_zero: bool = False,
) -> Plot | None:
    """Lay out a plot, or return None if the rows hold no number under these keys.

    Args:
        rows: The data.
        x_key: Key of the x axis.
        y_keys: One for each series.
        max_rows: Of more rows every n-th is drawn.
        from_zero: The y axis includes zero.
    """
    kept = [rows[index] for index in thin_out(len(rows), limit=max_rows)]
    series = tuple(
        PlottedSeries(
            index=index, name=key, values=tuple(parse_number(row.get(key)) for row in kept)
        )
        for index, key in enumerate(y_keys[:MAX_SERIES])
    )
    numbers = [value for one in series for value in one.values if value is not None]
    if not numbers:
        return None
    enclosed = [*numbers, 0.0] if from_zero else numbers
    rounds = round_ticks(min(enclosed), max(enclosed), whole=are_whole(numbers))
    scale = Scale(low=rounds[0], high=rounds[-1], start=BOTTOM, end=TOP)
    return Plot(
        x_key=x_key,
        labels=tuple(cell_text(row.get(x_key)).removesuffix(MIDNIGHT) for row in kept),
        series=series,
        y_scale=scale,
        y_ticks=tuple(Tick(at=scale.place(n), label=number_text(n)) for n in rounds),
        note=" ".join(_describe_left_out(len(rows), len(y_keys), max_rows=max_rows)),
    )


def parse_number(value: object) -> float | None:
    """Return a value as a finite number; texts such as `12.5` count, everything else is None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and abs(number) < 1e300 else None


def round_ticks(
    low: float, high: float, *, wanted: int = WANTED_TICKS, whole: bool = False
) -> list[float]:
    """Return about `wanted` round numbers that enclose a range, only whole ones for counts."""
    if low == high:
        margin = abs(low) / 10 or 1.0
        low = low if whole and not low else low - margin  # no count is below zero
        high += margin
    rough = (high - low) / wanted
    power = 10.0 ** floor(log10(rough))
    step = next(power * step for step in ROUND_STEPS if power * step >= rough * 0.999)
    if whole and not step.is_integer():
        step = float(ceil(step))
    first, last = floor(low / step), ceil(high / step)
    return [number * step for number in range(first, last + 1)]


def are_whole(values: Iterable[float]) -> bool:
    return all(float(value).is_integer() for value in values)


def thin_out(count: int, *, limit: int) -> list[int]:
    """Return at most `limit` indexes of `count` things, evenly from the first on."""
    return list(range(0, count, max(1, ceil(count / limit))))


def point_text(label: str, name: str, value: float) -> str:
    """Return the tooltip of a value."""
    return f"{label}, {name}: {number_text(value)}"


def _label_width(label: str) -> float:
    shown = shortened(label, most=X_LABEL_LENGTH)
    return CHARACTER * sum(2 if east_asian_width(sign) in "WF" else 1 for sign in shown)


def _describe_left_out(rows: int, keys: int, *, max_rows: int) -> Iterator[str]:
    if rows > max_rows:
        words = gettext("One row in %(step)d is drawn; there are %(count)d.")
        yield words % {"step": thin_out(rows, limit=max_rows)[1], "count": rows}
    if keys > MAX_SERIES:
        words = gettext("%(shown)d of %(count)d series are drawn.")
        yield words % {"shown": MAX_SERIES, "count": keys}
