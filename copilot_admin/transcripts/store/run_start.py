"""The start of a run: conversation, messages, turn and run in one transaction; rejected requests."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
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
from copilot_admin.redaction.redactor import redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.storage import blobs
from copilot_admin.storage.blobs import BlobValue
from copilot_admin.storage.sql import execute
from copilot_admin.transcripts.end_users import find_end_user, save_end_user
from copilot_admin.transcripts.matching.matching import (
    AttachedRequest,
    PreparedMessages,
    attach_request,
)
from copilot_admin.transcripts.matching.messages import (
    COLUMNS,
    FIELDS,
    NO_CONTENT,
    HashChain,
    HashedMessage,
    hash_key,
    load_request,
    parse_content,
    replace_images,
    serialize_message,
    split_request,
)
from protocol.json import Json, JsonObject, clean_text, list_of, object_of, objects_of
from protocol.models import Generation, HumanMessage, Query, ResultMessage

MAX_TITLE_CHARACTERS = 300
MAX_TITLE_SOURCE_CHARACTERS = 20 * MAX_TITLE_CHARACTERS  # a question may have megabytes
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
class RunStart:
    """All facts about a run that are stored before its first byte."""

    run_id: UUID
    copilot_id: int
    version_id: int | None  # None if a draft answers
    logging: Logging
    redaction: Rules = NO_RULES
    principal: str
    trace_id: str | None  # the chat's id if the client sent one; never one that the server made
    query: Query
    size: int  # bytes of the request's body, or of one with the same duration
    provider: str  # "" if the copilot isn't ready
    model: str
    params: Mapping[str, Json]
    started_at: datetime
    user: AskingUser | None = None
    origin: int | None = None  # conversation whose question a trial repeats


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


@dataclass(slots=True)
class PreparedRun:
    """A start whose steps without a database are done; `attached` by an attempt to store it."""

    start: RunStart
    messages: PreparedMessages | None = None
    request: Mapping[str, BlobValue] = field(default_factory=dict)
    attached: AttachedRequest | None = None


def prepare(start: RunStart) -> PreparedRun:
    """Hash and serialize a request; needs milliseconds for a big one."""
    if start.logging is Logging.NOTHING:
        return PreparedRun(start)
    keep = start.logging is Logging.EVERYTHING
    # A public hash would allow to guess the removed text.
    in_clear = keep and not start.redaction
    user = start.user.id if start.user else ""
    chain = HashChain(hash_key(keep_content=in_clear), start.copilot_id, start.principal, user)
    messages = chain.hash_messages(start.query.messages)
    env: JsonObject = {}
    if keep:
        env = start.query.env
        if "context" in env:
            env = {**env, "context": replace_images(env["context"])}
        if start.redaction:
            start, messages, env = _redact(start, messages, env)
    prepared = PreparedMessages(
        chain=chain,
        messages=messages,
        newest=serialize_message(messages[-1].message) if keep and messages else NO_CONTENT,
        trace_id=start.trace_id or "",
        title=_make_title(messages) if keep else "",
        keep_content=keep,
        at=start.started_at,
        origin=start.origin,
    )
    return PreparedRun(start, prepared, split_request(env) if keep else {})


def _make_title(messages: Iterable[HashedMessage]) -> str:
    questions = (one.message for one in messages if isinstance(one.message, HumanMessage))
    question = next(questions, HumanMessage(""))
    beginning = question.text.lstrip()[:MAX_TITLE_SOURCE_CHARACTERS]
    text = serialize_message(replace(question, text=beginning)).text
    return " ".join(text.split())[:MAX_TITLE_CHARACTERS]


def _redact(
    start: RunStart, hashed: Sequence[HashedMessage], env: JsonObject
) -> tuple[RunStart, tuple[HashedMessage, ...], JsonObject]:
    values: list[Any] = [env, start.query.notes, *(one.message for one in hashed)]
    env, notes, *messages = redact_values(values, start.redaction)
    kept = tuple(
        replace(one, message=message) for one, message in zip(hashed, messages, strict=True)
    )
    return replace(start, query=replace(start.query, notes=notes)), kept, env


def accept(prepared: PreparedRun) -> AcceptedRun:
    """Store the start of a run; idempotent, since a commit may have lacked its confirmation."""
    start, messages = prepared.start, prepared.messages
    if prepared.attached and Run.objects.filter(pk=start.run_id).exists():
        return _load_accepted(start, prepared.attached)
    newest = messages.newest.blob if messages else None
    # In one statement, and before any other row is locked.
    blobs.save([*prepared.request.values(), *([newest] if newest else [])])
    user_id = None
    if start.user is not None and start.logging is not Logging.NOTHING:
        user_id = save_end_user(start.user, at=start.started_at)
    if messages is None or not messages.messages:
        _insert_run(prepared, None, user_id)
        return AcceptedRun()
    attached = prepared.attached = attach_request(replace(messages, user_id=user_id))
    _insert_run(prepared, attached, user_id)
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


def _insert_run(
    prepared: PreparedRun, attached: AttachedRequest | None, user_id: int | None
) -> None:
    start, query, request = prepared.start, prepared.start.query, prepared.request
    keep = start.logging is Logging.EVERYTHING
    execute(
        _INSERT_RUN,
        id=start.run_id,
        copilot_id=start.copilot_id,
        copilot_version_id=start.version_id,
        conversation_id=attached and attached.conversation_id,
        turn_id=attached and attached.turn_id,
        input_leaf_id=attached and attached.leaf_id,
        principal="" if start.logging is Logging.NOTHING else start.principal,
        user_id=user_id,
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
