"""Requests prepared for the transaction that stores them: hashed, redacted and serialized."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import Logging
from copilot_admin.redaction.redactor import redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.storage.blobs import BlobValue
from copilot_admin.transcripts.matching.messages import (
    NO_CONTENT,
    HashChain,
    HashedMessage,
    StoredContent,
    hash_key,
    replace_images,
    serialize_message,
    split_request,
)
from protocol.json import Json, JsonObject
from protocol.models import HumanMessage, Query

MAX_TITLE_CHARACTERS = 300
MAX_TITLE_SOURCE_CHARACTERS = 20 * MAX_TITLE_CHARACTERS  # a question may have megabytes


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

    @property
    def keeps_content(self) -> bool:
        return self.logging is Logging.EVERYTHING


@dataclass(frozen=True, slots=True)
class AttachedRequest:
    """The conversation and turn of a request whose new messages are stored."""

    conversation_id: int
    turn_id: int
    is_new: bool
    leaf_id: int | None  # the stored last message of the request
    path: frozenset[str]  # hashes of the stored messages that lead to the leaf, and maybe of others
    is_new_turn: bool
    is_branch: bool  # the conversation already has another question at its place


@dataclass(slots=True)
class PreparedRun:
    """A start whose steps without a database are done; without messages if nothing is stored."""

    start: RunStart
    chain: HashChain
    messages: Sequence[HashedMessage] = ()
    newest: StoredContent = NO_CONTENT  # of the last message, nearly always the only new one
    title: str = ""
    request: Mapping[str, BlobValue] = field(default_factory=dict)
    # Set by an attempt to store it.
    user_id: int | None = None
    attached: AttachedRequest | None = None


def prepare(start: RunStart) -> PreparedRun:
    """Hash and serialize a request; needs milliseconds for a big one."""
    keep = start.keeps_content
    # A public hash would allow to guess the removed text.
    key = hash_key(keep_content=keep and not start.redaction)
    user = start.user.id if start.user else ""
    chain = HashChain(key, start.copilot_id, start.principal, user)
    if start.logging is Logging.NOTHING:
        return PreparedRun(start, chain)
    messages = chain.hash_messages(start.query.messages)
    if not keep:
        return PreparedRun(start, chain, messages)
    env = start.query.env
    if "context" in env:
        env = {**env, "context": replace_images(env["context"])}
    if start.redaction:
        start, messages, env = _redact(start, messages, env)
    return PreparedRun(
        start,
        chain,
        messages,
        newest=serialize_message(messages[-1].message) if messages else NO_CONTENT,
        title=_make_title(messages),
        request=split_request(env),
    )


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
