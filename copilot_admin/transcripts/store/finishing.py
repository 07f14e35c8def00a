"""Write how a run ended, in one transaction; a second time changes nothing."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TypeAlias

from copilot_admin.models import (
    Checkpoint,
    CostConfidence,
    Event,
    EventType,
    Outcome,
    TurnState,
)
from copilot_admin.pricing.cost import Cost, RunCost, calculate_run_cost
from copilot_admin.storage import blobs
from copilot_admin.storage.sql import execute
from copilot_admin.transcripts.store.open_runs import OpenRun, lock_open
from copilot_admin.transcripts.store.replies import WrittenAnswer, write_replies
from copilot_admin.transcripts.store.rollups import ERRORS, uncount_runs
from copilot_admin.transcripts.store.sealed_contents import SealedContents
from copilot_admin.transcripts.store.sealing import Sealed
from copilot_admin.transcripts.store.search_index import index_answer

_STATES = {
    Outcome.COMPLETED: TurnState.DONE,
    Outcome.TRUNCATED: TurnState.DONE,
    Outcome.FAILED: TurnState.FAILED,
    Outcome.CRASHED: TurnState.FAILED,
    Outcome.INTERRUPTED: TurnState.FAILED,
    Outcome.CANCELLED: TurnState.ABANDONED,
}
_Added: TypeAlias = Mapping[str, Decimal | int | bool]
_UNKNOWN = CostConfidence.UNKNOWN
_END_RUN = """
UPDATE copilot_admin_run SET
    outcome = %(outcome)s, ms = %(ms)s, ttft_ms = %(ttft_ms)s, error = %(error)s,
    error_code = %(error_code)s, finish_reason = %(finish_reason)s, notes = %(notes)s,
    usage_source = %(usage_source)s, output_node_id = %(output_node_id)s,
    answer_text = %(answer_text)s, heartbeat_at = %(heartbeat_at)s,
    input_tokens = %(input_tokens)s, cached_tokens = %(cached_tokens)s,
    output_tokens = %(output_tokens)s, reasoning_tokens = %(reasoning_tokens)s,
    input_price = %(input_price)s, cached_price = %(cached_price)s,
    output_price = %(output_price)s, reasoning_price = %(reasoning_price)s,
    cost = %(cost)s, cost_confidence = %(cost_confidence)s
WHERE id = %(id)s
"""
_END_TURN = """
UPDATE copilot_admin_turn SET
    state = %(state)s, waiting_since = %(waiting_since)s, ttft_ms = %(ttft_ms)s,
    tokens = tokens + %(tokens)s, ms = ms + %(ms)s, cost = cost + %(cost)s,
    n_unpriced = n_unpriced + %(n_unpriced)s,
    cost_is_estimated = (cost_is_estimated OR %(cost_is_estimated)s)
WHERE id = %(id)s
"""
_UPDATE_CONVERSATION = """
UPDATE copilot_admin_conversation SET
    ttft_ms = %(ttft_ms)s, last_outcome = %(last_outcome)s, last_at = %(last_at)s,
    tokens = tokens + %(tokens)s, cost = cost + %(cost)s, n_unpriced = n_unpriced + %(n_unpriced)s,
    has_error = (has_error OR %(has_error)s), has_call = (has_call OR %(has_call)s),
    has_file = (has_file OR %(has_file)s),
    cost_is_estimated = (cost_is_estimated OR %(cost_is_estimated)s)
