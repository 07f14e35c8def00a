"""Figures of a period, read from the rollups alone: a constant number of queries, however much was asked.

Whole days are read from the rows of days (with all models together, but for the table of models), the
hours of a day that is cut, or shown by the hour, from those of hours.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import DateField, F, Func, Model, Q, QuerySet, Sum

from copilot_admin.analytics.figures import (
    Counts,
    Figures,
    FiguresPart,
    Marked,
    in_steps,
    marked,
    most_asked,
    most_frequent,
    with_copilots,
)
from copilot_admin.analytics.periods import FiguresPeriod, Resolution, Span
from copilot_admin.models import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    HourlyUsage,
)
from copilot_admin.transcripts.store.rollups import COUNTED

Row = TypeVar("Row", bound=Model)

_PEOPLE = (
    "WITH asked AS ({pairs}) SELECT begun, COUNT(*) FROM asked GROUP BY begun UNION ALL "
    "SELECT NULL, COUNT(*) FROM (SELECT DISTINCT principal FROM asked) people"
)
_SUMS = {f"sum_{name}": Sum(name) for name in COUNTED}


def figures_of(period: FiguresPeriod, copilots: Sequence[int] | None = None) -> Figures:
    """The figures of a period.

    Args:
        period: Now, and with what it is compared.
        copilots: Ids; None: all.
    """
    of = Q() if copilots is None else Q(copilot__in=copilots)
    series = _series(period, of)
    people, people_of = _people_of(period, of)
    return Figures(
        period=period,
        now=sum((counts for _, counts in series), Counts()),
        before=_total(period.before, of),
        series=series,
        people=people,
        people_before=_people(period.before, of),
        people_of=people_of,
        errors=_errors(period, of),
        marks=_marks(period, of),
        models=_models(period.now, of),
        versions=_versions(period.now, of),
    )


def _hours(rows: QuerySet[Row], span: Span, of: Q) -> QuerySet[Row]:
    return rows.filter(of, hour__gte=span.first, hour__lt=span.end).order_by()


def _days(rows: QuerySet[Row], span: Span, of: Q) -> QuerySet[Row]:
    return rows.filter(of, day__gte=span.first.date(), day__lt=span.end.date()).order_by()


def _by(rows: "QuerySet[Any]", *names: str) -> Iterable[tuple[tuple[Any, ...], Counts]]:
    for row in rows.values(*names).annotate(**_SUMS):
        numbers = {name: row[f"sum_{name}"] or 0 for name in COUNTED}
        yield tuple(row[name] for name in names), Counts(numbers)


def _total(span: Span, of: Q) -> Counts:
    rows = _days(DailyTotal.objects, span, of).aggregate(**_SUMS)  # type: ignore[arg-type]
    cut = Span(span.end.replace(hour=0), span.end)
    hours = _hours(HourlyUsage.objects, cut, of).aggregate(**_SUMS)  # type: ignore[arg-type]
    return Counts(
        {name: (rows[f"sum_{name}"] or 0) + (hours[f"sum_{name}"] or 0) for name in COUNTED}
    )


def _series(period: FiguresPeriod, of: Q) -> list[tuple[Span, Counts]]:
    if period.is_hourly:
        hours = _by(_hours(HourlyUsage.objects.all(), period.now, of), "hour")
        return in_steps(period, {key[0]: counts for key, counts in hours})
    days = _by(_begun(_days(DailyTotal.objects.all(), period.now, of), period), "begun")
    return in_steps(period, {_start(period, key[0]): counts for key, counts in days})


def _begun(rows: "QuerySet[Any]", period: FiguresPeriod) -> "QuerySet[Any]":
    begun = _WeekOf("day") if period.resolution is Resolution.WEEK else F("day")
    found: QuerySet[Any] = rows.annotate(begun=begun)
    return found


class _WeekOf(Func):
    """The Monday of a day, counted from one.

    Django's calls Python for each row of SQLite (4 us), and makes a time of it for PostgreSQL (1 us).
    """

    template = "(DATE '2001-01-01' + (%(expressions)s - DATE '2001-01-01') / 7 * 7)"
    output_field = DateField()

    def as_sqlite(self, compiler: Any, connection: Any, **options: Any) -> Any:
        """As SQLite counts: to the next Sunday, or this, and six days back."""
        template = "DATE(%(expressions)s, 'weekday 0', '-6 days')"
        return self.as_sql(compiler, connection, template=template, **options)


def _start(period: FiguresPeriod, day: date) -> datetime:
    return period.step_of(datetime.combine(day, time.min, period.now.first.tzinfo))


def _callers(span: Span, of: Q) -> QuerySet[CallerDay]:
    whole = Q(day__gte=span.first.date(), day__lt=span.end.date())
    cut = Q(day=span.end.date(), first_hour__lt=span.end.hour)
    return CallerDay.objects.filter(of, whole | cut).order_by()


def _people(span: Span, of: Q) -> int:
    return _callers(span, of).values("principal").distinct().count()


def _people_of(period: FiguresPeriod, of: Q) -> tuple[int, Mapping[date, int]]:
    """How many asked in all, and on each day or in each week.

    PostgreSQL sorts all rows for a COUNT(DISTINCT), those of a quarter for a quarter of a second; what is
    distinct already is counted by hashes, and all of it once.
    """
    if period.is_hourly:
        return _people(period.now, of), {}
    rows = _begun(_callers(period.now, of), period).values("begun", "principal").distinct()
    try:
        pairs, parameters = rows.query.sql_with_params()
    except EmptyResultSet:  # of no copilots
        return 0, {}
    with connections[rows.db].cursor() as cursor:
        cursor.execute(_PEOPLE.format(pairs=pairs), parameters)
        found = dict(cursor.fetchall())
    people = found.pop(None)
    days = (
        (date.fromisoformat(one) if isinstance(one, str) else one, number)
        for one, number in found.items()
    )
    return people, {_start(period, day).date(): number for day, number in days}


def _errors(period: FiguresPeriod, of: Q) -> list[tuple[str, int, int]]:
    def counted(span: Span) -> dict[str, int]:
        rows = _hours(ErrorUsage.objects.all(), span, of).values_list("code")
        return dict(rows.annotate(times=Sum("number")).filter(times__gt=0))

    return most_frequent(counted(period.now), counted(period.before))


def _marks(period: FiguresPeriod, of: Q) -> list[Marked]:
    def counted(span: Span) -> dict[int, tuple[int, int]]:
        rows = _hours(CriterionUsage.objects.all(), span, of).values_list("criterion")
        sums = rows.annotate(times=Sum("number"), points=Sum("total"))
        return {pk: (times, points) for pk, times, points in sums if times}

    return marked(counted(period.now), counted(period.before))


def _models(span: Span, of: Q) -> list[FiguresPart]:
    rows = _by(_days(DailyUsage.objects.all(), span, of), "model")
    return most_asked([FiguresPart(model=key[0], counts=counts) for key, counts in rows])


def _versions(span: Span, of: Q) -> list[FiguresPart]:
    return with_copilots(_by(_days(DailyTotal.objects.all(), span, of), "copilot_id", "version"))
