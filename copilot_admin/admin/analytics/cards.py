"""Cards of the analytics page: key figures, charts and tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.utils.formats import date_format
from django.utils.functional import Promise, cached_property
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.analytics.charts import Chart, ChartKind, Series, draw_chart, sparkline
from copilot_admin.admin.analytics.formats import (
    Delta,
    compare,
    format_axis,
    format_value,
    split_value,
)
from copilot_admin.admin.analytics.scope import AnalyticsScope
from copilot_admin.analytics import metrics
from copilot_admin.analytics.metrics import Counts, Metric, Unit, add_counts
from copilot_admin.analytics.periods import Resolution, Span

NOTHING = gettext_lazy("Nothing to show in this period.")
MAX_SERIES = 5  # of a chart; the rest is one more


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigure:
    """A metric of the whole period."""

    metric: Metric
    number: str
    unit: str
    spark: SafeString
    delta: Delta | None
    before: str


class Report:
    """The counts of a scope, read once for all cards."""

    def __init__(self, scope: AnalyticsScope) -> None:
        self.scope, self.period, self.source = scope, scope.period, scope.source
        users, by_slot = self.source.users(self.period)
        found = self.source.series(self.period)
        has_users = users is not None and not self.period.is_hourly
        self.series: list[tuple[Span, Counts]] = [
            (
                span,
                found.get(span.first, Counts()).with_users(
                    by_slot.get(span.first, 0) if has_users else None
                ),
            )
            for span in self.period.slots
        ]
        self.now = add_counts(counts for _span, counts in self.series).with_users(users)

    @cached_property
    def before(self) -> Counts:
        span = self.period.before
        return self.source.total(span).with_users(self.source.users_before(span))

    def key_figures(self) -> list[KeyFigure]:
        return [self._key_figure(metric) for metric in metrics.KEY_METRICS]

    def _key_figure(self, metric: Metric) -> KeyFigure:
        now = metric.aggregate(self.now)
        before = metric.aggregate(self.before) if self.scope.is_compared else None
        number, unit = split_value(metric.unit, now)
        return KeyFigure(
            metric=metric,
            number=number,
            unit=unit,
            spark=sparkline(self.values(metric.aggregate)),
            delta=compare(metric, now, before),
            before=format_value(metric.unit, before),
        )

    def values(self, aggregate: Callable[[Counts], float | None]) -> list[float | None]:
        return [aggregate(counts) for _span, counts in self.series]

    def ranked(
        self, found: Mapping[tuple[datetime, str], float], name: Callable[[str], str]
    ) -> list[Series]:
        """Return a series for each of the largest names, and one for all others."""
        totals: dict[str, float] = {}
        for (_slot, key), value in found.items():
            totals[key] = totals.get(key, 0) + value
        keys = sorted((key for key in totals if totals[key]), key=lambda key: (-totals[key], key))
        series = [
            Series(name(key), [found.get((span.first, key), 0) for span, _ in self.series])
            for key in keys[:MAX_SERIES]
        ]
        if rest := keys[MAX_SERIES:]:
            values = [
                sum(found.get((span.first, key), 0) for key in rest) for span, _ in self.series
            ]
            series.append(Series(_("Other"), values, "ca-s6"))
        return series


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartCard:
    """A chart along the time; `draw` returns its series."""

    key: str
    title: str | Promise
    kind: ChartKind
    draw: Callable[[Report], list[Series]]
    unit: Unit = Unit.NUMBER
    empty: str | Promise = NOTHING


def _counted(*found: tuple[Metric, str]) -> Callable[[Report], list[Series]]:
    return lambda report: [
        Series(str(metric.label), report.values(metric.aggregate), color) for metric, color in found
    ]


def _columns(*found: tuple[str, str | Promise, str]) -> Callable[[Report], list[Series]]:
    def values(report: Report, name: str) -> list[float | None]:
        return [float(counts[name]) for _span, counts in report.series]

    return lambda report: [
        Series(str(label), values(report, name), color) for name, label, color in found
    ]


def _draw_tokens(report: Report) -> list[Series]:
    written = [float(counts["output_tokens"]) for _span, counts in report.series]
    read = [
        float(counts["tokens"]) - out
        for (_span, counts), out in zip(report.series, written, strict=True)
    ]
    return [Series(_("In"), read, "ca-s5"), Series(_("Out"), written, "ca-s4")]


def _draw_errors(report: Report) -> list[Series]:
    return report.ranked(report.source.errors(report.period), name_error)


def _draw_costs(report: Report) -> list[Series]:
    found = report.source.costs_by_model(report.period)
    return report.ranked(found, lambda model: model or _("No model"))


def _draw_users(report: Report) -> list[Series]:
    series = _counted((metrics.QUESTIONS, "ca-s1"), (metrics.USERS, "ca-s2"))(report)
    has_users = any(value is not None for value in series[1].values)
    return series if has_users else series[:1]


def name_error(code: str) -> str:
    """Return a class name or code as words: `ProviderBusy` is "Provider busy"."""
    words = "".join(f" {one}" if one.isupper() else one for one in code.replace("-", " "))
    return words.strip().capitalize()


CHARTS: Sequence[ChartCard] = (
    ChartCard(
        key="questions",
        title=gettext_lazy("Questions and users"),
        kind=ChartKind.AREA,
        draw=_draw_users,
    ),
    ChartCard(
        key="feedback",
        title=gettext_lazy("Feedback"),
        kind=ChartKind.BARS,
        draw=_counted((metrics.UP, "ca-s-good"), (metrics.DOWN, "ca-s-bad")),
        empty=gettext_lazy("No feedback in this period."),
    ),
    ChartCard(
        key="latency",
        title=gettext_lazy("Time to first words"),
        kind=ChartKind.LINE,
        draw=lambda report: [
            Series("p50", report.values(metrics.P50.aggregate), "ca-s1"),
            Series("p95", report.values(metrics.P95.aggregate), "ca-s3"),
        ],
        unit=Unit.SECONDS,
    ),
    ChartCard(
        key="errors",
        title=gettext_lazy("Errors by kind"),
        kind=ChartKind.BARS,
        draw=_draw_errors,
        empty=gettext_lazy("No errors in this period."),
    ),
    ChartCard(
        key="cost",
        title=gettext_lazy("Cost by model"),
        kind=ChartKind.BARS,
        draw=_draw_costs,
        unit=Unit.DOLLARS,
        empty=gettext_lazy("No costs in this period. Costs need prices of the models."),
    ),
    ChartCard(key="tokens", title=gettext_lazy("Tokens"), kind=ChartKind.BARS, draw=_draw_tokens),
    ChartCard(
        key="outcomes",
        title=gettext_lazy("Incomplete answers"),
        kind=ChartKind.BARS,
        draw=_columns(
            ("errors", gettext_lazy("Failed"), "ca-s-bad"),
            ("truncated", gettext_lazy("Truncated"), "ca-s3"),
            ("cancelled", gettext_lazy("Cancelled"), "ca-s6"),
            ("refused", gettext_lazy("Rejected by a limit"), "ca-s4"),
        ),
        empty=gettext_lazy("All answers are complete."),
    ),
    ChartCard(
        key="reviews",
        title=gettext_lazy("Reviews"),
        kind=ChartKind.BARS,
        draw=_columns(
            ("good", gettext_lazy("Good"), "ca-s-good"),
            ("mixed", gettext_lazy("Mixed"), "ca-s-warn"),
            ("bad", gettext_lazy("Bad"), "ca-s-bad"),
        ),
        empty=gettext_lazy("No reviews in this period."),
    ),
)


def draw(card: ChartCard, report: Report) -> Chart:
    """Draw a chart of a report."""
    period = report.period
    spans = [span.first for span in period.slots]
    full, short = ("H:i", "H:i") if period.is_hourly else ("D j M Y", "j M")
    columns = {
        Resolution.HOUR: _("Hour (UTC)"),
        Resolution.DAY: _("Day (UTC)"),
        Resolution.WEEK: _("Week from (UTC)"),
    }
    series = card.draw(report)
    return draw_chart(
        card.kind,
        [date_format(at, full) for at in spans],
        series,
        label=f"{card.title}: {', '.join(one.label for one in series)}",
        column=columns[period.resolution],
        format_value=partial(format_value, card.unit),
        format_axis=partial(format_axis, card.unit),
        short_slots=[date_format(at, short) for at in spans],
        is_whole=card.unit is Unit.NUMBER,
    )


def chart_rows(card: ChartCard, report: Report) -> list[list[Any]]:
    """Return a chart as the rows of a file, the names of columns first."""
    series = card.draw(report)
    slots = [
        f"{span.first:%Y-%m-%dT%H:00Z}" if report.period.is_hourly else f"{span.first:%Y-%m-%d}"
        for span in report.period.slots
    ]
    values: Iterable[tuple[Any, ...]] = zip(*(one.values for one in series), strict=True)
    rows = [
        [slot, *row] for slot, row in zip(slots, list(values) or [()] * len(slots), strict=True)
    ]
    return [["time", *(one.label for one in series)], *rows]
