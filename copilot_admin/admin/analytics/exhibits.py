"""Tables of the page of figures, and the charts above them, which go along the time."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from copilot_admin.admin.analytics import tables
from copilot_admin.admin.analytics.tables import P50, P95, FiguresTable
from copilot_admin.analytics.figures import Figures
from copilot_admin.rendering.charts import DrawnChart, draw_chart
from protocol.json import JsonObject

MS_PER_SECOND = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A table, folded below a chart where it goes along the time; `key` names its file."""

    key: str
    title: str
    table: FiguresTable
    chart: DrawnChart | None = None
    note: str = ""
    is_wide: bool = False
    is_folded: bool = False


def chart_along(
    figures: Figures, kind: str, series: dict[str, Sequence[float | None]]
) -> DrawnChart | None:
    """A chart along the time; None when all of it is nothing."""
    if not any(value for values in series.values() for value in values):
        return None
    x_key = tables.time_column(figures.period)
    rows: list[JsonObject] = [
        {
            x_key: f"{span.first:%H}:00" if figures.period.is_hourly else f"{span.first:%m-%d}",
            **{name: values[place] for name, values in series.items()},
        }
        for place, (span, _counts) in enumerate(figures.series)
    ]
    params: JsonObject = {"chartType": kind, "xKey": x_key, "yKey": list(series)}
    return draw_chart(params, rows, from_zero=True)


def along(figures: Figures, name: str) -> list[float | None]:
    """A figure at each point of the time."""
    return [float(counts[name]) for _span, counts in figures.series]


def speed_chart(figures: Figures) -> DrawnChart | None:
    """How long it took until the first token, along the time."""

    def waited(part: float) -> list[float | None]:
        found = (counts.first_token(part) for _span, counts in figures.series)
        return [None if one is None else one.ms / MS_PER_SECOND for one in found]

    return chart_along(
        figures, "line", {_("p50 in seconds"): waited(P50), _("p95 in seconds"): waited(P95)}
    )
