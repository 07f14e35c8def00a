"""Kinds of alert rules. A new one is a measuring function and a row in `RULE_KINDS`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from statistics import median_low
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.alerts.rules import (
    UP_TO_ONE_DAY,
    AlertScope,
    AlertWindow,
    Measurement,
    RuleKind,
    Unit,
    format_value,
)
from copilot_admin.analytics.periods import HOUR, Span
from copilot_admin.errors import (
    ProviderBroke,
    ProviderBusy,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
)
from copilot_admin.models import (
    Copilot,
    DailyTotal,
    Feedback,
    FeedbackSource,
    HourlyUsage,
    Outcome,
    Run,
)
from copilot_admin.models.conversations import PLAYGROUND

Number = int | Decimal

WEEK = timedelta(days=7)
BASELINE_WEEKS = 4
MIN_BASELINE_WEEKS = 2  # a single week doesn't show what is usual
MAX_FAILING_COPILOTS = 20
MAX_RUNS_PER_COPILOT = 500
PROVIDER_FAULTS = frozenset(
    one.__name__
    for one in (ProviderBroke, ProviderBusy, ProviderRefused, ProviderTimeout, ProviderUnavailable)
)


def sum_hours(scope: AlertScope, span: Span, *names: str) -> Mapping[str, Number]:
    return _sum(HourlyUsage.objects.filter(_is_within(span), scope.select()), names)


def sum_days(scope: AlertScope, span: Span, *names: str) -> Mapping[str, Number]:
    days = Q(day__gte=span.first.date(), day__lt=span.end.date())
    return _sum(DailyTotal.objects.filter(days, scope.select()), names)


def _sum(rows: QuerySet[Any], names: Iterable[str]) -> Mapping[str, Number]:
    sums = rows.order_by().aggregate(**{f"sum_{name}": Sum(name) for name in names})
    return {name: sums[f"sum_{name}"] or 0 for name in names}


def _is_within(span: Span) -> Q:
    return Q(hour__gte=span.first, hour__lt=span.end)


def _days(span: Span) -> dict[str, str]:
    return {"since": f"{span.first:%Y-%m-%d}", "until": f"{span.last_day:%Y-%m-%d}"}


def measure_budget(scope: AlertScope, span: Span) -> Measurement:
    sums = sum_days(scope, span, "cost", "unpriced")
    cost, unpriced = Decimal(sums["cost"]), int(sums["unpriced"])
    sentence = _("Answers cost %(cost)s") % {"cost": format_value(Unit.DOLLARS, cost)}
    if unpriced:
        more = ngettext(
            "the cost of %(number)d more request is unknown",
            "the cost of %(number)d more requests is unknown",
            unpriced,
        )
        sentence = f"{sentence}; {more % {'number': unpriced}}"
    return Measurement(value=cost, sentence=sentence, query=_days(span))


def measure_error_rate(scope: AlertScope, span: Span) -> Measurement:
    sums = sum_hours(scope, span, "runs", "errors")
    runs = int(sums["runs"])
    return Measurement(
        value=Decimal(100 * sums["errors"]) / runs if runs else None,
        basis=runs,
        sentence=_("%(errors)d of %(runs)d requests ended in an error") % sums,
        query={**_days(span), "outcome": "any-failed"},
    )


def measure_failing_provider(scope: AlertScope, span: Span) -> Measurement:
    """Measure failed requests of the worst provider, in percent of those it got.

    Rollups don't know providers: the newest runs of the copilots with the most errors are read.
    """
    asked: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for copilot in _most_failing_copilots(scope, span):
        rows = Run.objects.filter(
            copilot=copilot, started_at__gte=span.first, started_at__lt=span.end
        ).order_by("-started_at")
        columns = rows.values_list("provider", "principal", "outcome", "error_code")
        for name, principal, outcome, code in columns[:MAX_RUNS_PER_COPILOT]:
            if name and outcome != Outcome.RUNNING and not principal.startswith(PLAYGROUND):
                asked[name] += 1
                failed[name] += code in PROVIDER_FAULTS
    shares = {name: Decimal(100 * failed[name]) / asked[name] for name in asked if failed[name]}
    if not shares:
        return Measurement(value=None, sentence=_("No provider failed"))
    worst = max(sorted(shares), key=lambda name: (shares[name], failed[name]))
    sentence = _("The provider %(name)s failed %(failed)d of %(asked)d requests")
    return Measurement(
        value=shares[worst],
        basis=asked[worst],
        sentence=sentence % {"name": worst, "failed": failed[worst], "asked": asked[worst]},
        query={**_days(span), "provider": worst, "outcome": "any-failed"},
    )


def _most_failing_copilots(scope: AlertScope, span: Span) -> list[int]:
    rows = HourlyUsage.objects.filter(_is_within(span), scope.select()).order_by()
    sums = rows.values_list("copilot").annotate(errors_=Sum("errors"), runs_=Sum("runs"))
    found = list(sums.order_by("-errors_", "-runs_", "copilot")[:MAX_FAILING_COPILOTS])
    return [pk for pk, _errors, _runs in found] if found and found[0][1] else []


def measure_silence(scope: AlertScope, span: Span) -> Measurement:
    """Measure questions in percent of what is usual at the same hours of earlier weeks."""
    # The current hour isn't over, so it doesn't count in earlier weeks. One statement per week:
    # over several spans at once, SQLite scans the whole table.
    weeks = [n * WEEK for n in range(1, BASELINE_WEEKS + 1)]
    earlier = [Span(span.first - week, span.end - HOUR - week) for week in weeks]
    usual = get_baseline([int(sum_hours(scope, one, "questions")["questions"]) for one in earlier])
    answering = Copilot.objects.filter(enabled=True, live__isnull=False)
    if scope.ids is not None:
        answering = answering.filter(pk__in=scope.ids)
    if not usual or not answering.exists():
        return Measurement(value=None, sentence=_("There is no usual number of questions yet"))
    asked = int(sum_hours(scope, span, "questions")["questions"])
    sentence = _("%(asked)d questions; the usual number is %(usual)d")
    return Measurement(
        value=Decimal(100 * asked) / usual,
        basis=usual,
        sentence=sentence % {"asked": asked, "usual": usual},
        query=_days(earlier[0]),
    )


def get_baseline(weeks: Sequence[int]) -> int | None:
    """Return the median of the last weeks, newest first; None while too few are known.

    A week of holidays doesn't change a median. Weeks before the first question don't count.
    """
    known = list(weeks)
    while known and not known[-1]:
        known.pop()
    return median_low(known) if len(known) >= MIN_BASELINE_WEEKS else None


def measure_thumbs_down(scope: AlertScope, span: Span) -> Measurement:
    given = Feedback.objects.filter(
        scope.select("turn__conversation__copilot"),
        source=FeedbackSource.END_USER,
        value=-1,
        created_at__gte=span.first,
        created_at__lt=span.end,
    ).order_by()
    down = given.exclude(turn__conversation__principal__startswith=PLAYGROUND).count()
    sentence = ngettext("%(number)d thumb down", "%(number)d thumbs down", down)
    return Measurement(
        value=Decimal(down), sentence=sentence % {"number": down}, query={"judged": "down"}
    )


_KINDS = (
    RuleKind(
        name="budget",
        label=gettext_lazy("Budget"),
        help=gettext_lazy("Cost of answers in US dollars, as far as prices are known."),
        unit=Unit.DOLLARS,
        measure=measure_budget,
        windows=(AlertWindow.MONTH, AlertWindow.TODAY),
        threshold=Decimal(100),
    ),
    RuleKind(
        name="error_rate",
        label=gettext_lazy("Error rate"),
        help=gettext_lazy("Requests that failed, crashed or were interrupted, in percent of all."),
        unit=Unit.PERCENT,
        measure=measure_error_rate,
        windows=UP_TO_ONE_DAY,
        threshold=Decimal(10),
        minimum=20,
        minimum_label=gettext_lazy("requests"),
    ),
    RuleKind(
        name="failing_provider",
        label=gettext_lazy("Failing provider"),
        help=gettext_lazy(
            "Requests that a provider didn't answer, rejected or cut off, in percent of those it got. "
            "The worst provider counts."
        ),
        unit=Unit.PERCENT,
        measure=measure_failing_provider,
        windows=UP_TO_ONE_DAY,
        threshold=Decimal(20),
        minimum=10,
        minimum_label=gettext_lazy("requests to it"),
    ),
    RuleKind(
        name="silence",
        label=gettext_lazy("Unusually low usage"),
        help=gettext_lazy(
            "Questions compared with the median of the same hours of the last four weeks, in percent. 0 "
            "means no questions at all."
        ),
        unit=Unit.PERCENT,
        measure=measure_silence,
        windows=(AlertWindow.THREE_HOURS, AlertWindow.ONE_HOUR, *UP_TO_ONE_DAY[2:]),
        threshold=Decimal(0),
        minimum=10,
        minimum_label=gettext_lazy("usual questions"),
        is_low_bad=True,
    ),
    RuleKind(
        name="thumbs_down",
        label=gettext_lazy("Thumbs down"),
        help=gettext_lazy("Thumbs down given within the window, whenever the question was asked."),
        unit=Unit.NUMBER,
        measure=measure_thumbs_down,
        windows=(AlertWindow.ONE_DAY, *UP_TO_ONE_DAY[:-1], AlertWindow.ONE_WEEK),
        threshold=Decimal(3),
    ),
)
RULE_KINDS: Mapping[str, RuleKind] = {one.name: one for one in _KINDS}
