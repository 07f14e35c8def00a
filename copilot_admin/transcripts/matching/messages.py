"""Messages as they are stored: their content, and the hash chains by which a client's copy is known.

The chain of all messages finds the exact place. The chain of the client's own messages (questions and
results) finds it if an answer was returned altered. Stored hashes rely on every byte hashed here.
Source: docs/transcripts.md, rules 1 to 3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
import json
from typing import Any, assert_never, cast

from django.conf import settings

from copilot_admin.agent.files.pictures import IMAGE_TYPES
from copilot_admin.storage import blobs
from copilot_admin.storage.blobs import MIN_BLOB_BYTES, BlobValue, to_blob
from copilot_admin.storage.sql import fetch_row
from protocol.canonical import CanonicalRole, Kind, canonical, kind_of, role_of
from protocol.json import Json, JsonObject, clean_json, clean_text
from protocol.models import (
    AiMessage,
    CallMessage,
    CommandResult,
    DataItem,
    FileReference,
    HumanMessage,
    Message,
    ResultMessage,
    SourceData,
    SourceError,
    SourceResult,
)
from protocol.redaction import redact, redact_text

HASH_BYTES = 16
PUBLIC_KEY = b"copilot-admin chain 1"  # for conversations stored with their content
MAX_PLAIN_CHARACTERS = 2048  # of an item of a result; a longer one is hashed separately
BUBBLE_SEPARATOR = "\n\n"
MAX_IMAGE_DEPTH = 6  # levels between a request and an item of its context
MAX_AGENT_CHARACTERS = 200
# If another process has stored the same message, its row is returned.
_INSERT = """
INSERT INTO copilot_admin_node (
    conversation_id, parent_id, depth, role, kind, agent, text, blob_id, chain_hash, client_hash,
    echo_differs, from_history, created_at
) VALUES (
    %(conversation_id)s, %(parent_id)s, %(depth)s, %(role)s, %(kind)s, %(agent)s, %(text)s,
    %(blob_id)s, %(chain_hash)s, %(client_hash)s, FALSE, %(from_history)s, %(at)s
) ON CONFLICT (conversation_id, chain_hash) DO UPDATE SET depth = copilot_admin_node.depth
RETURNING id, text
"""
# The stored part of a request without its messages. Large fields that successive requests repeat
# (the catalogue of widgets, the data of the chat, the tools) are values of their own, so each is
# stored once however much the rest changes. A run refers to each by a column of the field's name.
SEPARATE_FIELDS = ("widgets", "context", "tools")
FIELDS = ("env", *SEPARATE_FIELDS)  # `env` has the rest


def hash_key(*, keep_content: bool) -> bytes:
    """Return the secret key of hash chains, or a public one that survives a new SECRET_KEY."""
    return PUBLIC_KEY if keep_content else _secret_key(settings.SECRET_KEY)


@lru_cache(maxsize=4)
def _secret_key(secret: str) -> bytes:
    return blake2b(secret.encode(), person=b"copilot-chain", digest_size=32).digest()


@dataclass(frozen=True, slots=True)
class HashedMessage:
    """A message of a request, and the hashes of the history including it."""

    message: Message
    digest: bytes
    chain_hash: str
    client_hash: str

    @property
    def role(self) -> CanonicalRole:
        return role_of(self.message)

    @property
    def kind(self) -> Kind:
        return kind_of(self.message)


@dataclass(frozen=True, slots=True)
class HashChain:
    """The hashing of one caller's conversations with one copilot; those of two users never join."""

    key: bytes
    copilot_id: int
    principal: str
    user: str = ""

    @property
    def root(self) -> str:
        """The hash of the empty history."""
        owner = f"{self.copilot_id}\n{self.principal}" + (f"\n{self.user}" if self.user else "")
        return _hash(owner.encode(), key=self.key).hex()

    def extend(self, chain_hash: str, digest: bytes) -> str:
        return _hash(bytes.fromhex(chain_hash) + digest, key=self.key).hex()

    def hash_messages(self, messages: Sequence[Message]) -> tuple[HashedMessage, ...]:
        """Hash a history; bubbles of one answer are joined and empty answers left out."""
        hashed: list[HashedMessage] = []
        chain_hash = client_hash = self.root
        for message in join_bubbles(messages):
            digest = digest_of(message, key=self.key)
            chain_hash = self.extend(chain_hash, digest)
            if role_of(message) is not CanonicalRole.AI:
                client_hash = self.extend(client_hash, digest)
            hashed.append(HashedMessage(message, digest, chain_hash, client_hash))
        return tuple(hashed)


def digest_of(message: Message, *, key: bytes) -> bytes:
    """Return the hash of one message; spaces of an answer don't count, since clients trim bubbles."""
    match message:
        case AiMessage(text):
            message = AiMessage("".join(text.split()))
        case ResultMessage(data=data):
            message = replace(message, data=tuple(map(_hash_long_items, data)))
    return _hash(canonical(message), key=key)


