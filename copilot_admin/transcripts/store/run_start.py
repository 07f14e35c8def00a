"""The start of a run: conversation, messages, turn and run in one transaction; rejected requests."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
import uuid
from uuid import UUID

from copilot_admin.agent.client.client_state import SIGNED_MEMORY
from copilot_admin.agent.values.answer_request import Memory, StoredTurn
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import (
    CostConfidence,
    Event,
    EventType,
    Logging,
    Node,
    NodeKind,
    Outcome,
    Run,
)
from copilot_admin.storage import blobs
from copilot_admin.storage.sql import execute
from copilot_admin.transcripts.end_users import find_end_user, save_end_user
from copilot_admin.transcripts.matching.matching import attach_request
from copilot_admin.transcripts.matching.messages import (
    COLUMNS,
    FIELDS,
    load_request,
    parse_content,
)
from copilot_admin.transcripts.matching.requests import AttachedRequest, PreparedRun, RunStart
from protocol.json import Json, JsonObject, clean_text, list_of, object_of, objects_of
from protocol.models import Generation, Query, ResultMessage

BOOT_ID = uuid.uuid4().hex  # of this process; a run of another one may have lost its process

_INSERT_RUN = """
INSERT INTO copilot_admin_run (
    id, copilot_id, copilot_version_id, conversation_id, turn_id, input_leaf_id, principal, user_id,
    provider, model, params, generation, started_at, notes, boot_id, heartbeat_at, outcome,
    env_id, widgets_id, context_id, tools_id,
    input_tokens, cached_tokens, output_tokens, reasoning_tokens, usage_source, cost_confidence,
    error, error_code, finish_reason, answer_text, is_counted, times
) VALUES (
    %(id)s, %(copilot_id)s, %(copilot_version_id)s, %(conversation_id)s, %(turn_id)s,
    %(input_leaf_id)s, %(principal)s, %(user_id)s, %(provider)s, %(model)s, %(params)s,
    %(generation)s, %(started_at)s, %(notes)s, %(boot_id)s, %(started_at)s, 'running',
    %(env)s, %(widgets)s, %(context)s, %(tools)s,
    0, 0, 0, 0, '', 'unknown', '', '', '', '', FALSE, 1
) ON CONFLICT DO NOTHING
"""
_COUNT_RUN = """
UPDATE copilot_admin_conversation SET
    last_at = %(at)s, last_outcome = 'running', n_runs = n_runs + 1, n_turns = n_turns + %(turns)s,
    has_branch = (has_branch OR %(branches)s)
WHERE id = %(id)s
"""
_REOPEN_TURN = """
UPDATE copilot_admin_turn SET state = 'open', waiting_since = NULL WHERE id = %(id)s
"""
# Clients run a call immediately; one that repeats the question so soon has lost the result.
LOOP_WINDOW = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A request that a limit, a budget or a restart rejected; `times` is their number."""

    run_id: UUID
    copilot_id: int
    version_id: int | None
    logging: Logging
    principal: str
    started_at: datetime
    error: str
    error_code: str
    generation: Generation = Generation.THREE
    user: AskingUser | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class AcceptedRun:
    """A run that is committed; without a conversation if nothing is stored."""

    conversation_id: int | None = None
    turn_id: int | None = None
    stored_turn: StoredTurn = field(default_factory=StoredTurn)


def accept(prepared: PreparedRun) -> AcceptedRun:
    """Store the start of a run; idempotent, since a commit may have lacked its confirmation."""
    start, attached = prepared.start, prepared.attached
    if attached and Run.objects.filter(pk=start.run_id).exists():
        return _load_accepted(start, attached)
    # In one statement, and before any other row is locked.
    blobs.save(filter(None, [*prepared.request.values(), prepared.newest.blob]))
    if start.user is not None and start.logging is not Logging.NOTHING:
        prepared.user_id = save_end_user(start.user, at=start.started_at)
    if not prepared.messages:
        _insert_run(prepared, None)
        return AcceptedRun()
    attached = prepared.attached = attach_request(prepared)
    _insert_run(prepared, attached)
    if not attached.is_new:
        execute(
            _COUNT_RUN,
            id=attached.conversation_id,
            turns=int(attached.is_new_turn),
            at=start.started_at,
            branches=attached.is_branch,
        )
    if not attached.is_new_turn:
        execute(_REOPEN_TURN, id=attached.turn_id)
    return _load_accepted(start, attached)


def _load_accepted(start: RunStart, attached: AttachedRequest) -> AcceptedRun:
    stored = load_turn_state(attached, start.query, run_id=start.run_id, now=start.started_at)
    return AcceptedRun(attached.conversation_id, attached.turn_id, stored)


def reject(rejections: Iterable[Rejection]) -> None:
    """Store requests that were rejected: runs without a turn."""
    runs = [
        Run(
            id=rejection.run_id,
            copilot_id=rejection.copilot_id,
            copilot_version_id=rejection.version_id,
            principal="" if rejection.logging is Logging.NOTHING else rejection.principal,
            # Rejections are stored later, so they must not restore an erased user.
            user_id=None
            if rejection.user is None or rejection.logging is Logging.NOTHING
            else find_end_user(rejection.user),
            generation=rejection.generation,
            started_at=rejection.started_at,
            ms=0,
            outcome=Outcome.REFUSED,
            cost=0,  # no model was called
            cost_confidence=CostConfidence.EXACT,
            error=rejection.error if rejection.logging is Logging.EVERYTHING else "",
            error_code=rejection.error_code[:50],
            boot_id=BOOT_ID,
            heartbeat_at=rejection.started_at,
            times=rejection.times,
        )
        for rejection in rejections
    ]
    Run.objects.bulk_create(runs, ignore_conflicts=True)


