"""Lines, bars and points over two axes."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from copilot_admin.rendering.charts.scales import (
    Scale,
    extent,
    number_of,
    round_ticks,
    thinned,
)
from copilot_admin.rendering.charts.scene import (
    HEIGHT,
    WIDTH,
    Chart,
    Frame,
    LegendEntry,
    Shape,
    ShapeKind,
    Tick,
    bar_path,
    colour_of,
    dot_path,
    line_path,
)
from copilot_admin.rendering.text import cell_text, number_text, shortened
from protocol.json import JsonObject

MOST_POINTS = 400  # of a series: more are finer than the picture
MOST_BARS = 120
MOST_SERIES = 12
X_LABELS = 8
X_LABEL_LENGTH = 12
FEW_POINTS = 40  # up to here every point of a line is marked
CHARACTER = 6.4  # width of a character of an axis label
MIDNIGHT = "T00:00:00"

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """The rows that are drawn: their x texts, and one list of numbers per series."""

    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]
    note: str

    @property
    def numbers(self) -> list[float]:
        return [value for _, values in self.series for value in values if value is not None]


def lines(rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str]) -> Chart | None:
    """A line for each series, over the rows in their order."""
    data = _read(rows, x_key, y_keys, most=MOST_POINTS)
    if data is None:
        return None
    y_scale, y_ticks = _y_axis(data.numbers)
    frame = _frame(y_ticks)
    x_scale = Scale(low=0, high=max(len(data.labels) - 1, 1), start=frame.left, end=frame.right)
    places = [x_scale.place(index) for index in range(len(data.labels))]
    shapes = []
    for index, (name, values) in enumerate(data.series):
        points = _points(places, values, y_scale)
        shapes.append(
            Shape(kind=ShapeKind.LINE, path=line_path(points), colour=colour_of(index), label=name)
        )
        if len(places) <= FEW_POINTS:
            shapes += _dots(points, data.labels, name, values, index, radius=2.5)
    return _chart("line", data, frame, shapes, places, y_ticks, x_key, y_keys, y_scale)


def bars(rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str]) -> Chart | None:
    """A group of bars for each row, all from zero."""
    data = _read(rows, x_key, y_keys, most=max(1, MOST_BARS // max(1, len(y_keys))))
    if data is None:
        return None
    y_scale, y_ticks = _y_axis([*data.numbers, 0.0])
    frame = _frame(y_ticks)
    room = (frame.right - frame.left) / len(data.labels)
    width = min(room * 0.8 / len(data.series), 48.0)
    places = [frame.left + room * (index + 0.5) for index in range(len(data.labels))]
    zero = y_scale.place(0.0)
    shapes = [
        Shape(
            kind=ShapeKind.BAR,
            path=bar_path(
                left=place + (index - len(data.series) / 2) * width,
                width=width,
                start=zero,
                end=y_scale.place(value),
            ),
            colour=colour_of(index),
            label=f"{label}, {name}: {number_text(value)}",
        )
        for index, (name, values) in enumerate(data.series)
        for place, label, value in zip(places, data.labels, values, strict=True)
        if value is not None
    ]
    return _chart("bar", data, frame, shapes, places, y_ticks, x_key, y_keys, y_scale)


def scatter(rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str]) -> Chart | None:
    """A point for each row and series; along a number line when every x is a number."""
    data = _read(rows, x_key, y_keys, most=MOST_POINTS)
    if data is None:
        return None
    y_scale, y_ticks = _y_axis(data.numbers)
    frame = _frame(y_ticks)
    along = [number_of(label) for label in data.labels]
    numbers = [number for number in along if number is not None]
    x_ticks: tuple[Tick, ...] | None = None
    if len(numbers) == len(along):
        rounds = round_ticks(*extent(numbers), wanted=X_LABELS - 2)
        x_scale = Scale(low=rounds[0], high=rounds[-1], start=frame.left, end=frame.right)
        places = [x_scale.place(number) for number in numbers]
        x_ticks = tuple(Tick(at=x_scale.place(n), label=number_text(n)) for n in rounds)
    else:
        x_scale = Scale(low=0, high=max(len(along) - 1, 1), start=frame.left, end=frame.right)
        places = [x_scale.place(index) for index in range(len(along))]
    shapes = [
        shape
        for index, (name, values) in enumerate(data.series)
        for shape in _dots(
            _points(places, values, y_scale), data.labels, name, values, index, radius=4.0
        )
    ]
    return _chart(
        "scatter", data, frame, shapes, places, y_ticks, x_key, y_keys, y_scale, x_ticks=x_ticks
    )


def _read(
    rows: Sequence[JsonObject], x_key: str, y_keys: Sequence[str], *, most: int
) -> _Data | None:
    kept = [rows[index] for index in thinned(len(rows), most=most)]
    series = tuple(
        (key, tuple(number_of(row.get(key)) for row in kept)) for key in y_keys[:MOST_SERIES]
    )
    if not any(value is not None for _, values in series for value in values):
        return None
    notes = []
    if len(kept) < len(rows):
        step = thinned(len(rows), most=most)[1]
        words = gettext("One row in %(step)d is drawn; there are %(count)d.")
        notes.append(words % {"step": step, "count": len(rows)})
    if len(y_keys) > MOST_SERIES:
        words = gettext("%(shown)d of %(count)d series are drawn.")
        notes.append(words % {"shown": MOST_SERIES, "count": len(y_keys)})
    labels = tuple(cell_text(row.get(x_key)).removesuffix(MIDNIGHT) for row in kept)
    return _Data(labels=labels, series=series, note=" ".join(notes))


def _y_axis(numbers: Sequence[float]) -> tuple[Scale, tuple[Tick, ...]]:
    rounds = round_ticks(*extent(numbers))
    scale = Scale(low=rounds[0], high=rounds[-1], start=HEIGHT - 40, end=14)
    return scale, tuple(Tick(at=scale.place(n), label=number_text(n)) for n in rounds)


def _frame(y_ticks: Sequence[Tick]) -> Frame:
    widest = max(len(tick.label) for tick in y_ticks)
    return Frame(left=18 + widest * CHARACTER, top=14, right=WIDTH - 22, bottom=HEIGHT - 40)


def _points(
    places: Sequence[float], values: Sequence[float | None], y_scale: Scale
) -> list[Point | None]:
    return [
        None if value is None else (place, y_scale.place(value))
        for place, value in zip(places, values, strict=True)
    ]


def _dots(
    points: Sequence[Point | None],
    labels: Sequence[str],
    name: str,
    values: Sequence[float | None],
    index: int,
    *,
    radius: float,
) -> list[Shape]:
    return [
        Shape(
            kind=ShapeKind.DOT,
            path=dot_path(x=point[0], y=point[1], radius=radius),
            colour=colour_of(index),
            label=f"{label}, {name}: {number_text(value)}",
        )
        for point, label, value in zip(points, labels, values, strict=True)
        if point is not None and value is not None
    ]


def _chart(
    kind: str,
    data: _Data,
    frame: Frame,
    shapes: Sequence[Shape],
    places: Sequence[float],
    y_ticks: tuple[Tick, ...],
    x_key: str,
    y_keys: Sequence[str],
    y_scale: Scale,
    *,
    x_ticks: tuple[Tick, ...] | None = None,
) -> Chart:
    return Chart(
        kind=kind,
        shapes=tuple(shapes),
        legend=tuple(
            LegendEntry(label=name, colour=colour_of(index))
            for index, (name, _) in enumerate(data.series)
        ),
        frame=frame,
        x_ticks=_named_ticks(places, data.labels) if x_ticks is None else x_ticks,
        y_ticks=y_ticks,
        x_label=x_key,
        baseline=y_scale.place(0.0) if y_scale.low <= 0 <= y_scale.high else None,
        note=data.note,
        drawn_columns=(x_key, *y_keys),
    )


def _named_ticks(places: Sequence[float], labels: Sequence[str]) -> tuple[Tick, ...]:
    return tuple(
        Tick(at=places[index], label=shortened(labels[index], most=X_LABEL_LENGTH))
        for index in thinned(len(labels), most=X_LABELS)
    )
