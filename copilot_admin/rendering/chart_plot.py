"""The plot of a chart: the drawn rows, their scale, their ticks and labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from django.utils.translation import gettext

from copilot_admin.rendering.text import cell_text, shortened
from protocol.json import JsonObject

SIZE = 100.0  # width and height of the coordinate system, which a page stretches to its own size
MAX_SERIES = 12
MAX_X_LABELS = 7
X_LABEL_LENGTH = 12
MIDNIGHT = "T00:00:00"
WANTED_TICKS = 5
ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
LABEL_REACH = 0.6  # percent of the width that a character of a label takes to either side


@dataclass(frozen=True, slots=True)
class XLabel:
    """A text below the plot; `at` is its place in percent of the width."""

    text: str
    at: float

    @property
    def anchor(self) -> str:
        """The SVG `text-anchor`: near an edge, the label is aligned with it."""
        reach = len(self.text) * LABEL_REACH
        if self.at < reach:
            return "start"
        return "end" if self.at > SIZE - reach else "middle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """The drawn rows."""

    labels: tuple[str, ...]  # on the x axis
    series: Mapping[str, tuple[float | None, ...]]  # numbers by key
    ticks: Sequence[float]  # on the y axis
    note: str

    def place_y(self, value: float) -> float:
        return SIZE - place(value, self.ticks)

    def label_rows(self, places: Sequence[float]) -> tuple[XLabel, ...]:
        """Return as many labels of the rows as fit below the plot."""
        texts = [shortened(label, most=X_LABEL_LENGTH) for label in self.labels]
        # At an edge a label is moved by half of its width.
        width = 3 * LABEL_REACH * max(map(len, texts))
        fitting = int(SIZE / width) if width else MAX_X_LABELS
        kept = thin_out(len(texts), limit=max(1, min(MAX_X_LABELS, fitting)))
        return tuple(XLabel(texts[index], places[index]) for index in kept)


def make_plot(
    rows: Sequence[JsonObject], *, x_key: str, y_keys: Sequence[str], max_rows: int, from_zero: bool
) -> Plot | None:
    """Lay out a plot, or return None if the rows hold no number under these keys.

    Of more than `max_rows`, every n-th is drawn. With `from_zero`, the y axis includes zero.
    """
    kept = thin_out(len(rows), limit=max_rows)
    series = {
        key: tuple(parse_number(rows[index].get(key)) for index in kept)
        for key in y_keys[:MAX_SERIES]
    }
    numbers = [value for values in series.values() for value in values if value is not None]
    if not numbers:
        return None
    enclosed = [*numbers, 0.0] if from_zero else numbers
    notes = []
    if len(rows) > max_rows:
        words = gettext("Every %(step)d. row of %(count)d is drawn.")
        notes.append(words % {"step": kept[1], "count": len(rows)})
    if len(y_keys) > MAX_SERIES:
        words = gettext("%(shown)d of %(count)d series are drawn.")
        notes.append(words % {"shown": MAX_SERIES, "count": len(y_keys)})
    return Plot(
        labels=tuple(cell_text(rows[index].get(x_key)).removesuffix(MIDNIGHT) for index in kept),
        series=series,
        ticks=round_ticks(min(enclosed), max(enclosed), whole=are_whole(numbers)),
        note=" ".join(notes),
    )


def place(value: float, ticks: Sequence[float]) -> float:
    """Return the place of a value between the first and the last tick, from 0 to 100."""
    low, high = ticks[0], ticks[-1]
    return SIZE * (value / 2 - low / 2) / (high / 2 - low / 2)  # halves can't overflow


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
