"""Count a finished run into its day; dashboards read only this."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.db.models import F

from copilot_admin.models import DailyUsage, Outcome

ERRORS = frozenset({Outcome.FAILED, Outcome.CRASHED, Outcome.INTERRUPTED})
_STEPS = (
    (250, "ttft_250ms"),
    (500, "ttft_500ms"),
    (1000, "ttft_1s"),
    (2000, "ttft_2s"),
    (5000, "ttft_5s"),
    (10_000, "ttft_10s"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One run, as a day counts it; `ttft_ms` None: no token came."""

    day: date
    copilot_id: int
    version: int
    model: str
    principal: str
    outcome: Outcome
    tokens: int = 0
    ttft_ms: int | None = None


def count(usage: Usage) -> None:
    """Adds a run to its row, and makes the row with the first run."""
    row = {
        "day": usage.day,
        "copilot_id": usage.copilot_id,
        "version": usage.version,
        "model": usage.model,
        "principal": usage.principal,
    }
    if _add(row, usage):
        return
    try:
        with transaction.atomic():
            DailyUsage.objects.create(**row, **_increments(usage))
    except IntegrityError:  # another process made it meanwhile
        _add(row, usage)


def _add(row: dict[str, object], usage: Usage) -> bool:
    more = {name: F(name) + value for name, value in _increments(usage).items()}
    return bool(DailyUsage.objects.filter(**row).update(**more))


def _increments(usage: Usage) -> dict[str, int | Decimal]:
    increments: dict[str, int | Decimal] = {
        "runs": 1,
        "errors": int(usage.outcome in ERRORS),
        "tokens": usage.tokens,
    }
    if usage.ttft_ms is not None:
        increments[_column(usage.ttft_ms)] = 1
    return {name: value for name, value in increments.items() if value}


def _column(ttft_ms: int) -> str:
    for limit, name in _STEPS:
        if ttft_ms <= limit:
            return name
    return "ttft_more"
