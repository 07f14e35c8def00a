"""Rows that the end of a run writes: replies, events, run, turn and conversation."""

from collections.abc import Mapping, Sequence
import json
from typing import Any

from copilot_admin.models import (
    CostConfidence,
    Event,
    EventType,
    NodeKind,
    NodeRole,
    Outcome,
    TurnState,
)
from copilot_admin.pricing.cost import Cost, RunCost, calculate_run_cost
from copilot_admin.storage import blobs
from copilot_admin.storage.blobs import BlobValue, to_big_blob
from copilot_admin.storage.sql import Row, execute, fetch_row, read_time
from copilot_admin.transcripts.matching.messages import (
    NO_CONTENT,
    HashChain,
    StoredContent,
    hash_key,
    insert_message,
    serialize_json,
)
from copilot_admin.transcripts.search.text_index import index_answer
from copilot_admin.transcripts.store.recorder import RunEnd
from copilot_admin.transcripts.store.rollups import ERRORS, uncount_runs

_STATES = {
    Outcome.COMPLETED: TurnState.DONE,
    Outcome.TRUNCATED: TurnState.DONE,
    Outcome.CANCELLED: TurnState.ABANDONED,
    **dict.fromkeys(ERRORS, TurnState.FAILED),
}
_SELECT_RUN = """
SELECT run.id, run.outcome, run.copilot_id, run.conversation_id, run.turn_id, run.principal,
    run.provider, run.model, run.started_at, run.notes, run.cost_confidence,
    turn.started_at AS turn_started_at,
    leaf.id AS leaf_id, leaf.depth, leaf.chain_hash, leaf.client_hash
FROM copilot_admin_run run
LEFT JOIN copilot_admin_turn turn ON turn.id = run.turn_id
LEFT JOIN copilot_admin_node leaf ON leaf.id = run.input_leaf_id
WHERE run.id = %(id)s
"""
_UPDATE_RUN = """
UPDATE copilot_admin_run SET
    provider = %(provider)s, model = %(model)s,
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
_UPDATE_TURN = """
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
_DELETE_CHECKPOINTS = "DELETE FROM copilot_admin_checkpoint WHERE run_id = %(id)s"


def finish(end: RunEnd) -> Cost | None:
    """Store the end of a run in one transaction; return its cost.

    The real end replaces one that the reaper assumed. None if the run had ended already or was deleted.
    """
    run = fetch_row(_SELECT_RUN, id=end.run_id, lock="run")
    was_guessed = run is not None and run["outcome"] == Outcome.INTERRUPTED
    may_end = was_guessed and end.ending.outcome is not Outcome.INTERRUPTED
    if run is None or not (may_end or run["outcome"] == Outcome.RUNNING):
        return None
    if was_guessed:
        uncount_runs([end.run_id])
        Event.objects.filter(run_id=end.run_id).delete()
    started_at = read_time(run["started_at"])
    assert started_at is not None  # noqa: S101  # the column is NOT NULL
    bill = calculate_run_cost(
        end.usages,
        provider=end.provider or run["provider"],
        model=end.model or run["model"],
        at=started_at,
        outcome=end.ending.outcome,
    )
    was_unpriced = was_guessed and run["cost_confidence"] == CostConfidence.UNKNOWN
    added = {
        "tokens": end.tokens["input_tokens"] + end.tokens["output_tokens"],
        "cost": bill.cost.amount or 0,
        "n_unpriced": int(bill.cost.amount is None) - int(was_unpriced),
        "cost_is_estimated": bill.cost.confidence is CostConfidence.ESTIMATED,
    }
    node_id, answer_text = None, ""
    if run["conversation_id"] is not None:
        # Lock order of questions as well: blobs, conversation, messages, turn. Another order could
        # deadlock two workers with one conversation.
        node_id, answer_text = _write_content(run, end, added)
    _update_run(run, end, bill, output_node_id=node_id, answer_text=answer_text)
    execute(_DELETE_CHECKPOINTS, id=end.run_id)
    if run["turn_id"] is not None:
        _update_turn(run["turn_id"], end, added)
        if run["conversation_id"] is not None and end.keep_content:
            is_first = run["turn_started_at"] == run["started_at"]
            index_answer(run["turn_id"], run["conversation_id"], end.text, is_first=is_first)
    return bill.cost


