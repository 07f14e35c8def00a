"""How the end of a run is counted in the rollups, once its guess was taken out."""

from copilot_admin.pricing.cost import Cost
from copilot_admin.transcripts.store.open_runs import OpenRun
from copilot_admin.transcripts.store.sealing import Sealed
from copilot_admin.transcripts.store.usage import CountedRun, UsageKey, count, uncount


def count_end(run: OpenRun, sealed: Sealed, cost: Cost) -> None:
    """Adds a run to the rollups; what was guessed of its end is taken out again."""
    asked = UsageKey(
        at=run.started_at,
        copilot_id=run.copilot_id,
        version=run.version_number or 0,
        model=run.model,
        principal=run.principal,
        user_id=run.user_id,
    )
    if run.is_counted:
        uncount(asked, _guessed(run))
    ended = CountedRun(
        outcome=sealed.outcome,
        error_code=sealed.error_code,
        tokens=sealed.tokens_in_all,
        ttft_ms=sealed.ttft_ms,
        cost=cost.amount,
        **run.beginnings,
    )
    count(asked, ended)


def _guessed(run: OpenRun) -> CountedRun:
    """A run as it was counted when its process was silent."""
    return CountedRun(
        outcome=run.outcome,
        error_code=run.error_code,
        tokens=run.input_tokens + run.output_tokens,
        ttft_ms=run.ttft_ms,
        cost=run.cost,
        **run.beginnings,
    )