def _insert_run(prepared: PreparedRun, attached: AttachedRequest | None) -> None:
    start, query, request = prepared.start, prepared.start.query, prepared.request
    keep = start.keeps_content
    execute(
        _INSERT_RUN,
        id=start.run_id,
        copilot_id=start.copilot_id,
        copilot_version_id=start.version_id,
        conversation_id=attached and attached.conversation_id,
        turn_id=attached and attached.turn_id,
        input_leaf_id=attached and attached.leaf_id,
        principal="" if start.logging is Logging.NOTHING else start.principal,
        user_id=prepared.user_id,
        provider=start.provider[:100],
        model=start.model[:200],
        params=dict(start.params) if keep else {},
        generation=query.generation,
        started_at=start.started_at,
        notes=[clean_text(note) for note in query.notes] if keep else [],
        **{name: request[name].sha if name in request else None for name in FIELDS},
        boot_id=BOOT_ID,
    )


def load_turn_state(
    attached: AttachedRequest, query: Query, *, run_id: UUID, now: datetime
) -> StoredTurn:
    """Return the state that earlier runs of a turn left, for a run that was just attached."""
    runs = Run.objects.filter(turn_id=attached.turn_id).exclude(pk=run_id).order_by("started_at")
    nodes = (f"output_node__{name}" for name in ("kind", "chain_hash", "text", "blob"))
    runs = runs.select_related("output_node").only(
        "input_leaf", "started_at", "ms", *FIELDS, *nodes
    )
    earlier = [] if attached.is_new_turn else list(runs)
    if not earlier:
        names = ("timezone", "urls", "selected_skills", "workspace_state")
        return StoredTurn(memory=Memory(**{name: getattr(query, name) for name in names}))
    by_hash = {call.chain_hash: call for run in earlier if (call := _call_of(run))}
    calls = [call for chain_hash, call in by_hash.items() if chain_hash in attached.path]
    big = blobs.load(call.blob_id for call in calls if call.blob_id)
    contents = [big.get(one.blob_id) if one.blob_id else parse_content(one.text) for one in calls]
    last = query.messages[-1]
    lacks_memory = isinstance(last, ResultMessage) and SIGNED_MEMORY not in last.extra_state
    return StoredTurn(
        memory=_memory_of_run(earlier[0]),
        client_calls=Counter(str(object_of(one).get("function") or "") for one in contents),
        is_retry_loop=_is_loop(earlier, attached.leaf_id, query, now=now),
        carried=_load_extra_state(earlier, attached.leaf_id) if lacks_memory else {},
    )


def _call_of(run: Run) -> Node | None:
    """Return the call that a run ended in."""
    node = run.output_node
    return node if node is not None and node.kind == NodeKind.CALL else None


def _is_loop(earlier: Sequence[Run], leaf_id: int | None, query: Query, *, now: datetime) -> bool:
    same = [run for run in earlier if run.input_leaf_id == leaf_id]
    call = _call_of(same[-1]) if same else None
    if call is None:
        return False
    ended_at = same[-1].started_at + timedelta(milliseconds=same[-1].ms or 0)
    if now - ended_at >= LOOP_WINDOW or call.children.filter(kind=NodeKind.RESULT).exists():
        return False
    env = _load_request(same[-1])
    return env is None or _context_of(env) == _context_of(query.env)


def _load_request(run: Run) -> JsonObject | None:
    return load_request(*(getattr(run, column) for column in COLUMNS))


def _load_extra_state(earlier: Sequence[Run], leaf_id: int | None) -> JsonObject:
    """Return the signed state of the answered call, which older clients don't repeat."""
    if leaf_id is None:
        return {}
    call_id = Node.objects.filter(pk=leaf_id).values_list("parent_id", flat=True).first()
    runs = [run.pk for run in earlier if (call := _call_of(run)) and call.pk == call_id]
    event = Event.objects.filter(run_id__in=runs[-1:], type=EventType.FUNCTION_CALL).first()
    if event is None:
        return {}
    payload = event.payload
    if event.blob_id is not None:
        payload = object_of(blobs.load([event.blob_id]).get(event.blob_id))
    return object_of(object_of(payload).get("extra_state"))


def _memory_of_run(first: Run) -> Memory | None:
    env = _load_request(first)
    if env is None:
        return None
    timezone = env.get("timezone")
    skills = objects_of(env.get("selected_skills"))
    return Memory(
        timezone=timezone if isinstance(timezone, str) else None,
        urls=tuple(url for url in list_of(env.get("urls")) if isinstance(url, str)),
        selected_skills=tuple(skill for skill in skills if isinstance(skill.get("slug"), str)),
        workspace_state=object_of(env.get("workspace_state")),
    )


def _context_of(env: JsonObject) -> tuple[Json, Json, list[Json]]:
    """Return the context of a question: widgets, options, and ids of data, which has no images."""
    context = env.get("context")
    items = objects_of(context if isinstance(context, list) else [context])
    return env.get("widgets"), env.get("workspace_options"), [item.get("uuid") for item in items]
