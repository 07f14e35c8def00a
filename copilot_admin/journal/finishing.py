"""Write how a run ended, in one transaction; a second time changes nothing."""

from django.db.models import F

from copilot_admin import blobs
from copilot_admin.blobs import BIG, Packed, dumped, pack
from copilot_admin.journal.keys import hash_key
from copilot_admin.journal.sealing import Reply, Sealed
from copilot_admin.journal.usage import ERRORS, Usage, count
from copilot_admin.models import (
    Checkpoint,
    Conversation,
    Event,
    Node,
    NodeKind,
    NodeRole,
    Outcome,
    Run,
    Turn,
    TurnState,
)
from copilot_admin.threads.chain import Chain
from copilot_admin.threads.content import NO_CONTENT, content_of

_STATES = {
    Outcome.COMPLETED: TurnState.DONE,
    Outcome.TRUNCATED: TurnState.DONE,
    Outcome.FAILED: TurnState.FAILED,
    Outcome.CRASHED: TurnState.FAILED,
    Outcome.INTERRUPTED: TurnState.FAILED,
    Outcome.CANCELLED: TurnState.ABANDONED,
}


def finish(sealed: Sealed) -> bool:
    """Stores the end of a run.

    An end that was only guessed (interrupted, since nobody heard from the process) gives way to
    the real one.

    Returns:
        Whether anything was stored; False: the run had ended already, or is gone.
    """
    run = _lock(sealed)
    if run is None:
        return False
    was_guessed = run.outcome == Outcome.INTERRUPTED
    if was_guessed:
        run.events.all().delete()
    if run.conversation_id is not None:
        _write_replies(run, sealed)
        _write_events(run, sealed)
    _write_run(run, sealed)
    Checkpoint.objects.filter(run=run).delete()
    _write_turn(run, sealed)
    _write_conversation(run, sealed)
    if not was_guessed:
        _count(run, sealed)
    return True


def _lock(sealed: Sealed) -> Run | None:
    runs = Run.objects.select_related("input_leaf", "copilot_version", "conversation")
    run = runs.select_for_update(of=("self",)).filter(pk=sealed.run_id).first()
    open_to = {Outcome.RUNNING}
    if sealed.outcome is not Outcome.INTERRUPTED:
        open_to.add(Outcome.INTERRUPTED)
    return run if run is not None and run.outcome in open_to else None


def _write_replies(run: Run, sealed: Sealed) -> None:
    node = run.input_leaf
    for reply in sealed.replies:
        node = _reply_node(run, reply, parent=node, sealed=sealed)
        if reply.kind.value == NodeKind.TEXT and node.text != reply.text:
            run.answer_text = reply.text  # the node is an earlier answer that differs in space only
    run.output_node = node if sealed.replies else None


def _reply_node(run: Run, reply: Reply, *, parent: Node | None, sealed: Sealed) -> Node:
    chain = Chain(hash_key(keep_content=sealed.keep_content), run.copilot_id, run.principal)
    content = content_of(reply.message) if sealed.keep_content else NO_CONTENT
    if content.packed is not None:
        blobs.save([content.packed])
    before = parent.chain_hash if parent else chain.root
    node, _ = Node.objects.get_or_create(
        conversation=run.conversation,
        chain_hash=chain.after(before, bytes.fromhex(reply.digest)),
        defaults={
            "parent": parent,
            "depth": parent.depth + 1 if parent else 0,
            "role": NodeRole.AI,
            "kind": reply.kind.value,
            "text": content.text,
            "blob_id": content.sha,
            "client_hash": parent.client_hash if parent else chain.root,
            "created_at": sealed.ended_at,
        },
    )
    return node


def _write_events(run: Run, sealed: Sealed) -> None:
    packed: list[Packed] = []
    events = []
    for order, entry in enumerate(sealed.entries):
        payload, blob = entry.payload, None
        if payload is not None and len(dumped(payload)) > BIG:
            packed.append(pack(payload))
            payload, blob = None, packed[-1].sha
        events.append(
            Event(
                run=run,
                ord=order,
                type=entry.type,
                payload=payload,
                blob_id=blob,
                text_offset=entry.text_offset,
                at_ms=entry.at_ms,
            )
        )
    blobs.save(packed)
    Event.objects.bulk_create(events)


def _write_run(run: Run, sealed: Sealed) -> None:
    Run.objects.filter(pk=run.pk).update(
        outcome=sealed.outcome,
        ms=sealed.ms,
        ttft_ms=sealed.ttft_ms,
        error=sealed.error,
        error_code=sealed.error_code,
        finish_reason=sealed.finish_reason,
        notes=[*run.notes, *sealed.notes],
        usage_source=sealed.usage_source,
        output_node=run.output_node,
        answer_text=run.answer_text,
        heartbeat_at=sealed.ended_at,
        **sealed.tokens,
    )


def _write_turn(run: Run, sealed: Sealed) -> None:
    if run.turn_id is None:
        return
    waits = sealed.is_call and sealed.outcome is Outcome.COMPLETED
    Turn.objects.filter(pk=run.turn_id).update(
        state=TurnState.AWAITING_RESULT if waits else _STATES[sealed.outcome],
        waiting_since=sealed.ended_at if waits else None,
        tokens=F("tokens") + _tokens(sealed),
        ttft_ms=sealed.ttft_ms,
        ms=F("ms") + sealed.ms,
    )


def _write_conversation(run: Run, sealed: Sealed) -> None:
    if run.conversation_id is None:
        return
    error = {"has_error": True} if sealed.outcome in ERRORS else {}
    Conversation.objects.filter(pk=run.conversation_id).update(
        tokens=F("tokens") + _tokens(sealed),
        ttft_ms=sealed.ttft_ms,
        last_outcome=sealed.outcome,
        last_at=sealed.ended_at,
        **error,
    )


def _count(run: Run, sealed: Sealed) -> None:
    count(
        Usage(
            day=run.started_at.date(),
            copilot_id=run.copilot_id,
            version=run.copilot_version.number if run.copilot_version else 0,
            model=run.model,
            principal=run.principal,
            outcome=sealed.outcome,
            tokens=_tokens(sealed),
            ttft_ms=sealed.ttft_ms,
        )
    )


def _tokens(sealed: Sealed) -> int:
    return sealed.tokens["input_tokens"] + sealed.tokens["output_tokens"]