WHERE id = %(id)s
"""


def finish(sealed: Sealed, contents: SealedContents | None = None) -> Cost | None:
    """Stores the end of a run.

    An end that was only guessed (interrupted, since nobody heard from the process) gives way to
    the real one.

    Args:
        sealed: The end.
        contents: The same, where it was packed before.

    Returns:
        What it cost; None: nothing was stored, as the run had ended already, or is gone.
    """
    run = lock_open(sealed)
    if run is None:
        return None
    was_guessed = run.outcome is Outcome.INTERRUPTED
    if was_guessed:
        uncount_runs([run.id])
        Event.objects.filter(run_id=run.id).delete()
    bill = _bill(run, sealed)
    costs = _added(bill.cost, was_unpriced=was_guessed and run.cost_confidence == _UNKNOWN)
    written = WrittenAnswer()
    if run.conversation_id is not None:
        contents = contents or SealedContents(sealed)
        blobs.save(contents.blobs())  # together, before rows that others hold
        # Before its messages and turns, as a question does it: in another order two workers with
        # one conversation would wait for each other until PostgreSQL ends one of them.
        _write_conversation(run.conversation_id, sealed, costs)
        written = write_replies(run, run.conversation_id, sealed, contents)
        _write_events(run, sealed, contents)
    _write_run(run, sealed, written, bill)
    if sealed.was_checkpointed or was_guessed:
        Checkpoint.objects.filter(run_id=run.id).delete()
    if run.turn_id is not None:
        _write_turn(run.turn_id, sealed, costs)
    if run.turn_id is not None and run.conversation_id is not None and sealed.keep_content:
        index_answer(run.turn_id, run.conversation_id, sealed.text, is_first=run.begins_turn)
    return bill.cost


def _write_events(run: OpenRun, sealed: Sealed, contents: SealedContents) -> None:
    if not sealed.entries:  # as of most answers; to insert nothing costs as much as a row
        return
    both = zip(sealed.entries, contents.entries, strict=True)
    Event.objects.bulk_create(
        Event(
            run_id=run.id,
            ord=order,
            type=entry.type,
            payload=entry.payload if blob is None else None,
            blob_id=None if blob is None else blob.sha,
            text_offset=entry.text_offset,
            at_ms=entry.at_ms,
        )
        for order, (entry, blob) in enumerate(both)
    )


def _bill(run: OpenRun, sealed: Sealed) -> RunCost:
    return calculate_run_cost(
        sealed.usages,
        provider=run.provider,
        model=run.model,
        at=run.started_at,
        outcome=sealed.outcome,
    )


def _added(cost: Cost, *, was_unpriced: bool) -> _Added:
    return {
        "cost": cost.amount or 0,
        "n_unpriced": int(cost.amount is None) - int(was_unpriced),
        "cost_is_estimated": cost.confidence is CostConfidence.ESTIMATED,
    }


def _write_run(run: OpenRun, sealed: Sealed, written: WrittenAnswer, bill: RunCost) -> None:
    execute(
        _END_RUN,
        id=run.id,
        outcome=sealed.outcome,
        ms=sealed.ms,
        ttft_ms=sealed.ttft_ms,
        error=sealed.error,
        error_code=sealed.error_code,
        finish_reason=sealed.finish_reason,
        notes=[*run.notes, *sealed.notes],
        usage_source=sealed.usage_source,
        output_node_id=written.node_id,
        answer_text=written.text,
        heartbeat_at=sealed.ended_at,
        cost=bill.cost.amount,
        cost_confidence=bill.cost.confidence,
        **sealed.tokens,
        **bill.price_fields,
    )


def _write_turn(turn_id: int, sealed: Sealed, costs: _Added) -> None:
    waits = sealed.is_call and sealed.outcome is Outcome.COMPLETED
    execute(
        _END_TURN,
        id=turn_id,
        state=TurnState.AWAITING_RESULT if waits else _STATES[sealed.outcome],
        waiting_since=sealed.ended_at if waits else None,
        tokens=sealed.tokens_in_all,
        ttft_ms=sealed.ttft_ms,
        ms=sealed.ms,
        **costs,
    )


def _write_conversation(conversation_id: int, sealed: Sealed, costs: _Added) -> None:
    execute(
        _UPDATE_CONVERSATION,
        id=conversation_id,
        tokens=sealed.tokens_in_all,
        ttft_ms=sealed.ttft_ms,
        last_outcome=sealed.outcome,
        last_at=sealed.ended_at,
        has_error=sealed.outcome in ERRORS,
        has_call=sealed.is_call,
        has_file=any(entry.type == EventType.FILE for entry in sealed.entries),
        **costs,
    )
