"""Write how a run ended, in one transaction; a second time changes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import TypeAlias
from uuid import UUID

from django.db import OperationalError

from copilot_admin.journal.keys import hash_key
from copilot_admin.journal.sealed_contents import SealedContents
from copilot_admin.journal.sealing import Sealed, WrittenMessage
from copilot_admin.journal.search_index import index_answer
from copilot_admin.journal.seen import note_seen
from copilot_admin.journal.usage import ERRORS, CountedRun, UsageKey, beginnings, count, uncount
from copilot_admin.models import (
    Checkpoint,
    Conversation,
    CostConfidence,
    Event,
    EventType,
    Node,
    NodeKind,
    NodeRole,
    Outcome,
    Run,
    SeenKind,
    Turn,
    TurnState,
    TurnText,
)
from copilot_admin.prices.bill import Bill, bill_of
from copilot_admin.prices.cost import Cost
from copilot_admin.storage import blobs
from copilot_admin.storage.held_back import hold_back
from copilot_admin.storage.selects import Select, member
from copilot_admin.storage.statements import Delete, Insert, Update
from copilot_admin.threads.chain import Chain
from copilot_admin.threads.content import StoredContent
from protocol.json import Json

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
_RUNNING = frozenset({Outcome.RUNNING})
_RUN = (
    "id", "outcome", "copilot_id", "conversation_id", "turn_id", "principal", "provider", "model",
    "started_at", "notes", "cost_confidence", "copilot_version__number", "is_counted",
    "turn__started_at", "conversation__first_at",
    "ttft_ms", "error_code", "input_tokens", "output_tokens", "cost", "user_id",
)  # fmt: skip
_LEAF = (
    "input_leaf_id", "input_leaf__depth", "input_leaf__chain_hash", "input_leaf__client_hash",
)  # fmt: skip
_ENDING = (
    "outcome", "ms", "ttft_ms", "error", "error_code", "finish_reason", "notes", "usage_source",
    "output_node_id", "answer_text", "heartbeat_at",
    "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens",
    "input_price", "cached_price", "output_price", "reasoning_price", "cost", "cost_confidence",
    "is_counted",
)  # fmt: skip
_LOCK_RUN = Select(Run, *_RUN, *_LEAF, where=("id",), lock=True)
_INSERT_NODE = Insert(Node, returning=("id", "text"), or_existing=("conversation_id", "chain_hash"))
_END_RUN = Update(Run, where=("id",), set=_ENDING)
_DROP_CHECKPOINTS = Delete(Checkpoint, where=("run_id",))
_END_TURN = Update(
    Turn,
    where=("id",),
    set=("state", "waiting_since", "ttft_ms"),
    add=("tokens", "ms", "cost", "n_unpriced"),
    either=("cost_is_estimated",),
)
_END_IN_CONVERSATION = Update(
    Conversation,
    where=("id",),
    set=("ttft_ms", "last_outcome", "last_at"),
    add=("tokens", "cost", "n_unpriced"),
    either=("has_error", "has_call", "has_file", "cost_is_estimated"),
)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """The message under which the next one hangs."""

    id: int | None
    depth: int
    chain_hash: str
    client_hash: str


@dataclass(frozen=True, slots=True)
class _Open:
    """What is stored of a run that has not ended, or of which the end was only guessed.

    `leaf` is the last message that it read.
    """

    id: UUID
    outcome: Outcome
    copilot_id: int
    conversation_id: int | None
    turn_id: int | None
    principal: str
    provider: str
    model: str
    started_at: datetime
    notes: list[Json]
    cost_confidence: str
    version_number: int | None
    is_counted: bool
    turn_started_at: datetime | None
    conversation_first_at: datetime | None
    ttft_ms: int | None
    error_code: str
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    user_id: int | None
    leaf: _Leaf | None


@dataclass(frozen=True, slots=True)
class _Written:
    """Where the answer is: in a node, or in the run itself if an earlier answer has the node."""

    node_id: int | None = None
    text: str = ""


def finish(sealed: Sealed, contents: SealedContents | None = None) -> Cost | None:
    """Stores the end of a run.

    An end that was only guessed (interrupted, since nobody heard from the process) gives way to
    the real one.

    Args:
        sealed: The end.
        contents: The same, where it was packed before.

    Returns:
        What it cost; None: nothing was stored, as the run had ended already, or is gone.

    Raises:
        OperationalError: The database contradicts itself, or did not take the end.
    """
    run = _lock(sealed)
    if run is None:
        _make_sure_of_end(sealed)
        return None
    was_guessed = run.outcome is Outcome.INTERRUPTED
    if was_guessed:
        Event.objects.filter(run_id=run.id).delete()
    bill = _bill(run, sealed)
    costs = _added(bill.cost, was_unpriced=was_guessed and run.cost_confidence == _UNKNOWN)
    written = _Written()
    if run.conversation_id is not None:
        contents = contents or SealedContents(sealed)
        blobs.save(contents.packed())  # together, before rows that others hold
        # Before its messages and turns, as a question does it: in another order two workers with
        # one conversation would wait for each other until PostgreSQL ends one of them.
        _write_conversation(run.conversation_id, sealed, costs)
        written = _write_replies(run, run.conversation_id, sealed, contents)
        _write_events(run, sealed, contents)
    _write_run(run, sealed, written, bill)
    if sealed.was_checkpointed or was_guessed:
        _DROP_CHECKPOINTS(run_id=run.id)
    if run.turn_id is not None:
        _write_turn(run.turn_id, sealed, costs)
    if run.turn_id is not None and run.conversation_id is not None and sealed.keep_content:
        _index(run.turn_id, run.conversation_id, sealed.text, _beginnings(run))
    note_seen(SeenKind.MODEL, run.model)
    note_seen(SeenKind.ERROR, sealed.error_code)
    _count(run, sealed, bill.cost)
    return bill.cost


def _lock(sealed: Sealed) -> _Open | None:
    row = _LOCK_RUN(id=sealed.run_id)
    if row is None:
        return None
    run_id, outcome, *others = row[: len(_RUN)]
    leaf = _Leaf(*row[len(_RUN) :])
    if run_id != sealed.run_id:
        raise OperationalError("another run came than the one that was asked for")
    was = member(Outcome, outcome)
    run = _Open(*[run_id, was, *others, leaf if leaf.id is not None else None])
    return run if run.outcome in _open_to(sealed) else None


def _make_sure_of_end(sealed: Sealed) -> None:
    """Asks in another way whether a run has ended or is gone: who asked is told that it is kept."""
    still_open = Run.objects.filter(pk=sealed.run_id, outcome__in=_open_to(sealed))
    if still_open.update(heartbeat_at=sealed.ended_at):
        raise OperationalError("a run has ended, and has not")


def _open_to(sealed: Sealed) -> frozenset[Outcome]:
    """The outcomes that give way to an end."""
    return _RUNNING if sealed.outcome is Outcome.INTERRUPTED else _RUNNING | {Outcome.INTERRUPTED}


def _write_replies(
    run: _Open, conversation_id: int, sealed: Sealed, contents: SealedContents
) -> _Written:
    in_clear = sealed.keep_content and not sealed.is_redacted
    chain = Chain(hash_key(keep_content=in_clear), run.copilot_id, run.principal)
    leaf = run.leaf or _Leaf(None, -1, chain.root, chain.root)
    answer_text = ""
    for reply, content in zip(sealed.replies, contents.replies, strict=True):
        leaf, text = _reply_node(
            reply, content, conversation_id, parent=leaf, chain=chain, at=sealed.ended_at
        )
        if reply.kind.value == NodeKind.TEXT and text != reply.text:
            answer_text = reply.text  # the node is an earlier answer that differs in space only
    return _Written(leaf.id if sealed.replies else None, answer_text)


def _reply_node(
    reply: WrittenMessage,
    content: StoredContent,
    conversation_id: int,
    *,
    parent: _Leaf,
    chain: Chain,
    at: datetime,
) -> tuple[_Leaf, str]:
    """Stores a reply, or finds it where it was given before; with the text that is stored."""
    chain_hash = chain.after(parent.chain_hash, bytes.fromhex(reply.digest))
    row = _INSERT_NODE(
        conversation_id=conversation_id,
        chain_hash=chain_hash,
        parent_id=parent.id,
        depth=parent.depth + 1,
        role=NodeRole.AI,
        kind=reply.kind.value,
        text=content.text,
        blob_id=content.sha,
        client_hash=parent.client_hash,
        created_at=at,
    )
    assert row is not None  # noqa: S101  # the statement returns one
    node_id, text = row
    return _Leaf(node_id, parent.depth + 1, chain_hash, parent.client_hash), text


def _write_events(run: _Open, sealed: Sealed, contents: SealedContents) -> None:
    if not sealed.entries:  # as of most answers; to insert nothing costs as much as a row
        return
    both = zip(sealed.entries, contents.entries, strict=True)
    Event.objects.bulk_create(
        Event(
            run_id=run.id,
            ord=order,
            type=entry.type,
            payload=entry.payload if packed is None else None,
            blob_id=None if packed is None else packed.sha,
            text_offset=entry.text_offset,
            at_ms=entry.at_ms,
        )
        for order, (entry, packed) in enumerate(both)
    )


def _bill(run: _Open, sealed: Sealed) -> Bill:
    return bill_of(
        sealed.usages,
        provider=run.provider,
        model=run.model,
        at=run.started_at,
        outcome=sealed.outcome,
    )


def _added(cost: Cost, *, was_unpriced: bool) -> _Added:
    """What a run adds to the cost of its turn and conversation."""
    return {
        "cost": cost.amount or 0,
        "n_unpriced": int(not cost.is_known) - int(was_unpriced),
        "cost_is_estimated": cost.confidence is CostConfidence.ESTIMATED,
    }


def _write_run(run: _Open, sealed: Sealed, written: _Written, bill: Bill) -> None:
    ended = _END_RUN(
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
        is_counted=True,
        **sealed.tokens,
        **bill.prices,
    )
    if ended != 1:  # it is locked, so it is there
        raise OperationalError("the end of a run was not stored")


def _write_turn(turn_id: int, sealed: Sealed, costs: _Added) -> None:
    waits = sealed.is_call and sealed.outcome is Outcome.COMPLETED
    _END_TURN(
        id=turn_id,
        state=TurnState.AWAITING_RESULT if waits else _STATES[sealed.outcome],
        waiting_since=sealed.ended_at if waits else None,
        tokens=_tokens(sealed),
        ttft_ms=sealed.ttft_ms,
        ms=sealed.ms,
        **costs,
    )


def _write_conversation(conversation_id: int, sealed: Sealed, costs: _Added) -> None:
    _END_IN_CONVERSATION(
        id=conversation_id,
        tokens=_tokens(sealed),
        ttft_ms=sealed.ttft_ms,
        last_outcome=sealed.outcome,
        last_at=sealed.ended_at,
        has_error=sealed.outcome in ERRORS,
        has_call=sealed.is_call,
        has_file=any(entry.type == EventType.FILE for entry in sealed.entries),
        **costs,
    )


def _index(turn_id: int, conversation_id: int, answer: str, begins: Mapping[str, bool]) -> None:
    """Lets the answer be searched, at the end of the transaction.

    SQLite writes what its index has gathered before each statement that follows: of ten answers ten
    times.
    """
    is_first = begins["begins_turn"]
    work = partial(index_answer, turn_id, conversation_id, answer, is_first=is_first)
    hold_back((TurnText._meta.db_table, turn_id), work)


def _count(run: _Open, sealed: Sealed, cost: Cost) -> None:
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
        tokens=_tokens(sealed),
        ttft_ms=sealed.ttft_ms,
        cost=cost.amount,
        **_beginnings(run),
    )
    count(asked, ended)


def _guessed(run: _Open) -> CountedRun:
    """A run as it was counted when its process was silent."""
    return CountedRun(
        outcome=run.outcome,
        error_code=run.error_code,
        tokens=run.input_tokens + run.output_tokens,
        ttft_ms=run.ttft_ms,
        cost=run.cost,
        **_beginnings(run),
    )


def _beginnings(run: _Open) -> Mapping[str, bool]:
    return beginnings(run.started_at, turn=run.turn_started_at, talk=run.conversation_first_at)


def _tokens(sealed: Sealed) -> int:
    return sealed.tokens["input_tokens"] + sealed.tokens["output_tokens"]
