"""Figures of users, counted over their requests: the rollups have no rows for each user.

What of somebody's requests is not kept any more is not in them. The database counts; what comes is a
row for each hour, copilot, version and model in which he asked.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, TypeAlias, TypeVar

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncHour

from copilot_admin.analytics.figures import (
    Counts,
    Figures,
    FiguresPart,
    in_steps,
    marked,
    most_asked,
    most_frequent,
    with_copilots,
)
from copilot_admin.analytics.periods import FiguresPeriod, Span
from copilot_admin.models import FeedbackSource, Outcome, Run, Verdict
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.models.usage import TTFT_COLUMNS, TTFT_LIMITS
from copilot_admin.transcripts.store.rollups import ERRORS

Key: TypeAlias = tuple[datetime, int, int, str]  # an hour, a copilot, a version, a model
Rows: TypeAlias = Iterable[tuple[Key, Counts]]
T = TypeVar("T")

_BEGINS_TURN = Q(turn__started_at=F("started_at"))
_BEGINS_TALK = Q(conversation__first_at=F("started_at"))
# Where nothing is kept of a question, each request counts as one.
_IS_QUESTION = _BEGINS_TURN | (Q(turn=None) & ~Q(outcome=Outcome.REFUSED))


def figures_of_users(
    period: FiguresPeriod, users: Collection[int], copilots: Sequence[int] | None = None
) -> Figures:
    """The figures of what some users asked.

    Args:
        period: Now, and with what it is compared.
        users: Ids of their rows.
        copilots: Ids; None: all.
    """
    asked = _Asked(users, copilots)
    now, before = asked.counted(period.now), asked.counted(period.before)
    models = _by(now, lambda key: key[3])
    versions = _by(now, lambda key: (key[1], key[2]))
    steps = _by(now, lambda key: period.step_of(key[0]))
    return Figures(
        period=period,
        now=sum(now.values(), Counts()),
        before=sum(before.values(), Counts()),
        series=in_steps(period, steps),
        people=len(asked.people(period.now)),
        people_before=len(asked.people(period.before)),
        people_of={} if period.is_hourly else asked.people_of(period),
        errors=most_frequent(asked.errors(period.now), asked.errors(period.before)),
        marks=marked(asked.marks(period.now), asked.marks(period.before)),
        models=most_asked(
            [FiguresPart(model=name, counts=counts) for name, counts in models.items()]
        ),
        versions=with_copilots(versions.items()),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What some users asked of some copilots; `copilots` None: of all."""

    users: Collection[int]
    copilots: Sequence[int] | None

    def counted(self, span: Span) -> Mapping[Key, Counts]:
        """Requests, thumbs and verdicts."""
        found: dict[Key, Counts] = defaultdict(Counts)
        for rows in (self._requests(span), self._thumbs(span), self._verdicts(span)):
            for key, counts in rows:
                found[key] += counts
        return found

    def people(self, span: Span) -> set[int]:
        """The ids of the users of the group who asked in a span."""
        rows = self._runs(span).exclude(outcome=Outcome.REFUSED)
        return set(rows.values_list("user_id", flat=True).distinct())

    def people_of(self, period: FiguresPeriod) -> Mapping[date, int]:
        """How many of them asked on each day, or in each week."""
        rows = self._runs(period.now).exclude(outcome=Outcome.REFUSED)
        hours = rows.annotate(hour=TruncHour("started_at", tzinfo=UTC))
        days: dict[date, set[int]] = defaultdict(set)
        for hour, user in hours.values_list("hour", "user_id").distinct():
            days[period.step_of(hour).date()].add(user)
        return {day: len(people) for day, people in days.items()}

    def errors(self, span: Span) -> Mapping[str, int]:
        """How often each kind of error came."""
        rows = self._runs(span).exclude(error_code="").values_list("error_code")
        return dict(rows.annotate(number=Sum("times")))

    def marks(self, span: Span) -> Mapping[int, tuple[int, int]]:
        """How often each label and score was given, and the sum of the scores."""
        found: dict[int, tuple[int, int]] = {}
        for runs, verdicts in self._judged(span):
            mark = f"{verdicts}__marks"
            rows = runs.exclude(**{f"{mark}__criterion": None}).values_list(f"{mark}__criterion")
            for pk, number, total in rows.annotate(Count(mark), Sum(f"{mark}__value")):
                before = found.get(pk, (0, 0))
                found[pk] = (before[0] + number, before[1] + (total or 0))
        return {pk: sums for pk, sums in found.items() if sums[0]}

    def _requests(self, span: Span) -> Rows:
        for row in _sliced(self._runs(span)).annotate(**_SUMS):
            yield _key(row), Counts({name: row[_SUM + name] or 0 for name in _MEASURES})

    def _thumbs(self, span: Span) -> Rows:
        value = "turn__feedback__value"
        by_users = Q(turn__feedback__source=FeedbackSource.END_USER)
        first = self._runs(span).filter(_BEGINS_TURN, by_users)
        for row in _sliced(first, value).annotate(number=Count("pk")):
            yield _key(row), Counts({"up" if row[value] > 0 else "down": row["number"]})

    def _verdicts(self, span: Span) -> Rows:
        for runs, verdicts in self._judged(span):
            rating = f"{verdicts}__rating"
            for row in _sliced(runs, rating).annotate(number=Count("pk")):
                yield _key(row), Counts({row[rating]: row["number"]})

    def _judged(self, span: Span) -> Iterable[tuple[QuerySet[Run], str]]:
        runs = self._runs(span)
        yield runs.filter(_BEGINS_TURN, turn__verdicts__isnull=False), "turn__verdicts"
        of_talks = Verdict.objects.filter(turn=None).order_by()
        judged = runs.filter(_BEGINS_TALK, conversation__verdicts__in=of_talks)
        yield judged, "conversation__verdicts"

    def _runs(self, span: Span) -> QuerySet[Run]:
        of = Q() if self.copilots is None else Q(copilot__in=self.copilots)
        runs = Run.objects.filter(
            of,
            user__in=self.users,
            started_at__gte=span.first,
            started_at__lt=span.end,
        )
        tried = Q(principal__startswith=PLAYGROUND)
        return runs.exclude(outcome=Outcome.RUNNING).exclude(tried).order_by()