def _hash_long_items(result: SourceResult) -> SourceResult:
    if not isinstance(result, SourceData):
        return result
    items = tuple(
        replace(item, content=blake2b(canonical(HumanMessage(item.content))).hexdigest())
        if isinstance(item, DataItem) and len(item.content) > MAX_PLAIN_CHARACTERS
        else item
        for item in result.items
    )
    return replace(result, items=items)


def _hash(data: bytes, *, key: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES, key=key).digest()


def join_bubbles(messages: Iterable[Message]) -> Iterator[Message]:
    for is_answer, group in groupby(messages, key=lambda message: isinstance(message, AiMessage)):
        if not is_answer:
            yield from group
            continue
        bubbles = [bubble for bubble in group if isinstance(bubble, AiMessage)]
        text = BUBBLE_SEPARATOR.join(bubble.text for bubble in bubbles if bubble.text.strip())
        if text:
            yield AiMessage(text, agent_id=bubbles[-1].agent_id)


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Text of a message; of a call or result its JSON, or a blob if that is big."""

    text: str = ""
    blob: BlobValue | None = None
    agent: str = ""

    @property
    def sha(self) -> str | None:
        return self.blob.sha if self.blob else None


NO_CONTENT = StoredContent()


def insert_message(**values: Any) -> tuple[int, str]:
    """Store a message unless its conversation has it; return the id and text of the stored one."""
    row = fetch_row(_INSERT, **{"agent": "", "from_history": False, **values})
    assert row is not None  # noqa: S101  # the statement returns one
    return row["id"], row["text"]


def serialize_message(message: Message) -> StoredContent:
    """Return the content of a message without secrets and characters that databases reject."""
    match message:
        case HumanMessage(text, agent) | AiMessage(text, agent):
            agent = clean_text(agent or "")[:MAX_AGENT_CHARACTERS]
            return StoredContent(redact_text(clean_text(text)), agent=agent)
        case CallMessage(function, arguments):
            return serialize_json({"function": function, "input_arguments": arguments})
        case ResultMessage(function, arguments, data):
            results = replace_images([_result_json(result) for result in data])
            return serialize_json(
                {"function": function, "input_arguments": arguments, "data": results}
            )
    assert_never(message)


def parse_content(text: str) -> JsonObject | None:
    """Parse the text of a call or result; return None if it is in a blob."""
    value = json.loads(text) if text else None
    return cast(JsonObject, value) if isinstance(value, Mapping) else None


def replace_images(value: Json, *, depth: int = MAX_IMAGE_DEPTH) -> Json:
    """Replace every base64 image of a value by a note with its size."""
    if depth < 0:
        return value
    if isinstance(value, Mapping):
        inner = {name: replace_images(one, depth=depth - 1) for name, one in value.items()}
        form, content = value.get("data_format"), value.get("content")
        kind = form.get("data_type") if isinstance(form, Mapping) else None
        if str(kind).lower() in IMAGE_TYPES and isinstance(content, str):
            note = f"[an image of {len(content):,} characters in base64; it is not kept]"
            inner["content"] = note
        return inner
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [replace_images(one, depth=depth - 1) for one in value]
    return value


def serialize_json(value: JsonObject) -> StoredContent:
    """Return a call or result without secrets and characters that databases reject."""
    blob = to_blob(clean_json(redact(value)))
    is_big = len(blob.data) > MIN_BLOB_BYTES
    return StoredContent(blob=blob) if is_big else StoredContent(blob.data.decode())


def _result_json(result: SourceResult) -> Json:
    match result:
        case SourceData(items, extra_citations):
            found: JsonObject = {"items": [_item_json(item) for item in items]}
            return {**found, "extra_citations": extra_citations} if extra_citations else found
        case SourceError(error_type, content):
            return {"error_type": error_type, "content": content}
        case CommandResult(status, text, data, about):
            return {"data": data, **about, "status": status, "message": text}
    assert_never(result)


def _item_json(item: DataItem | FileReference) -> Json:
    content: JsonObject
    content = {"url": item.url} if isinstance(item, FileReference) else {"content": item.content}
    return {**content, "data_format": item.data_format, "citable": item.citable}


COLUMNS = tuple(f"{name}_id" for name in FIELDS)


def split_request(env: JsonObject) -> Mapping[str, BlobValue]:
    """Return the values of a request by the fields of the run that refer to them."""
    found = {name: blobs.to_big_blob(env[name]) for name in SEPARATE_FIELDS if name in env}
    separate = {name: blob for name, blob in found.items() if blob is not None}
    rest = {name: value for name, value in env.items() if name not in separate}
    return {"env": blobs.to_blob(rest), **separate}


def load_request(env: str | None, *separate: str | None) -> JsonObject | None:
    """Read a request by its keys in the order of `COLUMNS`; None if requests aren't stored."""
    if env is None:
        return None
    found = blobs.load(sha for sha in (env, *separate) if sha)
    fields = zip(SEPARATE_FIELDS, separate, strict=True)
    rest = cast(JsonObject, found.get(env) or {})
    return {**rest, **{name: found.get(sha) for name, sha in fields if sha}}
