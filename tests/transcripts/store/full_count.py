"""The same numbers as the rollups, counted over the whole log: slow, and nothing in common."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from copilot_admin.models import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    Feedback,
    HourlyUsage,
    Mark,
    Outcome,
    Run,
    Verdict,
)
from copilot_admin.models.usage import TTFT_COLUMNS, TTFT_LIMITS
from copilot_admin.transcripts.store.rollups import CALLER_COUNTED, count_finished_runs

Key = tuple[Any, ...]
Counts = dict[Key, Any]  # counters by key
NAMED = ("day", "hour", "copilot_id", "version", "model", "code", "criterion_id", "principal")


def rollups() -> dict[str, Counts]:
    """What stands in the rollups when all is counted; rows and columns of nothing are left out."""
    while count_finished_runs():
        pass
    models = (DailyTotal, DailyUsage, HourlyUsage, ErrorUsage, CriterionUsage, CallerDay)
    return {model.__name__: _rows(model) for model in models}


def _rows(model: Any) -> Counts:
    names = [field.attname for field in model._meta.concrete_fields if field.attname != "id"]
    counts: Counts = {}
    for row in model.objects.values(*names):
        key = tuple(row[name] for name in NAMED if name in row)
        numbers = {name: row[name] for name in names if name not in NAMED}
        found = Counter({name: number for name, number in numbers.items() if number})
        if found or model is CallerDay:
            counts[key] = found
    return counts


def full_count() -> dict[str, Counts]:
    """What ought to stand there."""
    count = _FullCount()
    runs = Run.objects.exclude(outcome=Outcome.RUNNING).exclude(principal__startswith="playground:")
    for run in runs.select_related("copilot_version").order_by("started_at", "pk"):
        count.run(run)
    for feedback in Feedback.objects.filter(turn__in=count.turns, source="end_user"):
        name = "up" if feedback.value > 0 else "down"
        count.vote(count.turns[feedback.turn_id], name)
    for verdict in Verdict.objects.all():
        count.vote(count.about(verdict), verdict.rating)
    for mark in Mark.objects.select_related("verdict"):
        count.mark(count.about(mark.verdict), mark)
    return {
        "DailyTotal": count.totals,
        "DailyUsage": count.days,
        "HourlyUsage": count.hours,
        "ErrorUsage": count.errors,
        "CriterionUsage": count.marks,
        "CallerDay": {key: +found for key, found in count.callers.items()},
    }


@dataclass
class _FullCount:
    """All that is counted; of questions and conversations the first request."""

    totals: Counts = field(default_factory=dict)
    days: Counts = field(default_factory=dict)
    hours: Counts = field(default_factory=dict)
    errors: Counts = field(default_factory=dict)
    marks: Counts = field(default_factory=dict)
    callers: Counts = field(default_factory=dict)
    turns: dict[int, Run] = field(default_factory=dict)
    talks: dict[int, Run] = field(default_factory=dict)

    def run(self, run: Run) -> None:
        hour, more = _hour(run.started_at), _of_run(run)
        if run.turn_id is None:
            more["questions"] = int(run.outcome != Outcome.REFUSED)
        elif self.turns.setdefault(run.turn_id, run) is run:
            more["questions"] = 1
        if run.conversation_id and self.talks.setdefault(run.conversation_id, run) is run:
            more["conversations"] = 1
        self._add(run, more)
        if run.error_code:
            _add(self.errors, (hour, run.copilot_id, run.error_code), Counter(number=1))
        if run.principal and run.outcome != Outcome.REFUSED:
            person = f"user:{run.user_id}" if run.user_id else run.principal
            caller: Key = (hour.date(), run.copilot_id, person)
            found = self.callers.setdefault(caller, Counter(first_hour=24))
            found["first_hour"] = min(found["first_hour"], hour.hour)
            found.update({name: more[name] for name in CALLER_COUNTED})

    def about(self, verdict: Verdict) -> Run | None:
        if verdict.turn_id is None:
            return self.talks.get(verdict.conversation_id)
        return self.turns.get(verdict.turn_id)

    def vote(self, run: Run | None, name: str) -> None:
        if run is not None:
            self._add(run, Counter({name: 1}))
            person = f"user:{run.user_id}" if run.user_id else run.principal
            caller: Key = (_hour(run.started_at).date(), run.copilot_id, person)
            if name in CALLER_COUNTED and caller in self.callers:
                self.callers[caller][name] += 1

    def mark(self, run: Run | None, mark: Mark) -> None:
        if run is not None:
            key = (_hour(run.started_at), run.copilot_id, mark.criterion_id)
            _add(self.marks, key, Counter(number=1, total=mark.value))

    def _add(self, run: Run, more: Counter[str]) -> None:
        hour = _hour(run.started_at)
        _add(self.totals, (hour.date(), *_slice(run)[:2], ""), more)
        _add(self.days, (hour.date(), *_slice(run)), more)
        _add(self.hours, (hour, *_slice(run)), more)


def _slice(run: Run) -> tuple[int, int, str]:
    version = run.copilot_version.number if run.copilot_version else 0
    return (run.copilot_id, version, run.model)


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _add(counts: Counts, key: Key, more: Counter[str]) -> None:
    counts.setdefault(key, Counter()).update(+more)


def _of_run(run: Run) -> Any:
    more: Any = Counter(runs=1, tokens=run.input_tokens + run.output_tokens)
    more["output_tokens"] = run.output_tokens
    more[run.outcome] = 1
    more["errors"] = int(run.outcome in ("failed", "crashed", "interrupted"))
    more["unpriced"] = int(run.cost is None)
    more["cost"] = run.cost or Decimal(0)
    if run.ttft_ms is not None:
        fitting = [step for step, limit in enumerate(TTFT_LIMITS) if run.ttft_ms <= limit]
        more[TTFT_COLUMNS[fitting[0] if fitting else -1]] = 1
    return more
