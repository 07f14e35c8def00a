"""Runs, feedback and verdicts in the rollups of their hour and day, the source of analytics.

A periodic task counts runs that have ended, and marks them in the same transaction, so that a killed
process neither loses nor repeats some. Feedback and verdicts count at the hour of their question.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from django.db import transaction
from django.db.models import F, Model, QuerySet, Value
from django.db.models.functions import Greatest

from copilot_admin.models import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    Event,
    EventType,
    Feedback,
    FeedbackSource,
    HourlyUsage,
    Mark,
    Outcome,
    Run,
    SeenKind,
    SeenValue,
    ToolKind,
    ToolUsage,
    Verdict,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.models.usage import TTFT_COLUMNS, TTFT_LIMITS
from protocol.functions import GET_WIDGET_DATA
from protocol.json import JsonObject, object_of, objects_of, text_of

MAX_RUNS = 200  # of one transaction, some 20 ms, which delays questions
MAX_SEEN_CHARACTERS = 200
MAX_SEEN_REASONS = 1000  # callers type them; more than a filter offers aren't stored
ERRORS = frozenset({Outcome.FAILED, Outcome.CRASHED, Outcome.INTERRUPTED})
_OUTCOMES = tuple(one.value for one in Outcome if one is not Outcome.RUNNING)
COUNTED = (
    "runs", "questions", "conversations", "errors", *_OUTCOMES, "tokens", "output_tokens", "cost",
    "unpriced", "up", "down", "good", "mixed", "bad", *TTFT_COLUMNS,
)  # fmt: skip
CALLER_COUNTED = ("runs", "questions", "errors", "tokens", "cost", "unpriced", "up", "down")
MAX_TOOL_NAME_CHARACTERS = 200
RUN_COLUMNS = (
    "pk", "started_at", "copilot_id", "copilot_version__number", "model", "principal", "user_id",
    "outcome", "error_code", "input_tokens", "output_tokens", "ttft_ms", "cost", "times",
    "turn__started_at", "conversation__first_at",
)  # fmt: skip

Numbers: TypeAlias = "Counter[str]"  # by column; it also adds decimals
_Key: TypeAlias = tuple[tuple[str, Any], ...]


class Slot(NamedTuple):
    """Key of a rollup; `version` is 0 if no version answered, `caller` "" if they aren't counted."""

    hour: datetime
    copilot_id: int
    version: int
    model: str
    caller: str

    @property
    def day(self) -> date:
        return self.hour.date()


class Changes:
    """Additions to rollup rows; each row is updated one time, all in one order."""

    def __init__(self) -> None:
        self._rows: defaultdict[tuple[type[Model], _Key], Numbers] = defaultdict(Counter)

    def add(self, slot: Slot, numbers: Numbers) -> None:
        """Add numbers to the day, the day of the model and of the caller, and the hour of a slot."""
        row = {"copilot_id": slot.copilot_id, "version": slot.version}
        self.add_row(DailyTotal, numbers, day=slot.day, **row)
        self.add_row(DailyUsage, numbers, day=slot.day, **row, model=slot.model)
        self.add_row(HourlyUsage, numbers, hour=slot.hour, **row, model=slot.model)
        own = Counter({name: numbers[name] for name in CALLER_COUNTED if name in numbers})
        if slot.caller and own:
            key = {"copilot_id": slot.copilot_id, "principal": slot.caller}
            self.add_row(CallerDay, own, day=slot.day, **key)

    def add_row(self, table: type[Model], numbers: Numbers, **key: Any) -> None:
        self._rows[table, tuple(key.items())].update(numbers)

    def save(self) -> None:
        for table, key in sorted(self._rows, key=lambda row: (row[0]._meta.db_table, row[1])):
            _update(table, dict(key), self._rows[table, key])


def _update(table: type[Model], key: dict[str, Any], numbers: Numbers) -> None:
    rows = table._default_manager.filter(**key)
    changes: dict[str, Any] = {
        # Subtracted runs were counted before, but an inconsistency must not break a correction.
        name: F(name) + number if number > 0 else Greatest(F(name) + number, Value(type(number)(0)))
        for name, number in numbers.items()
        if number
    }
    if not changes or rows.update(**changes) or table is CallerDay:
        return  # rows of callers are created with their first hour, and not again after an erasure
    if max(numbers.values()) > 0:
        table._default_manager.get_or_create(**key)
        rows.update(**changes)


def count_finished_runs() -> int:
    """Add some runs that have ended to the rollups; return their number, 0 when all are counted.

    Several processes may call it at the same time: each locks runs that no other one is counting.
    """
    ended = Run.objects.filter(is_counted=False).exclude(outcome=Outcome.RUNNING)
    with transaction.atomic():
        locked = ended.order_by("started_at").select_for_update(skip_locked=True)
        return _add_runs(locked[:MAX_RUNS], sign=1)