def _sliced(runs: QuerySet[Run], *more: str) -> "QuerySet[Any]":
    hour = TruncHour("started_at", tzinfo=UTC)
    rows = runs.annotate(hour=hour, version=F("copilot_version__number"))
    sliced: QuerySet[Any] = rows.values("hour", "copilot_id", "version", "model", *more)
    return sliced


def _key(row: Mapping[str, Any]) -> Key:
    return row["hour"], row["copilot_id"], row["version"] or 0, row["model"]


def _by(rows: Mapping[Key, Counts], part: Callable[[Key], T]) -> dict[T, Counts]:
    found: dict[T, Counts] = defaultdict(Counts)
    for key, counts in rows.items():
        found[part(key)] += counts
    return found


def _measures() -> Mapping[str, Any]:
    whats = {
        "runs": Q(),
        "questions": _IS_QUESTION,
        "conversations": _BEGINS_TALK,
        "errors": Q(outcome__in=ERRORS),
        "unpriced": Q(cost=None),
        **{str(one): Q(outcome=one) for one in Outcome if one is not Outcome.RUNNING},
        **_steps(),
    }
    sums = {name: Sum("times", filter=what) for name, what in whats.items()}
    return {**sums, "tokens": Sum(F("input_tokens") + F("output_tokens")), "cost": Sum("cost")}


def _steps() -> Mapping[str, Q]:
    ends = zip(TTFT_COLUMNS, (-1, *TTFT_LIMITS), (*TTFT_LIMITS, None), strict=True)
    return {
        name: Q(ttft_ms__gt=low) & (Q() if high is None else Q(ttft_ms__lte=high))
        for name, low, high in ends
    }


_SUM = "sum_"  # before the names of sums: some are those of columns
_MEASURES = _measures()
_SUMS = {_SUM + name: measure for name, measure in _MEASURES.items()}
