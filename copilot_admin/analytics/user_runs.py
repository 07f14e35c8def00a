"""Counts of single users from their requests: rollups have no rows for each user, hour and model."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q

from copilot_admin.analytics.metrics import Counts, add_counts
from copilot_admin.analytics.periods import Period, Span
from copilot_admin.analytics.rollups import Groups, Scope
from copilot_admin.models import Feedback, FeedbackSource, Outcome, Run
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.store.rollups import RUN_COLUMNS, number_run


@dataclass(slots=True)
class RunSource:
    """Reads the counts of some users like `RollupSource`, from the requests that are still stored."""

    scope: Scope
    _read: dict[Span, list[Any]] = field(default_factory=dict)
    _votes: dict[int, int] = field(default_factory=dict)

    def total(self, span: Span) -> Counts:
        return add_counts(self._count(run) for run in self._runs(span))

    def series(self, period: Period) -> Mapping[datetime, Counts]:
        return self._group(period.now, lambda run: _slot(period, run))

    def groups(self, span: Span, *names: str) -> Groups:
        columns = ["copilot_version__number" if name == "version" else name for name in names]
        return self._group(span, lambda run: tuple(getattr(run, one) or 0 for one in columns))

    def costs_by_model(self, period: Period) -> Mapping[tuple[datetime, str], float]:
        found = self._group(period.now, lambda run: (_slot(period, run), run.model))
        return {key: float(counts["cost"]) for key, counts in found.items()}

    def errors(self, period: Period) -> Mapping[tuple[datetime, str], int]:
        found = self._group(period.now, lambda run: (_slot(period, run), run.error_code))
        return {key: int(counts["runs"]) for key, counts in found.items() if key[1]}

    def users(self, period: Period) -> tuple[int | None, Mapping[datetime, int]]:
        users: dict[datetime, set[int]] = {}
        for run in self._runs(period.now):
            if run.outcome != Outcome.REFUSED:
                users.setdefault(_slot(period, run), set()).add(run.user_id)
        return len(set().union(*users.values())), {at: len(one) for at, one in users.items()}

    def users_before(self, span: Span) -> int | None:
        runs = self._runs(span)
        return len({run.user_id for run in runs if run.outcome != Outcome.REFUSED})

    def users_by_copilot(self, span: Span) -> Mapping[int, int]:
        pairs = {(run.copilot_id, run.user_id) for run in self._runs(span)}
        return Counter(copilot for copilot, _user in pairs)

    def _group(self, span: Span, key: Any) -> dict[Any, Counts]:
        found: dict[Any, list[Counts]] = {}
        for run in self._runs(span):
            found.setdefault(key(run), []).append(self._count(run))
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
            rows = runs.order_by().values_list(*RUN_COLUMNS, "turn_id", named=True)
            self._read[span] = list(rows)
            votes = Feedback.objects.filter(
                source=FeedbackSource.END_USER, turn__in=runs.order_by().values("turn")
            )
            self._votes.update(votes.values_list("turn_id", "value"))
        return self._read[span]


def _slot(period: Period, run: Any) -> datetime:
    return period.slot_of(run.started_at.astimezone(UTC))