def count_runs(run_ids: Collection[UUID]) -> None:
    """Count the uncounted ones of some runs, which are about to be deleted."""
    with transaction.atomic():
        runs = Run.objects.filter(pk__in=run_ids, is_counted=False)
        _add_runs(runs.exclude(outcome=Outcome.RUNNING).select_for_update(), sign=1)


def uncount_runs(run_ids: Iterable[UUID]) -> None:
    """Subtract runs from the rollups before they change; they are counted again later."""
    with transaction.atomic():
        counted = Run.objects.filter(pk__in=list(run_ids), is_counted=True)
        _add_runs(counted.select_for_update(), sign=-1)


def _add_runs(locked: QuerySet[Run], *, sign: int) -> int:
    ids = list(locked.values_list("pk", flat=True))
    used = Run.objects.filter(pk__in=ids).exclude(principal__startswith=PLAYGROUND).order_by()
    runs = {run.pk: run for run in used.values_list(*RUN_COLUMNS, named=True)}
    changes = Changes()
    first_hours: dict[tuple[date, int, str], int] = {}
    for run in runs.values():
        slot, times = _slot_of(run), sign * run.times
        numbers = number_run(run)
        changes.add(slot, Counter({name: times * number for name, number in numbers.items()}))
        if run.error_code:
            key = {"hour": slot.hour, "copilot_id": run.copilot_id, "code": run.error_code}
            changes.add_row(ErrorUsage, Counter(number=times), **key)
        if slot.caller:
            caller = (slot.day, slot.copilot_id, slot.caller)
            first_hours[caller] = min(first_hours.get(caller, 24), slot.hour.hour)
    _add_tools(changes, runs, sign=sign)
    if sign > 0:
        note_callers(first_hours)
        note_seen(SeenKind.MODEL, {run.model for run in runs.values()})
        note_seen(SeenKind.ERROR, {run.error_code for run in runs.values()})
    changes.save()
    Run.objects.filter(pk__in=ids).update(is_counted=sign > 0)
    return len(ids)


def _slot_of(run: Any) -> Slot:
    caller = "" if run.outcome == Outcome.REFUSED else caller_of(run.user_id, run.principal)
    version = run.copilot_version__number or 0
    hour = run.started_at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return Slot(hour, run.copilot_id, version, run.model, caller)


def caller_of(user_id: int | None, principal: str) -> str:
    """Return the name under which a caller counts: the user, or the key of an unnamed one."""
    return principal if user_id is None else f"user:{user_id}"


def _add_tools(changes: Changes, runs: Mapping[UUID, Any], *, sign: int) -> None:
    kinds = (EventType.FUNCTION_CALL, EventType.TOOL)
    events = Event.objects.filter(run__in=list(runs), type__in=kinds).order_by()
    for run_id, event_kind, payload in events.values_list("run_id", "type", "payload"):
        slot = _slot_of(runs[run_id])
        for kind, name in _tools_in(event_kind, payload or {}):
            key = {"day": slot.day, "copilot_id": slot.copilot_id, "kind": kind}
            name = name[:MAX_TOOL_NAME_CHARACTERS]
            changes.add_row(ToolUsage, Counter(number=sign), **key, name=name)


def _tools_in(kind: str, payload: JsonObject) -> Iterable[tuple[ToolKind, str]]:
    """Return the widgets and tools of a call; payloads may be of any form."""
    if kind == EventType.TOOL:
        return [(ToolKind.SERVER, name)] if (name := text_of(payload.get("name"))) else []
    function, arguments = text_of(payload.get("function")), payload.get("input_arguments")
    if function != GET_WIDGET_DATA:
        return [(ToolKind.CLIENT, function)] if function else []
    names = [text_of(one.get("id")) for one in objects_of(object_of(arguments).get("data_sources"))]
    return [(ToolKind.WIDGET, name) for name in names if name]


def number_run(run: Any) -> dict[str, int | Decimal]:
    """Return the numbers of one request with the columns `RUN_COLUMNS`."""
    is_asked = run.outcome != Outcome.REFUSED
    is_question = run.turn__started_at is None or run.turn__started_at == run.started_at
    numbers: dict[str, int | Decimal] = {
        "runs": 1,
        "questions": int(is_asked and is_question),
        "conversations": int(is_asked and run.conversation__first_at == run.started_at),
        "errors": int(run.outcome in ERRORS),
        run.outcome: 1,
        "tokens": run.input_tokens + run.output_tokens,
        "output_tokens": run.output_tokens,
        "cost": run.cost or Decimal(0),
        "unpriced": int(run.cost is None),
    }
    if run.ttft_ms is not None:
        numbers[TTFT_COLUMNS[bisect_left(TTFT_LIMITS, run.ttft_ms)]] = 1
    return numbers


