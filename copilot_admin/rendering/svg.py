"""Parts of a drawn chart, each one SVG element; a template writes what is around the shapes."""

from dataclasses import dataclass
from enum import StrEnum
from math import cos, pi, sin

from django.utils.html import escape
from django.utils.safestring import SafeString

WIDTH = 640.0
HEIGHT = 300.0
COLOURS = 8  # series beyond take the first colour again


class ShapeKind(StrEnum):
    """CSS class of a shape."""

    LINE = "line"
    BAR = "bar"
    DOT = "dot"
    SLICE = "slice"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnShape:
    """A path; `label` is its tooltip."""

    kind: ShapeKind
    path: str
    colour: int
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The rectangle in which values are drawn, in SVG units."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """A colour with its meaning."""

    label: str
    colour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """A chart ready to be written as SVG.

    Attributes:
        frame: None for round charts, which have no axes.
        baseline: Place of zero on the y axis.
        note: Text about rows or series that are left out.
        drawn_columns: Keys of the rows that the chart shows.
    """

    kind: str
    shapes: tuple[DrawnShape, ...]
    legend: tuple[LegendEntry, ...]
    frame: Frame | None = None
    x_ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    x_label: str = ""
    baseline: float | None = None
    note: str = ""
    drawn_columns: tuple[str, ...] = ()

    @property
    def view_box(self) -> str:
        """The SVG coordinate system."""
        return f"0 0 {WIDTH:.0f} {HEIGHT:.0f}"

    @property
    def drawn(self) -> SafeString:
        """The shapes as SVG; a page of figures has five hundred, too many for a template."""
        return SafeString("\n".join(map(_draw, self.shapes)))


def _draw(shape: DrawnShape) -> str:
    painted = f'class="ca-{shape.kind} ca-colour-{shape.colour}"'
    return f'<path {painted} d="{escape(shape.path)}"><title>{escape(shape.label)}</title></path>'


def colour_of(index: int) -> int:
    """Return the number of the colour of a series, from 1."""
    return index % COLOURS + 1


def line_path(points: list[tuple[float, float] | None]) -> str:
    """Return the path of a line through points; None interrupts it."""
    parts = []
    pen_is_down = False
    for point in points:
        if point is None:
            pen_is_down = False
            continue
        parts.append(f"{'L' if pen_is_down else 'M'}{point[0]:.1f} {point[1]:.1f}")
        pen_is_down = True
    return "".join(parts)


def bar_path(*, left: float, width: float, start: float, end: float) -> str:
    """Return the path of an upright rectangle from one height to another."""
    return f"M{left:.1f} {start:.1f}h{width:.1f}V{end:.1f}h{-width:.1f}z"


def dot_path(*, x: float, y: float, radius: float) -> str:
    """Return the path of a disc around a point."""
    across = 2 * radius
    return (
        f"M{x - radius:.1f} {y:.1f}"
        f"a{radius} {radius} 0 1 0 {across} 0a{radius} {radius} 0 1 0 {-across} 0z"
    )


def slice_path(
    *, start: float, share: float, centre: tuple[float, float], radii: tuple[float, float]
) -> str:
    """Return the path of a piece of a ring, clockwise from twelve.

    Args:
        start: Beginning, as a share of the whole circle.
        share: Share of the circle that it takes.
        centre: x and y.
        radii: Inner and outer; an inner radius of 0 makes a piece of a pie.
    """
    share = min(share, 0.99999)  # an arc that ends where it began would not be drawn
    inner, outer = radii
    large = int(share > 0.5)
    a, b = _on_circle(centre, outer, start), _on_circle(centre, outer, start + share)
    c, d = _on_circle(centre, inner, start + share), _on_circle(centre, inner, start)
    back = f"A{inner:.1f} {inner:.1f} 0 {large} 0 {d}" if inner else ""
    return f"M{a}A{outer:.1f} {outer:.1f} 0 {large} 1 {b}L{c}{back}z"


def _on_circle(centre: tuple[float, float], radius: float, share: float) -> str:
    angle = 2 * pi * share
    return f"{centre[0] + radius * sin(angle):.2f} {centre[1] - radius * cos(angle):.2f}"
