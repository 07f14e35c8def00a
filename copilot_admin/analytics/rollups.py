"""Counts of a period from the rollups: a constant number of queries, however much was asked.

Whole days are read from the rows of days, hours of a partial or single day from those of hours.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import DateField, F, Func, Q, QuerySet, Sum

from copilot_admin.analytics.metrics import Counts, add_counts
from copilot_admin.analytics.periods import Period, Resolution, Span
from copilot_admin.models import (
    CallerDay,
    Criterion,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    Feedback,
    FeedbackSource,
    HourlyUsage,
    Outcome,
    Run,
    ToolUsage,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.store.rollups import (
    CALLER_COUNTED,
    COUNTED,
    ERRORS,
    RUN_COLUMNS,
    number_run,
)

MAX_ROWS = 200  # of tables
_SUMS = {f"sum_{name}": Sum(name) for name in COUNTED}
# PostgreSQL sorts all rows for a COUNT(DISTINCT); rows that are distinct already are hashed.
_USERS = (
    "WITH asked AS ({pairs}) SELECT begun, COUNT(*) FROM asked GROUP BY begun UNION ALL "
    "SELECT NULL, COUNT(*) FROM (SELECT DISTINCT principal FROM asked) people"
)
_USERS_BY_COPILOT = "SELECT copilot_id, COUNT(*) FROM ({pairs}) asked GROUP BY copilot_id"

Groups = dict[tuple[Any, ...], Counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Part of the traffic by ids of copilots and users; None and empty values mean all.

    `version` 0 is the version of requests that no version answered.
    """

    copilots: Sequence[int] | None = None
    version: int | None = None
    model: str = ""
    users: Sequence[int] | None = None

    @property
    def of_copilots(self) -> Q:
        return Q() if self.copilots is None else Q(copilot__in=self.copilots)

    @property
    def is_partial(self) -> bool:
        """True if callers and kinds of errors can't be read from rollups."""
        return self.version is not None or bool(self.model)

    @property
    def condition(self) -> Q:
        found = self.of_copilots
        if self.version is not None:
            found &= Q(version=self.version)
        return found & Q(model=self.model) if self.model else found


@dataclass(frozen=True, slots=True)
class RollupSource:
    """Reads the counts of a scope without users."""

    scope: Scope

    def total(self, span: Span) -> Counts:
        cut = Span(span.end.replace(hour=0), span.end)
        hours = _hours(HourlyUsage.objects.filter(self.scope.condition), cut)
        rows = (_days(self._daily(), span), hours)
        return add_counts(_counts(one.aggregate(**_SUMS), COUNTED) for one in rows)

    def series(self, period: Period) -> Mapping[datetime, Counts]:
        """Return the counts of each slot that has any, by its begin."""
        if period.is_hourly:
            rows = HourlyUsage.objects.filter(self.scope.condition)
            return {key[0]: one for key, one in _group(_hours(rows, period.now), ("hour",)).items()}
        found = _group(_with_begin(_days(self._daily(), period.now), period), ("begun",))
        return {_slot(period, key[0]): counts for key, counts in found.items()}

    def groups(self, span: Span, *names: str) -> Groups:
        """Return the counts by some of `copilot_id`, `version` and `model`."""
        by_model = DailyUsage.objects.filter(self.scope.condition)
        return _group(_days(by_model if "model" in names else self._daily(), span), names)

    def costs_by_model(self, period: Period) -> Mapping[tuple[datetime, str], float]:
        rows: QuerySet[Any]
        if period.is_hourly:
            name, rows = "hour", _hours(HourlyUsage.objects.all(), period.now)
        else:
            name, rows = "begun", _with_begin(_days(DailyUsage.objects.all(), period.now), period)
        sums = rows.filter(self.scope.condition).values_list(name, "model").annotate(Sum("cost"))
        return {
            (at if period.is_hourly else _slot(period, at), model): float(cost)
            for at, model, cost in sums
        }

    def errors(self, period: Period) -> Mapping[tuple[datetime, str], int]:
        """Return the number of errors by slot and kind; of a version or model, by outcome."""
        if self.scope.is_partial:
            return {
                (slot, outcome): int(counts[outcome])
                for slot, counts in self.series(period).items()
                for outcome in sorted(ERRORS)
                if counts[outcome]
            }
        errors: dict[tuple[datetime, str], int] = defaultdict(int)
        rows = _hours(ErrorUsage.objects.filter(self.scope.of_copilots), period.now)
        for hour, code, number in rows.values_list("hour", "code").annotate(Sum("number")):
            if number > 0:
                errors[period.slot_of(hour), code] += number
        return errors

    def users(self, period: Period) -> tuple[int | None, Mapping[datetime, int]]:
        """Return the number of distinct callers, in all and in each day or week."""
        if self.scope.is_partial:
            return None, {}
        if period.is_hourly:
            return self.users_before(period.now), {}
        rows = _with_begin(self._callers(period.now), period)
        found = dict(_count_pairs(rows.values("begun", "principal").distinct(), _USERS))
        total = found.pop(None, 0)
        return total, {_slot(period, date.fromisoformat(str(day))): n for day, n in found.items()}

    def users_before(self, span: Span) -> int | None:
        if self.scope.is_partial:
            return None
        return self._callers(span).values("principal").distinct().count()

    def users_by_copilot(self, span: Span) -> Mapping[int, int]:
        if self.scope.is_partial:
            return {}
        pairs = self._callers(span).values("copilot_id", "principal").distinct()
        return dict(_count_pairs(pairs, _USERS_BY_COPILOT))

    def _daily(self) -> "QuerySet[Any]":
        # Rows of all models together are fewer.
        table = DailyUsage if self.scope.model else DailyTotal
        return table.objects.filter(self.scope.condition)

    def _callers(self, span: Span) -> QuerySet[CallerDay]:
        whole = Q(day__gte=span.first.date(), day__lt=span.end.date())
        cut = Q(day=span.end.date(), first_hour__lt=span.end.hour)
        return CallerDay.objects.filter(self.scope.of_copilots, whole | cut).order_by()


