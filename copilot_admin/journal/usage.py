"""Count a finished run into its day; dashboards read only this."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from copilot_admin.models import DailyUsage
from copilot_admin.models.transcripts import PLAYGROUND
from copilot_admin.storage.statements import Insert, Update

_STEPS = (
    (250, "ttft_250ms"),
    (500, "ttft_500ms"),
    (1000, "ttft_1s"),
    (2000, "ttft_2s"),
    (5000, "ttft_5s"),
    (10_000, "ttft_10s"),
)
_SLOWEST = "ttft_more"
_COUNTED = ("runs", "errors", "tokens", "cost", "unpriced", *(name for _, name in _STEPS), _SLOWEST)
_ADD = Update(
    DailyUsage, where=("day", "copilot_id", "version", "model", "principal"), add=_COUNTED
)
_INSERT = Insert(DailyUsage, returning=("id",), or_ignore=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRun:
    """One run, as a day counts it; `ttft_ms` None: no token came; `cost` None: nobody knows."""

    day: date
    copilot_id: int
    version: int
    model: str
    principal: str
    is_error: bool = False
    tokens: int = 0
    ttft_ms: int | None = None
    cost: Decimal | None = Decimal(0)


def count(usage: CountedRun) -> None:
    """Adds a run to its row, and makes the row with the first run.

    What a builder tries counts nowhere: it would be taken for use.
    """
    if usage.principal.startswith(PLAYGROUND):
        return
    row = {
        "day": usage.day,
        "copilot_id": usage.copilot_id,
        "version": usage.version,
        "model": usage.model,
        "principal": usage.principal,
    }
    more = _increments(usage)
    if not _ADD(**row, **more) and _INSERT(**row, **more) is None:
        _ADD(**row, **more)  # another process made it meanwhile


def _increments(usage: CountedRun) -> dict[str, int | Decimal]:
    columns: dict[str, int | Decimal] = dict.fromkeys(_COUNTED, 0)
    columns |= {"runs": 1, "errors": int(usage.is_error), "tokens": usage.tokens}
    columns |= {"cost": usage.cost or 0, "unpriced": int(usage.cost is None)}
    if usage.ttft_ms is not None:
        columns[_column(usage.ttft_ms)] = 1
    return columns


def _column(ttft_ms: int) -> str:
    for limit, name in _STEPS:
        if ttft_ms <= limit:
            return name
    return _SLOWEST
