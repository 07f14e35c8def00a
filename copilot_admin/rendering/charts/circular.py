"""Pies and donuts."""

from collections.abc import Sequence

from django.utils.translation import gettext

from copilot_admin.rendering.charts.scales import number_of
from copilot_admin.rendering.charts.scene import (
    HEIGHT,
    WIDTH,
    DrawnChart,
    DrawnShape,
    LegendEntry,
    ShapeKind,
    colour_of,
    slice_path,
)
from copilot_admin.rendering.text import cell_text, number_text, shortened
from protocol.json import JsonObject

MOST_SLICES = 8  # one for each colour; what is left becomes one more
OUTER = 130.0
HOLE = 78.0
MOST_LABEL = 40


def ring(
    rows: Sequence[JsonObject], *, label_key: str, value_key: str, is_donut: bool
) -> DrawnChart | None:
    """A pie or donut of the positive values; None when there is none."""
    values = [
        (shortened(cell_text(row.get(label_key)), most=MOST_LABEL) or "?", value)
        for row in rows
        if (value := number_of(row.get(value_key))) is not None and value > 0
    ]
    if not values:
        return None
    left_out = len(rows) - len(values)
    slices = _with_rest(values)
    total = sum(value for _, value in slices)
    shapes, legend, start = [], [], 0.0
    for index, (label, value) in enumerate(slices):
        share = value / total
        text = f"{label}: {number_text(value)} ({share:.1%})"
        path = slice_path(
            start=start,
            share=share,
            centre=(WIDTH / 2, HEIGHT / 2),
            radii=(HOLE if is_donut else 0.0, OUTER),
        )
        shapes.append(
            DrawnShape(kind=ShapeKind.SLICE, path=path, colour=_colour(index), label=text)
        )
        legend.append(LegendEntry(label=text, colour=_colour(index)))
        start += share
    return DrawnChart(
        kind="donut" if is_donut else "pie",
        shapes=tuple(shapes),
        legend=tuple(legend),
        note=_left_out(left_out, of=len(rows)),
        drawn_columns=(label_key, value_key),
    )


def _colour(index: int) -> int:
    return 0 if index == MOST_SLICES else colour_of(index)


def _left_out(number: int, *, of: int) -> str:
    words = gettext("%(number)d of %(of)d rows have no positive value.")
    return words % {"number": number, "of": of} if number else ""


def _with_rest(values: list[tuple[str, float]]) -> list[tuple[str, float]]:
    if len(values) <= MOST_SLICES:
        return values
    largest = sorted(values, key=lambda pair: -pair[1])
    rest = largest[MOST_SLICES:]
    return [
        *largest[:MOST_SLICES],
        (gettext("%d others") % len(rest), sum(value for _, value in rest)),
    ]
