"""Counts of a period from the rollups: a constant number of queries, however much was asked.

Whole days are read from the rows of days, hours of a partial or single day from those of hours.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncWeek

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


class Source:
    """Reads the counts of a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def groups(self, span: Span, *names: str) -> Groups:
        """Return the counts without users, by some of `copilot_id`, `version` and `model`."""
        raise NotImplementedError

    def groups_by_slot(self, period: Period, *names: str) -> Groups:
        """Return such counts by the begin of a slot too, of each slot that has any."""
        raise NotImplementedError

    def total(self, span: Span) -> Counts:
        return add_counts(self.groups(span).values())

    def series(self, period: Period) -> Mapping[datetime, Counts]:
        return {key[0]: counts for key, counts in self.groups_by_slot(period).items()}

    def costs_by_model(self, period: Period) -> Mapping[tuple[Any, ...], float]:
        found = self.groups_by_slot(period, "model")
        return {key: float(counts["cost"]) for key, counts in found.items()}


class RollupSource(Source):
    def groups(self, span: Span, *names: str) -> Groups:
        found = _group(self._days(span, *names), names)
        if span.end.hour:
            hours = _group(self._hours(Span(span.end.replace(hour=0), span.end)), names)
            for key, counts in hours.items():
                found[key] = add_counts([found.get(key, Counts()), counts])
        return found

    def groups_by_slot(self, period: Period, *names: str) -> Groups:
        if period.is_hourly:
            return _group(self._hours(period.now), ("hour", *names))
        rows = _with_begin(self._days(period.now, *names), period)
        found = _group(rows, ("begun", *names)).items()
        return {(_slot(period, begun), *key): counts for (begun, *key), counts in found}

    def errors(self, period: Period) -> Mapping[tuple[Any, ...], int]:
        """Return the number of errors by slot and kind; of a version or model, by outcome."""
        if self.scope.is_partial:
            return {
                (slot, outcome): int(counts[outcome])
                for slot, counts in self.series(period).items()
                for outcome in sorted(ERRORS)
                if counts[outcome]
            }
        errors: dict[tuple[Any, ...], int] = defaultdict(int)
        rows = _hours(ErrorUsage.objects.filter(self.scope.of_copilots), period.now)
        for hour, code, number in rows.values_list("hour", "code").annotate(Sum("number")):
            if number > 0:
                errors[period.slot_of(hour), code] += number
        return errors

    def count_users(self, span: Span) -> int | None:
        """Return the number of distinct callers; None if it isn't counted for the scope."""
        if self.scope.is_partial:
            return None
        return self._callers(span).values("principal").distinct().count()

    def users_by_slot(self, period: Period) -> Mapping[datetime, int]:
        """Return the number of distinct callers in each day or week that has any."""
        if self.scope.is_partial or period.is_hourly:
            return {}
        found = _count_callers_by(_with_begin(self._callers(period.now), period), "begun")
        return {_slot(period, day): number for day, number in found.items()}

    def users_by_copilot(self, span: Span) -> Mapping[int, int]:
        return {} if self.scope.is_partial else _count_callers_by(self._callers(span), "copilot_id")

    def _hours(self, span: Span) -> "QuerySet[Any]":
        return _hours(HourlyUsage.objects.filter(self.scope.condition), span)

    def _days(self, span: Span, *names: str) -> "QuerySet[Any]":
        # Rows of all models together are fewer.
        table = DailyUsage if "model" in names or self.scope.model else DailyTotal
        return _days(table.objects.filter(self.scope.condition), span)

    def _callers(self, span: Span) -> QuerySet[CallerDay]:
        whole = Q(day__gte=span.first.date(), day__lt=span.end.date())
        cut = Q(day=span.end.date(), first_hour__lt=span.end.hour)
        return CallerDay.objects.filter(self.scope.of_copilots, whole | cut).order_by()


class RunSource(Source):
    """Reads the counts of some users from the requests that are still stored."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._read: dict[Span, list[Any]] = {}
        self._votes: dict[int, int] = {}

    def groups(self, span: Span, *names: str) -> Groups:
        return self._group(span, lambda run: _values(run, names))

    def groups_by_slot(self, period: Period, *names: str) -> Groups:
        return self._group(
            period.now, lambda run: (_slot_of_run(period, run), *_values(run, names))
        )

    def errors(self, period: Period) -> Mapping[tuple[Any, ...], int]:
        found = self.groups_by_slot(period, "error_code")
        return {key: int(counts["runs"]) for key, counts in found.items() if key[1]}

    def count_users(self, span: Span) -> int | None:
        return len(self._users_by(span, lambda run: run.user_id))

    def users_by_slot(self, period: Period) -> Mapping[datetime, int]:
        return self._users_by(period.now, lambda run: _slot_of_run(period, run))

    def users_by_copilot(self, span: Span) -> Mapping[int, int]:
        return self._users_by(span, lambda run: run.copilot_id)

    def _users_by(self, span: Span, key: Callable[[Any], Hashable]) -> dict[Any, int]:
        users: dict[Any, set[int]] = defaultdict(set)
        for run in self._runs(span):
            if run.outcome != Outcome.REFUSED:
                users[key(run)].add(run.user_id)
        return {name: len(some) for name, some in users.items()}

    def _group(self, span: Span, key: Callable[[Any], tuple[Any, ...]]) -> Groups:
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


def _with_begin(rows: "QuerySet[Any]", period: Period) -> "QuerySet[Any]":
    is_weekly = period.resolution is Resolution.WEEK
    found: QuerySet[Any] = rows.annotate(begun=TruncWeek("day") if is_weekly else F("day"))
    return found


def _group(rows: "QuerySet[Any]", names: Sequence[str]) -> Groups:
    # Without columns, SQL counts all rows as one group, even if there are none.
    found = rows.values(*names).annotate(**_SUMS) if names else [rows.aggregate(**_SUMS)]
    return {tuple(row[name] for name in names): _counts(row, COUNTED) for row in found}


def _counts(row: Mapping[str, Any], names: Iterable[str]) -> Counts:
    return Counts({name: row[f"sum_{name}"] or 0 for name in names})


def _count_callers_by(rows: "QuerySet[Any]", column: str) -> dict[Any, int]:
    return dict(rows.values_list(column).annotate(Count("principal", distinct=True)))


def _slot(period: Period, day: date) -> datetime:
    return period.slot_of(datetime.combine(day, time.min, UTC))


def _slot_of_run(period: Period, run: Any) -> datetime:
    return period.slot_of(run.started_at.astimezone(UTC))


def _values(run: Any, names: Iterable[str]) -> tuple[Any, ...]:
    version = run.copilot_version__number or 0
    return tuple(version if name == "version" else getattr(run, name) for name in names)
