"""Write a run that begins: conversation, messages, turn and run in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import F

from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import (
    CostConfidence,
    Logging,
    Outcome,
    Run,
)
from copilot_admin.redaction.redactor import redact_values
from copilot_admin.storage import blobs
from copilot_admin.storage.blobs import BlobValue
from copilot_admin.storage.sql import execute
from copilot_admin.transcripts.matching.attaching import (
    AttachedRequest,
    PreparedMessages,
    attach_request,
)
from copilot_admin.transcripts.matching.hash_chain import HashChain, HashedMessage
from copilot_admin.transcripts.matching.message_store import (
    NO_CONTENT,
    replace_images,
    serialize_message,
)
from copilot_admin.transcripts.store.keys import hash_key
from copilot_admin.transcripts.store.recall import recollect
from copilot_admin.transcripts.store.requests import FIELDS, split_request
from copilot_admin.transcripts.store.rollups import uncount_runs
from copilot_admin.transcripts.store.users import row_of
from copilot_admin.transcripts.store.values import BOOT_ID, Accepted, Opening, Refusal
from protocol.json import JsonObject, clean_text

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
)
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


@dataclass(slots=True)
class Prepared:
    """An opening with everything done that needs no database.

    Attributes:
        tries: How often it was written; the outcome of a first try may be unknown.
        attached: Where the last try that wrote it has put its messages.
    """

    opening: Opening
    incoming: PreparedMessages | None = None
    env: Mapping[str, BlobValue] = field(default_factory=dict)
    tries: int = 0
    attached: AttachedRequest | None = None

    def contents(self) -> Sequence[BlobValue]:
        """Return what is stored as blobs: of the request, and of the messages that were prepared."""
        incoming = self.incoming
        messages = [*incoming.older.values(), incoming.newest] if incoming else []
        return [*self.env.values(), *(one.blob for one in messages if one.blob is not None)]


def prepare(opening: Opening) -> Prepared:
    """Hashes and packs a request; costs milliseconds for a big one."""
    if opening.logging is Logging.NOTHING:
        return Prepared(opening)
    keep = opening.logging is Logging.EVERYTHING
    # Out of what a public hash was made of, somebody could find out what was taken out.
    in_clear = keep and not opening.redaction
    chain = HashChain(
        hash_key(keep_content=in_clear),
        opening.copilot_id,
        opening.principal,
        opening.user.id if opening.user else "",
    )
    messages = chain.hash_messages(opening.query.messages)
    env = _kept(opening.query.env) if keep else {}
    if keep and opening.redaction:
        opening, messages, env = _redacted(opening, messages, env)
    incoming = PreparedMessages(
        chain=chain,
        messages=messages,
        newest=serialize_message(messages[-1].message) if keep and messages else NO_CONTENT,
        trace_id=opening.trace_id or "",
        keep_content=keep,
        at=opening.started_at,
        origin=opening.origin,
    )
    return Prepared(opening, incoming, split_request(env) if keep else {})


def _redacted(
    opening: Opening, hashed: Sequence[HashedMessage], env: JsonObject
) -> tuple[Opening, tuple[HashedMessage, ...], JsonObject]:
    messages = [one.message for one in hashed]
    given: list[Any] = [env, opening.query.notes, *messages]
    env, notes, *kept = redact_values(given, opening.redaction)
    redacted_messages = tuple(
        replace(one, message=message) for one, message in zip(hashed, kept, strict=True)
    )
    return replace(opening, query=replace(opening.query, notes=notes)), redacted_messages, env


def _kept(env: JsonObject) -> JsonObject:
    return {**env, "context": replace_images(env["context"])} if "context" in env else env


def accept(prepared: Prepared) -> Accepted:
    """Stores a run that begins; stores nothing a second time."""
    opening = prepared.opening
    prepared.tries += 1
    if prepared.tries > 1 and (stored := _stored(prepared)):
        return stored
    blobs.save(prepared.contents())  # together, before any other row is held
    user_id = _user_id(opening.user, opening.logging, at=opening.started_at)
    if prepared.incoming is None or not prepared.incoming.messages:
        _create_run(prepared, None, user_id)
        return Accepted()
    incoming = prepared.incoming
    prepared.attached = attach_request(
        incoming if user_id is None else replace(incoming, user_id=user_id)
    )
    _create_run(prepared, prepared.attached, user_id)
    _count(prepared.attached, opening)
    return _accepted(opening, prepared.attached)


def _stored(prepared: Prepared) -> Accepted | None:
    """What an earlier try has stored, whose commit was not answered; None: nothing.

    It is asked for before all else: a first question begins a conversation however often it comes.
    """
    opening, attached = prepared.opening, prepared.attached
    places = ("conversation_id", "turn_id", "input_leaf_id")
    row = Run.objects.filter(pk=opening.run_id).values_list(*places).first()
    if row is None:
        return None
    conversation_id, turn_id, leaf_id = row
    if attached is None or conversation_id is None or turn_id is None:
        return Accepted()
    # The try may be another one than the last.
    there = replace(attached, conversation_id=conversation_id, turn_id=turn_id, leaf_id=leaf_id)
    return _accepted(opening, there)


def _accepted(opening: Opening, attached: AttachedRequest) -> Accepted:
    return Accepted(
        conversation_id=attached.conversation_id,
        turn_id=attached.turn_id,
        recollection=recollect(
            attached, opening.query, run_id=opening.run_id, now=opening.started_at
        ),
    )


def _user(user: AskingUser | None, logging: Logging) -> AskingUser | None:
    return None if logging is Logging.NOTHING else user


def _user_id(user: AskingUser | None, logging: Logging, *, at: datetime) -> int | None:
    found = _user(user, logging)
    return None if found is None else row_of(found, at=at)


def refuse(refusal: Refusal) -> None:
    """Stores a request that was refused: a run without a turn; nothing a second time."""
    keep = refusal.logging is Logging.EVERYTHING
    run = Run(
        id=refusal.run_id,
        copilot_id=refusal.copilot_id,
        copilot_version_id=refusal.version_id,
        principal="" if refusal.logging is Logging.NOTHING else refusal.principal,
        user_id=_user_id(refusal.user, refusal.logging, at=refusal.started_at),
        provider=refusal.provider[:100],
        model=refusal.model[:200],
        generation=refusal.generation,
        started_at=refusal.started_at,
        ms=refusal.ms,
        outcome=Outcome.REFUSED,
        cost=0,  # nobody was asked
        cost_confidence=CostConfidence.EXACT,
        error=refusal.error if keep else "",
        error_code=refusal.error_code[:50],
        boot_id=BOOT_ID,
        heartbeat_at=refusal.started_at,
    )
    Run.objects.bulk_create([run], ignore_conflicts=True)


def refuse_more(refusal: Refusal, more: int) -> None:
    """Count requests that were refused like one that is stored; it stands for them."""
    uncount_runs([refusal.run_id])
    Run.objects.filter(pk=refusal.run_id).update(times=F("times") + more)


def _create_run(prepared: Prepared, attached: AttachedRequest | None, user_id: int | None) -> None:
    opening, query = prepared.opening, prepared.opening.query
    content = opening.logging is Logging.EVERYTHING
    nothing = opening.logging is Logging.NOTHING
    env = prepared.env
    execute(
        _INSERT_RUN,
        id=opening.run_id,
        copilot_id=opening.copilot_id,
        copilot_version_id=opening.version_id,
        conversation_id=attached.conversation_id if attached else None,
        turn_id=attached.turn_id if attached else None,
        input_leaf_id=attached.leaf_id if attached else None,
        principal="" if nothing else opening.principal,
        user_id=user_id,
        provider=opening.provider[:100],
        model=opening.model[:200],
        params=dict(opening.params) if content else {},
        generation=query.generation,
        started_at=opening.started_at,
        notes=[clean_text(note) for note in query.notes] if content else [],
        **{name: env[name].sha if name in env else None for name in FIELDS},
        boot_id=BOOT_ID,
    )


def _count(attached: AttachedRequest, opening: Opening) -> None:
    if not attached.is_new:
        execute(
            _COUNT_RUN,
            id=attached.conversation_id,
            turns=int(attached.is_new_turn),
            at=opening.started_at,
            branches=attached.is_branch,
        )
    if not attached.is_new_turn:
        execute(_REOPEN_TURN, id=attached.turn_id)
