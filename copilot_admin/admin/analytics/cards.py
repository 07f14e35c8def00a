"""Cards of the analytics page: key figures and charts along the time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.utils.formats import date_format
from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.analytics.charts import Chart, ChartKind, Series, draw_chart, sparkline
from copilot_admin.admin.analytics.formats import compare, format_axis, format_value, split_value
from copilot_admin.admin.analytics.scope import AnalyticsScope
from copilot_admin.analytics import metrics
from copilot_admin.analytics.metrics import Counts, Metric, Unit, add_counts
from copilot_admin.analytics.periods import Resolution, Span

NOTHING = gettext_lazy("Nothing to show in this period.")
MAX_SERIES = 5  # of a chart; the rest is one more
SLOTS = {  # heading of the slots
    Resolution.HOUR: gettext_lazy("Hour (UTC)"),
    Resolution.DAY: gettext_lazy("Day (UTC)"),
    Resolution.WEEK: gettext_lazy("Week from (UTC)"),
}
Aggregate = Callable[[Counts], float | None]


class Report:
    def __init__(self, scope: AnalyticsScope) -> None:
        self.scope, self.period, self.source = scope, scope.period, scope.source
        users, by_slot = (
            self.source.count_users(self.period.now),
            self.source.users_by_slot(self.period),
        )
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
        return self.source.total(span).with_users(self.source.count_users(span))

    def key_figures(self) -> list[dict[str, Any]]:
        figures = []
        for metric in metrics.KEY_METRICS:
            now = metric.aggregate(self.now)
            before = metric.aggregate(self.before) if self.scope.is_compared else None
            number, unit = split_value(metric.unit, now)
            figures.append(
                {
                    "metric": metric,
                    "number": number,
                    "unit": unit,
                    "spark": sparkline(self.values(metric.aggregate)),
                    "delta": compare(metric, now, before),
                    "before": format_value(metric.unit, before),
                }
            )
        return figures

    def values(self, aggregate: Aggregate) -> list[float | None]:
        return [aggregate(counts) for _span, counts in self.series]

    def ranked(
        self, found: Mapping[tuple[datetime, str], float], name: Callable[[str], str]
    ) -> list[Series]:
        """Return a series for each of the largest names, and one for all others."""
        totals: dict[str, float] = {}
        for (_slot, key), value in found.items():
            totals[key] = totals.get(key, 0) + value
        keys = sorted((key for key in totals if totals[key]), key=lambda key: (-totals[key], key))
        slots = [span.first for span, _counts in self.series]
        series = [
            Series(name(key), [found.get((slot, key), 0) for slot in slots])
            for key in keys[:MAX_SERIES]
        ]
        if rest := keys[MAX_SERIES:]:
            values = [sum(found.get((slot, key), 0) for key in rest) for slot in slots]
            series.append(Series(_("Other"), values, "ca-s6"))
        return series


@dataclass(frozen=True, slots=True)
class ChartCard:
    key: str
    title: str | Promise
    kind: ChartKind
    read: Callable[[Report], list[Series]]
    unit: Unit = Unit.NUMBER
    empty: str | Promise = NOTHING


def _each(*found: tuple[Metric, str]) -> Callable[[Report], list[Series]]:
    """Return the reader of series with a metric and a color each."""
    return lambda report: [
        Series(str(metric.short or metric.label), report.values(metric.aggregate), color)
        for metric, color in found
    ]


def _column(label: str | Promise, name: str) -> Metric:
    return Metric(key=name, label=label, aggregate=lambda counts: float(counts[name]))


INPUT_TOKENS = Metric(
    key="input_tokens",
    label=gettext_lazy("In"),
    aggregate=lambda counts: float(counts["tokens"]) - float(counts["output_tokens"]),
)


def _read_users(report: Report) -> list[Series]:
    read = _each((metrics.QUESTIONS, "ca-s1"), (metrics.USERS, "ca-s2"))
    return [one for one in read(report) if any(value is not None for value in one.values)]


def _read_costs(report: Report) -> list[Series]:
    found = report.source.costs_by_model(report.period)
    return report.ranked(found, lambda model: model or _("No model"))


def name_error(code: str) -> str:
    """Return a class name or code as words: `ProviderBusy` is "Provider busy"."""
    words = "".join(f" {one}" if one.isupper() else one for one in code.replace("-", " "))
    return words.strip().capitalize()


CHARTS: Sequence[ChartCard] = (
    ChartCard("questions", gettext_lazy("Questions and users"), ChartKind.AREA, _read_users),
    ChartCard(
        "feedback",
        gettext_lazy("Feedback"),
        ChartKind.BARS,
        _each((metrics.UP, "ca-s-good"), (metrics.DOWN, "ca-s-bad")),
        empty=gettext_lazy("No feedback in this period."),
    ),
    ChartCard(
        "latency",
        gettext_lazy("Time to first words"),
        ChartKind.LINE,
        _each((metrics.P50, "ca-s1"), (metrics.P95, "ca-s3")),
        unit=Unit.SECONDS,
    ),
    ChartCard(
        "errors",
        gettext_lazy("Errors by kind"),
        ChartKind.BARS,
        lambda report: report.ranked(report.source.errors(report.period), name_error),
        empty=gettext_lazy("No errors in this period."),
    ),
    ChartCard(
        "cost",
        gettext_lazy("Cost by model"),
        ChartKind.BARS,
        _read_costs,
        unit=Unit.DOLLARS,
        empty=gettext_lazy("No costs in this period. Costs need prices of the models."),
    ),
    ChartCard(
        "tokens",
        gettext_lazy("Tokens"),
        ChartKind.BARS,
        _each((INPUT_TOKENS, "ca-s5"), (_column(gettext_lazy("Out"), "output_tokens"), "ca-s4")),
    ),
    ChartCard(
        "outcomes",
        gettext_lazy("Incomplete answers"),
        ChartKind.BARS,
        _each(
            (_column(gettext_lazy("Failed"), "errors"), "ca-s-bad"),
            (_column(gettext_lazy("Truncated"), "truncated"), "ca-s3"),
            (_column(gettext_lazy("Cancelled"), "cancelled"), "ca-s6"),
            (_column(gettext_lazy("Rejected by a limit"), "refused"), "ca-s4"),
        ),
        empty=gettext_lazy("All answers are complete."),
    ),
    ChartCard(
        "reviews",
        gettext_lazy("Reviews"),
        ChartKind.BARS,
        _each(
            (_column(gettext_lazy("Good"), "good"), "ca-s-good"),
            (_column(gettext_lazy("Mixed"), "mixed"), "ca-s-warn"),
            (_column(gettext_lazy("Bad"), "bad"), "ca-s-bad"),
        ),
        empty=gettext_lazy("No reviews in this period."),
    ),
)


def draw(card: ChartCard, report: Report) -> Chart:
    slots = [span.first for span in report.period.slots]
    full, short = ("H:i", "H:i") if report.period.is_hourly else ("D j M Y", "j M")
    series = card.read(report)
    return draw_chart(
        card.kind,
        [date_format(at, full) for at in slots],
        series,
        label=f"{card.title}: {', '.join(one.label for one in series)}",
        column=str(SLOTS[report.period.resolution]),
        format_value=partial(format_value, card.unit),
        format_axis=partial(format_axis, card.unit),
        short_slots=[date_format(at, short) for at in slots],
        is_whole=card.unit is Unit.NUMBER,
    )


def chart_rows(card: ChartCard, report: Report) -> list[list[Any]]:
    series = card.read(report)
    form = "%Y-%m-%dT%H:00Z" if report.period.is_hourly else "%Y-%m-%d"
    rows = [
        [span.first.strftime(form), *(one.values[place] for one in series)]
        for place, span in enumerate(report.period.slots)
    ]
    return [["time", *(one.label for one in series)], *rows]