def note_callers(first_hours: Mapping[tuple[date, int, str], int]) -> None:
    """Create the missing rows of callers by day, copilot and name, and set their first hours."""
    rows = [
        CallerDay(day=day, copilot_id=copilot_id, principal=principal, first_hour=hour)
        for (day, copilot_id, principal), hour in sorted(first_hours.items())
    ]
    CallerDay.objects.bulk_create(rows, ignore_conflicts=True)
    people: defaultdict[tuple[date, int, int], list[str]] = defaultdict(list)
    for row in rows:
        people[row.day, row.copilot_id, row.first_hour].append(row.principal)
    for (day, copilot_id, hour), principals in people.items():
        later = CallerDay.objects.filter(day=day, copilot_id=copilot_id, first_hour__gt=hour)
        later.filter(principal__in=principals).update(first_hour=hour)


def note_seen(kind: SeenKind, values: Iterable[str]) -> None:
    """Store new models, errors or reasons for the choices of filters."""
    found = {value[:MAX_SEEN_CHARACTERS] for value in values if value}
    noted = SeenValue.objects.filter(kind=kind)
    new = found.difference(noted.filter(value__in=found).values_list("value", flat=True))
    if new and not (kind is SeenKind.REASON and noted.count() >= MAX_SEEN_REASONS):
        rows = [SeenValue(kind=kind, value=value) for value in sorted(new)]
        SeenValue.objects.bulk_create(rows, ignore_conflicts=True)


def count_feedback(feedback: Feedback) -> None:
    """Count a user's current feedback instead of the previous one; call it with the row locked."""
    slot = _slots_by("turn_id", [feedback.turn_id]).get(feedback.turn_id)
    if slot is not None and feedback.source == FeedbackSource.END_USER:
        votes = Counter({"up": 0, "down": 0})
        for value, sign in ((feedback.counted, -1), (feedback.value, 1)):
            if value:
                votes["up" if value > 0 else "down"] += sign
        changes = Changes()
        changes.add(slot, votes)
        if slot.caller:  # the run may not be counted yet
            note_callers({(slot.day, slot.copilot_id, slot.caller): slot.hour.hour})
        changes.save()
    feedback.counted = feedback.value
    feedback.save(update_fields=["counted"])


def uncount_verdicts(verdicts: "QuerySet[Verdict]") -> None:
    """Subtract verdicts from the rollups before they change."""
    _add_verdicts(verdicts.filter(is_counted=True), sign=-1)


def count_verdicts(verdicts: "QuerySet[Verdict]") -> None:
    """Count those verdicts that aren't counted yet."""
    _add_verdicts(verdicts.filter(is_counted=False), sign=1)


def _add_verdicts(verdicts: "QuerySet[Verdict]", *, sign: int) -> None:
    rows = list(verdicts.select_for_update(of=("self",)).order_by("pk"))
    if not rows:
        return
    turns = _slots_by("turn_id", [row.turn_id for row in rows if row.turn_id is not None])
    conversations = _slots_by("conversation_id", [row.conversation_id for row in rows])
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    for mark in Mark.objects.filter(verdict__in=rows).order_by("criterion_id"):
        marks[mark.verdict_id].append(mark)
    changes = Changes()
    for row in rows:
        of_turn = row.turn_id is not None
        slot = turns.get(row.turn_id or 0) if of_turn else conversations.get(row.conversation_id)
        if slot is None:
            continue
        if row.rating:
            changes.add(slot, Counter({row.rating: sign}))
        for mark in marks[row.pk]:
            numbers = Counter(number=sign, total=sign * mark.value)
            key = {"hour": slot.hour, "copilot_id": slot.copilot_id}
            changes.add_row(CriterionUsage, numbers, **key, criterion_id=mark.criterion_id)
    changes.save()
    Verdict.objects.filter(pk__in=[row.pk for row in rows]).update(is_counted=sign > 0)


def _slots_by(column: str, ids: list[int]) -> Mapping[int, Slot]:
    began = "turn__started_at" if column == "turn_id" else "conversation__first_at"
    runs = Run.objects.filter(**{f"{column}__in": ids}, started_at=F(began))
    runs = runs.exclude(principal__startswith=PLAYGROUND).order_by("-pk")
    rows = runs.values_list(*RUN_COLUMNS, "turn_id", "conversation_id", named=True)
    return {getattr(run, column): _slot_of(run) for run in rows}