def load_callers(scope: Scope, span: Span) -> list[tuple[str, Counts]]:
    """Return the callers who asked most, with their counts."""
    rows = _days(CallerDay.objects.filter(scope.of_copilots), span)
    sums = {f"sum_{name}": Sum(name) for name in CALLER_COUNTED}
    found = rows.values("principal").annotate(**sums).order_by("-sum_questions", "principal")
    return [(row["principal"], _counts(row, CALLER_COUNTED)) for row in found[:MAX_ROWS]]


def load_tools(scope: Scope, span: Span, kinds: Iterable[str]) -> list[tuple[str, str, int]]:
    """Return kind, name and number of the tools that were called most."""
    rows = _days(ToolUsage.objects.filter(scope.of_copilots, kind__in=list(kinds)), span)
    found = rows.values_list("kind", "name").annotate(calls=Sum("number"))
    return list(found.filter(calls__gt=0).order_by("-calls", "name")[:MAX_ROWS])


def load_marks(scope: Scope, span: Span) -> list[tuple[Criterion, int, int]]:
    """Return each label or score that reviewers gave, how often, and the sum of the scores."""
    rows = _hours(CriterionUsage.objects.filter(scope.of_copilots), span)
    sums = rows.values_list("criterion").annotate(Sum("number"), Sum("total"))
    found = {pk: (number, total) for pk, number, total in sums if number}
    return [(one, *found[one.pk]) for one in Criterion.objects.filter(pk__in=found)]


def _hours(rows: "QuerySet[Any]", span: Span) -> "QuerySet[Any]":
    return rows.filter(hour__gte=span.first, hour__lt=span.end).order_by()


def _days(rows: "QuerySet[Any]", span: Span) -> "QuerySet[Any]":
    return rows.filter(day__gte=span.first.date(), day__lt=span.end.date()).order_by()


def _group(rows: "QuerySet[Any]", names: Sequence[str]) -> Groups:
    found = rows.values(*names).annotate(**_SUMS)
    return {tuple(row[name] for name in names): _counts(row, COUNTED) for row in found}


def _counts(row: Mapping[str, Any], names: Iterable[str]) -> Counts:
    return Counts({name: row[f"sum_{name}"] or 0 for name in names})


def _count_pairs(pairs: "QuerySet[Any]", sql: str) -> list[tuple[Any, int]]:
    try:
        inner, parameters = pairs.query.sql_with_params()
    except EmptyResultSet:  # of no copilots
        return []
    with connections[pairs.db].cursor() as cursor:
        cursor.execute(sql.format(pairs=inner), parameters)
        return list(cursor.fetchall())


