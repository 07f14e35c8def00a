"""The same figures as the rollups, counted anew over the whole log: slow, and nothing in common."""

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from copilot_admin.models import (
    CallerDay,
    CriterionUsage,
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

Counts = dict[tuple[Any, ...], Counter[str]]
NAMED = ("day", "hour", "copilot_id", "version", "model", "code", "criterion_id", "principal")


def rollups() -> dict[str, Counts]:
    """What stands in the rollups; rows and columns of nothing are left out."""
    models = (DailyUsage, HourlyUsage, ErrorUsage, CriterionUsage, CallerDay)
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
    days: Counts = {}
    hours: Counts = {}
    errors: Counts = {}
    marks: Counts = {}
    callers: Counts = {}
    first_of_turn: dict[int, Run] = {}
    first_of_talk: dict[int, Run] = {}
    runs = Run.objects.exclude(outcome=Outcome.RUNNING).exclude(principal__startswith="playground:")
    for run in runs.select_related("copilot_version").order_by("started_at", "pk"):
        hour = _hour(run.started_at)
        more = _of_run(run)
        if run.turn_id is None:
            more["questions"] = int(run.outcome != Outcome.REFUSED)
        elif run.turn_id not in first_of_turn:
            first_of_turn[run.turn_id] = run
            more["questions"] = 1
        if run.conversation_id is not None and run.conversation_id not in first_of_talk:
            first_of_talk[run.conversation_id] = run
            more["conversations"] = 1
        _add(days, (hour.date(), *_slice(run)), more)
        _add(hours, (hour, *_slice(run)), more)
        if run.error_code:
            _add(errors, (hour, run.copilot_id, run.error_code), Counter(number=1))
        if run.principal and run.outcome != Outcome.REFUSED:
            key = (hour.date(), run.copilot_id, run.principal)
            first = callers.get(key, Counter(first_hour=24))["first_hour"]
            callers[key] = Counter({"first_hour": hour.hour} if min(first, hour.hour) else {})
            callers[key]["first_hour"] = min(first, hour.hour)
    for feedback in Feedback.objects.filter(turn__in=first_of_turn, source="end_user"):
        run, name = first_of_turn[feedback.turn_id], "up" if feedback.value > 0 else "down"
        _vote(days, hours, run, name)
    for verdict in Verdict.objects.all():
        run = _about(verdict, first_of_turn, first_of_talk)
        if run is not None:
            _vote(days, hours, run, verdict.rating)
    for mark in Mark.objects.select_related("verdict"):
        run = _about(mark.verdict, first_of_turn, first_of_talk)
        if run is not None:
            key = (_hour(run.started_at), run.copilot_id, mark.criterion_id)
            _add(marks, key, Counter(number=1, total=mark.value))
    return {
        "DailyUsage": days,
        "HourlyUsage": hours,
        "ErrorUsage": errors,
        "CriterionUsage": marks,
        "CallerDay": {key: +found for key, found in callers.items()},
    }


def _about(verdict: Verdict, turns: dict[int, Run], talks: dict[int, Run]) -> Run | None:
    if verdict.turn_id is None:
        return talks.get(verdict.conversation_id)
    return turns.get(verdict.turn_id)


def _vote(days: Counts, hours: Counts, run: Run, name: str) -> None:
    hour = _hour(run.started_at)
    _add(days, (hour.date(), *_slice(run)), Counter({name: 1}))
    _add(hours, (hour, *_slice(run)), Counter({name: 1}))


def _slice(run: Run) -> tuple[int, int, str]:
    version = run.copilot_version.number if run.copilot_version else 0
    return (run.copilot_id, version, run.model)


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _add(counts: Counts, key: tuple[Any, ...], more: Counter[str]) -> None:
    counts.setdefault(key, Counter()).update(+more)


def _of_run(run: Run) -> Counter[str]:
    more: Counter[Any] = Counter(runs=1, tokens=run.input_tokens + run.output_tokens)
    more[run.outcome] = 1
    more["errors"] = int(run.outcome in ("failed", "crashed", "interrupted"))
    more["unpriced"] = int(run.cost is None)
    more["cost"] = run.cost or Decimal(0)
    if run.ttft_ms is not None:
        fitting = [step for step, limit in enumerate(TTFT_LIMITS) if run.ttft_ms <= limit]
        more[TTFT_COLUMNS[fitting[0] if fitting else -1]] = 1
    return more
