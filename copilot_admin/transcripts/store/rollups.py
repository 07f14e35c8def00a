"""Count runs in the rollups of their hour and day, the source of analytics.

A periodic task counts runs that have ended. A run is marked as counted in the transaction that adds
it to the rollups, so that a killed process neither loses runs nor counts them twice.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

from django.db import transaction
from django.db.models import F, Model, Value
from django.db.models.functions import Greatest

from copilot_admin.models import (
    CallerDay,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    Event,
    EventType,
    HourlyUsage,
    Outcome,
    Run,
    SeenKind,
    SeenValue,
    ToolKind,
    ToolUsage,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.models.usage import TTFT_COLUMNS, TTFT_LIMITS
from protocol.functions import GET_WIDGET_DATA
from protocol.json import JsonObject, text_of

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


@dataclass(frozen=True, slots=True)
class Slot:
    """Key of a rollup; `version` is 0 if no version answered, `caller` "" if they aren't counted."""

    at: datetime
    copilot_id: int
    version: int
    model: str
    caller: str = ""

    @property
    def hour(self) -> datetime:
        return self.at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)

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
        return _count(locked.values_list("pk", flat=True)[:MAX_RUNS])


def count_runs(run_ids: Collection[UUID]) -> None:
    """Count the uncounted ones of some runs, which are about to be deleted."""
    uncounted = Run.objects.filter(pk__in=run_ids, is_counted=False)
    ended = uncounted.exclude(outcome=Outcome.RUNNING).select_for_update()
    with transaction.atomic():
        _count(ended.values_list("pk", flat=True))


def uncount_runs(run_ids: Iterable[UUID]) -> None:
    """Subtract runs from the rollups before they change; they are counted again later."""
    with transaction.atomic():
        counted = Run.objects.filter(pk__in=list(run_ids), is_counted=True).select_for_update()
        ids = list(counted.values_list("pk", flat=True))
        changes = Changes()
        runs = _read_runs(ids)
        for run in runs:
            _add_run(changes, run, sign=-1)
        _add_tools(changes, runs, sign=-1)
        changes.save()
        Run.objects.filter(pk__in=ids).update(is_counted=False)


def _count(run_ids: Iterable[UUID]) -> int:
    ids = list(run_ids)
    changes = Changes()
    first_hours: dict[tuple[date, int, str], int] = {}
    runs = _read_runs(ids)
    for run in runs:
        _add_run(changes, run, sign=1)
        slot = _slot_of(run)
        if slot.caller:
            caller = (slot.day, slot.copilot_id, slot.caller)
            first_hours[caller] = min(first_hours.get(caller, 24), slot.hour.hour)
    _add_tools(changes, runs, sign=1)
    note_callers(first_hours)
    changes.save()
    note_seen(SeenKind.MODEL, {run.model for run in runs})
    note_seen(SeenKind.ERROR, {run.error_code for run in runs})
    Run.objects.filter(pk__in=ids).update(is_counted=True)
    return len(ids)


def _read_runs(ids: Sequence[UUID]) -> Sequence[Any]:
    return list(Run.objects.filter(pk__in=ids).order_by().values_list(*RUN_COLUMNS, named=True))


def _add_run(changes: Changes, run: Any, *, sign: int) -> None:
    if not _is_use(run):
        return
    numbers = number_run(run)
    times = sign * run.times
    changes.add(_slot_of(run), Counter({name: times * number for name, number in numbers.items()}))
    if run.error_code:
        key = {"hour": _slot_of(run).hour, "copilot_id": run.copilot_id, "code": run.error_code}
        changes.add_row(ErrorUsage, Counter(number=times), **key)


def _is_use(run: Any) -> bool:
    return not run.principal.startswith(PLAYGROUND)


def _slot_of(run: Any) -> Slot:
    is_counted = _is_use(run) and run.outcome != Outcome.REFUSED
    return Slot(
        run.started_at,
        run.copilot_id,
        run.copilot_version__number or 0,
        run.model,
        caller_of(run.user_id, run.principal) if is_counted else "",
    )


def caller_of(user_id: int | None, principal: str) -> str:
    """Return the name under which a caller counts: the user, or the key of an unnamed one."""
    return principal if user_id is None else f"user:{user_id}"


def _add_tools(changes: Changes, runs: Sequence[Any], *, sign: int) -> None:
    used = {run.pk: run for run in runs if _is_use(run)}
    events = Event.objects.filter(
        run__in=list(used), type__in=(EventType.FUNCTION_CALL, EventType.TOOL)
    )
    for run_id, kind, payload in events.order_by().values_list("run_id", "type", "payload"):
        slot = _slot_of(used[run_id])
        for tool_kind, name in _tools_in(kind, payload or {}):
            key = {"kind": tool_kind, "name": name[:MAX_TOOL_NAME_CHARACTERS]}
            numbers = Counter(number=sign)
            changes.add_row(ToolUsage, numbers, day=slot.day, copilot_id=slot.copilot_id, **key)


def _tools_in(kind: str, payload: JsonObject) -> Iterable[tuple[ToolKind, str]]:
    """Return the widgets and tools of a call; payloads may be of any form."""
    if kind == EventType.TOOL:
        return [(ToolKind.SERVER, name)] if (name := text_of(payload.get("name"))) else []
    function, arguments = text_of(payload.get("function")), payload.get("input_arguments")
    if function != GET_WIDGET_DATA:
        return [(ToolKind.CLIENT, function)] if function else []
    sources = arguments.get("data_sources") if isinstance(arguments, dict) else None
    found = sources if isinstance(sources, list) else []
    names = [text_of(one.get("id")) for one in found if isinstance(one, dict)]
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
    found = sorted({value[:MAX_SEEN_CHARACTERS] for value in values if value})
    if not found:
        return
    noted = SeenValue.objects.filter(kind=kind)
    new = sorted(set(found) - set(noted.filter(value__in=found).values_list("value", flat=True)))
    if not new or (kind is SeenKind.REASON and noted.count() >= MAX_SEEN_REASONS):
        return
    SeenValue.objects.bulk_create(
        [SeenValue(kind=kind, value=value) for value in new], ignore_conflicts=True
    )