class _WeekOf(Func):
    """The Monday of a day, counted from one.

    Django's own calls Python for each row of SQLite (4 us), and makes a time of it for PostgreSQL.
    """

    template = "(DATE '2001-01-01' + (%(expressions)s - DATE '2001-01-01') / 7 * 7)"
    output_field = DateField()

    def as_sqlite(self, compiler: Any, connection: Any, **options: Any) -> Any:
        template = "DATE(%(expressions)s, 'weekday 0', '-6 days')"
        return self.as_sql(compiler, connection, template=template, **options)


def _with_begin(rows: "QuerySet[Any]", period: Period) -> "QuerySet[Any]":
    begun = _WeekOf("day") if period.resolution is Resolution.WEEK else F("day")
    found: QuerySet[Any] = rows.annotate(begun=begun)
    return found


def _slot(period: Period, day: date) -> datetime:
    return period.slot_of(datetime.combine(day, time.min, period.now.first.tzinfo))


@dataclass(slots=True)
class RunSource:
    """Reads the counts of some users like `RollupSource`, from the requests that are still stored."""

    scope: Scope
    _read: dict[Span, list[Any]] = field(default_factory=dict)
    _votes: dict[int, int] = field(default_factory=dict)

    def total(self, span: Span) -> Counts:
        return add_counts(self._count(run) for run in self._runs(span))

    def series(self, period: Period) -> Mapping[datetime, Counts]:
        return self._group(period.now, lambda run: _slot_of_run(period, run))

    def groups(self, span: Span, *names: str) -> Groups:
        columns = ["copilot_version__number" if name == "version" else name for name in names]
        return self._group(span, lambda run: tuple(getattr(run, one) or 0 for one in columns))

    def costs_by_model(self, period: Period) -> Mapping[tuple[datetime, str], float]:
        found = self._group(period.now, lambda run: (_slot_of_run(period, run), run.model))
        return {key: float(counts["cost"]) for key, counts in found.items()}

    def errors(self, period: Period) -> Mapping[tuple[datetime, str], int]:
        found = self._group(period.now, lambda run: (_slot_of_run(period, run), run.error_code))
        return {key: int(counts["runs"]) for key, counts in found.items() if key[1]}

    def users(self, period: Period) -> tuple[int | None, Mapping[datetime, int]]:
        users: dict[datetime, set[int]] = defaultdict(set)
        for run in self._runs(period.now):
            if run.outcome != Outcome.REFUSED:
                users[_slot_of_run(period, run)].add(run.user_id)
        return len(set().union(*users.values())), {at: len(one) for at, one in users.items()}

    def users_before(self, span: Span) -> int | None:
        runs = self._runs(span)
        return len({run.user_id for run in runs if run.outcome != Outcome.REFUSED})

    def users_by_copilot(self, span: Span) -> Mapping[int, int]:
        pairs = {(run.copilot_id, run.user_id) for run in self._runs(span)}
        return Counter(copilot for copilot, _user in pairs)

    def _group(self, span: Span, key: Any) -> dict[Any, Counts]:
        found: dict[Any, list[Counts]] = defaultdict(list)
        for run in self._runs(span):
            found[key(run)].append(self._count(run))
        return {name: add_counts(counts) for name, counts in found.items()}

    def _count(self, run: Any) -> Counts:
        numbers = number_run(run)
        vote = self._votes.get(run.turn_id, 0) if run.started_at == run.turn__started_at else 0
        counts = {name: run.times * number for name, number in numbers.items()}
        return Counts({**counts, "up": int(vote > 0), "down": int(vote < 0)})

    def _runs(self, span: Span) -> list[Any]:
        if span not in self._read:
            wanted = self.scope.of_copilots & Q(user__in=self.scope.users)
            if self.scope.version is not None:
                wanted &= Q(copilot_version__number=self.scope.version or None)
            if self.scope.model:
                wanted &= Q(model=self.scope.model)
            runs = Run.objects.filter(
                wanted, started_at__gte=span.first, started_at__lt=span.end
            ).exclude(Q(outcome=Outcome.RUNNING) | Q(principal__startswith=PLAYGROUND))
            runs = runs.order_by()
            self._read[span] = [*runs.values_list(*RUN_COLUMNS, "turn_id", named=True)]
            votes = Feedback.objects.filter(source=FeedbackSource.END_USER)
            votes = votes.filter(turn__in=runs.values("turn"))
            self._votes.update(votes.values_list("turn_id", "value"))
        return self._read[span]


def _slot_of_run(period: Period, run: Any) -> datetime:
    return period.slot_of(run.started_at.astimezone(UTC))