def _write_content(run: Row, end: RunEnd, added: Mapping[str, Any]) -> tuple[int | None, str]:
    text = StoredContent(end.text)
    call = NO_CONTENT if end.call is None else serialize_json(end.call)
    payloads = [None if one.payload is None else to_big_blob(one.payload) for one in end.events]
    blobs.save(blob for blob in (call.blob, *payloads) if blob is not None)
    execute(
        _UPDATE_CONVERSATION,
        id=run["conversation_id"],
        ttft_ms=end.ending.ttft_ms,
        last_outcome=end.ending.outcome,
        last_at=end.ended_at,
        has_error=end.ending.outcome in ERRORS,
        has_call=bool(end.call_digest),
        has_file=any(event.type == EventType.FILE for event in end.events),
        **added,
    )
    answer = _insert_replies(run, end, text, call)
    _insert_events(end, payloads)
    return answer


def _insert_replies(
    run: Row, end: RunEnd, text: StoredContent, call: StoredContent
) -> tuple[int | None, str]:
    """Store each reply under the one before, the first under the last message of the request.

    Returns the last node, and the text of the answer if its node has the text of an earlier one.
    """
    in_clear = end.keep_content and not end.is_redacted
    chain = HashChain(hash_key(keep_content=in_clear), run["copilot_id"], run["principal"])
    parent_id, depth = run["leaf_id"], run["depth"]
    chain_hash, client_hash = run["chain_hash"], run["client_hash"]
    if parent_id is None:
        depth, chain_hash, client_hash = -1, chain.root, chain.root
    node_id, answer_text = None, ""
    replies = ((NodeKind.TEXT, end.text_digest, text), (NodeKind.CALL, end.call_digest, call))
    for kind, digest, content in replies:
        if not digest:
            continue
        depth += 1
        chain_hash = chain.extend(chain_hash, bytes.fromhex(digest))
        node_id, stored_text = insert_message(
            conversation_id=run["conversation_id"],
            chain_hash=chain_hash,
            parent_id=node_id or parent_id,
            depth=depth,
            role=NodeRole.AI,
            kind=kind,
            text=content.text,
            blob_id=content.sha,
            client_hash=client_hash,
            at=end.ended_at,
        )
        if kind is NodeKind.TEXT and stored_text != end.text:
            answer_text = end.text  # the earlier answer differs in spaces only
    return node_id, answer_text


def _insert_events(end: RunEnd, payloads: Sequence[BlobValue | None]) -> None:
    if not end.events:  # in most answers; inserting nothing costs as much as inserting a row
        return
    events = []
    for order, (event, blob) in enumerate(zip(end.events, payloads, strict=True)):
        payload = event.payload
        if blob is not None:  # rollups count tools by name
            is_tool = event.type == EventType.TOOL
            payload = {"name": payload.get("name")} if is_tool and payload else None
        events.append(
            Event(
                run_id=end.run_id,
                ord=order,
                type=event.type,
                payload=payload,
                blob_id=None if blob is None else blob.sha,
                text_offset=event.text_offset,
                at_ms=event.at_ms,
            )
        )
    Event.objects.bulk_create(events)


def _update_run(run: Row, end: RunEnd, bill: RunCost, **output: object) -> None:
    ending = end.ending
    execute(
        _UPDATE_RUN,
        id=end.run_id,
        provider=end.provider or run["provider"],
        model=end.model or run["model"],
        outcome=ending.outcome,
        ms=ending.ms,
        ttft_ms=ending.ttft_ms,
        error=ending.error,
        error_code=ending.error_code,
        finish_reason=end.finish_reason,
        notes=[*json.loads(run["notes"]), *ending.notes],
        usage_source=end.usage_source,
        heartbeat_at=end.ended_at,
        cost=bill.cost.amount,
        cost_confidence=bill.cost.confidence,
        **end.tokens,
        **bill.price_fields,
        **output,
    )


def _update_turn(turn_id: int, end: RunEnd, added: Mapping[str, Any]) -> None:
    ending = end.ending
    waits = bool(end.call_digest) and ending.outcome is Outcome.COMPLETED
    execute(
        _UPDATE_TURN,
        id=turn_id,
        state=TurnState.AWAITING_RESULT if waits else _STATES[ending.outcome],
        waiting_since=end.ended_at if waits else None,
        ttft_ms=ending.ttft_ms,
        ms=ending.ms,
        **added,
    )
