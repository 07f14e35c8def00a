"""Rows that the end of a run writes: replies, events, run, turn and conversation."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from copilot_admin.models import (
    Checkpoint,
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
from copilot_admin.storage.sql import Row, execute, fetch_row, read_json, read_time
from copilot_admin.transcripts.matching.hash_chain import HashChain, hash_key
from copilot_admin.transcripts.matching.message_store import (
    NO_CONTENT,
    StoredContent,
    insert_message,
    serialize_message,
)
from copilot_admin.transcripts.store.rollups import ERRORS, uncount_runs
from copilot_admin.transcripts.store.run_end import RunEnd, RunEvent
from copilot_admin.transcripts.store.search_index import index_answer
from protocol.json import JsonObject

_STATES = {
    Outcome.COMPLETED: TurnState.DONE,
    Outcome.TRUNCATED: TurnState.DONE,
    Outcome.FAILED: TurnState.FAILED,
    Outcome.CRASHED: TurnState.FAILED,
    Outcome.INTERRUPTED: TurnState.FAILED,
    Outcome.CANCELLED: TurnState.ABANDONED,
}
_Added: TypeAlias = Mapping[str, Decimal | int | bool]
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


def finish(end: RunEnd) -> Cost | None:
    """Store the end of a run in one transaction; idempotent.

    The real end replaces one that the reaper assumed (interrupted, as the process was silent).

    Returns:
        The cost, or None if nothing was stored, since the run had ended already or was deleted.
    """
    run = fetch_row(_SELECT_RUN, id=end.run_id, lock="run")
    if run is None or not _may_end(run, end):
        return None
    was_guessed = run["outcome"] == Outcome.INTERRUPTED
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
    added = _added(end, bill.cost, was_unpriced=was_unpriced)
    node_id, answer_text = None, ""
    if run["conversation_id"] is not None:
        # Lock order of questions as well: blobs, conversation, messages, turn. Another order could
        # deadlock two workers with one conversation.
        node_id, answer_text = _write_content(run, end, added)
    _update_run(run, end, bill, node_id=node_id, answer_text=answer_text)
    if end.was_checkpointed or was_guessed:
        Checkpoint.objects.filter(run_id=end.run_id).delete()
    if run["turn_id"] is not None:
        _update_turn(run["turn_id"], end, added)
        if run["conversation_id"] is not None and end.keep_content:
            is_first = run["turn_started_at"] == run["started_at"]
            index_answer(run["turn_id"], run["conversation_id"], end.text, is_first=is_first)
    return bill.cost


def _may_end(run: Row, end: RunEnd) -> bool:
    if run["outcome"] == Outcome.INTERRUPTED:
        return end.ending.outcome is not Outcome.INTERRUPTED
    return bool(run["outcome"] == Outcome.RUNNING)


def _added(end: RunEnd, cost: Cost, *, was_unpriced: bool) -> _Added:
    tokens = end.tokens
    return {
        "tokens": tokens["input_tokens"] + tokens["output_tokens"],
        "cost": cost.amount or 0,
        "n_unpriced": int(cost.amount is None) - int(was_unpriced),
        "cost_is_estimated": cost.confidence is CostConfidence.ESTIMATED,
    }


def _write_content(run: Row, end: RunEnd, added: _Added) -> tuple[int | None, str]:
    keep = end.keep_content
    contents = [serialize_message(one.message) if keep else NO_CONTENT for one in end.replies]
    payloads = [None if one.payload is None else to_big_blob(one.payload) for one in end.events]
    found = (*(content.blob for content in contents), *payloads)
    blobs.save(blob for blob in found if blob is not None)
    _update_conversation(run["conversation_id"], end, added)
    answer = _insert_replies(run, end, contents)
    _insert_events(end, payloads)
    return answer


def _insert_replies(
    run: Row, end: RunEnd, contents: Sequence[StoredContent]
) -> tuple[int | None, str]:
    """Store each reply under the one before, and the first under the last message of the request.

    Returns:
        The last node; and the text of the answer if its node has the text of an earlier answer.
    """
    in_clear = end.keep_content and not end.is_redacted
    chain = HashChain(hash_key(keep_content=in_clear), run["copilot_id"], run["principal"])
    node_id, depth = run["leaf_id"], run["depth"]
    chain_hash, client_hash = run["chain_hash"], run["client_hash"]
    if node_id is None:
        depth, chain_hash, client_hash = -1, chain.root, chain.root
    answer_text = ""
    for reply, content in zip(end.replies, contents, strict=True):
        depth += 1
        chain_hash = chain.extend(chain_hash, bytes.fromhex(reply.digest))
        node_id, text = insert_message(
            conversation_id=run["conversation_id"],
            chain_hash=chain_hash,
            parent_id=node_id,
            depth=depth,
            role=NodeRole.AI,
            kind=NodeKind(reply.kind),
            text=content.text,
            blob_id=content.sha,
            client_hash=client_hash,
            at=end.ended_at,
        )
        if reply.kind.value == NodeKind.TEXT and text != reply.text:
            answer_text = reply.text  # the earlier answer differs in spaces only
    return node_id if end.replies else None, answer_text


def _name_tool(event: RunEvent) -> JsonObject | None:
    """Return the facts about a tool for rollups if its content is in a blob."""
    if event.type != EventType.TOOL or event.payload is None:
        return None
    return {"name": event.payload.get("name")}


def _insert_events(end: RunEnd, payloads: Sequence[BlobValue | None]) -> None:
    if not end.events:  # in most answers; inserting nothing costs as much as inserting a row
        return
    Event.objects.bulk_create(
        Event(
            run_id=end.run_id,
            ord=order,
            type=event.type,
            payload=event.payload if blob is None else _name_tool(event),
            blob_id=None if blob is None else blob.sha,
            text_offset=event.text_offset,
            at_ms=event.at_ms,
        )
        for order, (event, blob) in enumerate(zip(end.events, payloads, strict=True))
    )


def _update_run(
    run: Row, end: RunEnd, bill: RunCost, *, node_id: int | None, answer_text: str
) -> None:
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
        notes=[*read_json(run["notes"]), *ending.notes],
        usage_source=end.usage_source,
        output_node_id=node_id,
        answer_text=answer_text,
        heartbeat_at=end.ended_at,
        cost=bill.cost.amount,
        cost_confidence=bill.cost.confidence,
        **end.tokens,
        **bill.price_fields,
    )


def _update_turn(turn_id: int, end: RunEnd, added: _Added) -> None:
    ending = end.ending
    waits = end.is_call and ending.outcome is Outcome.COMPLETED
    execute(
        _UPDATE_TURN,
        id=turn_id,
        state=TurnState.AWAITING_RESULT if waits else _STATES[ending.outcome],
        waiting_since=end.ended_at if waits else None,
        ttft_ms=ending.ttft_ms,
        ms=ending.ms,
        **added,
    )


def _update_conversation(conversation_id: int, end: RunEnd, added: _Added) -> None:
    execute(
        _UPDATE_CONVERSATION,
        id=conversation_id,
        ttft_ms=end.ending.ttft_ms,
        last_outcome=end.ending.outcome,
        last_at=end.ended_at,
        has_error=end.ending.outcome in ERRORS,
        has_call=end.is_call,
        has_file=any(event.type == EventType.FILE for event in end.events),
        **added,
    )
