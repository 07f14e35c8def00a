"""Stored content of messages, and the statement that inserts a message."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import json
from typing import Any, assert_never, cast

from copilot_admin.agent.files.pictures import IMAGE_TYPES
from copilot_admin.storage.blobs import MIN_BLOB_BYTES, BlobValue, to_blob
from copilot_admin.storage.sql import fetch_row
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
            return _serialize_json({"function": function, "input_arguments": arguments})
        case ResultMessage(function, arguments, data):
            results = replace_images([_result_json(result) for result in data])
            return _serialize_json(
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
        return {**inner, "content": _image_note(value)} if _is_image(value) else inner
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [replace_images(one, depth=depth - 1) for one in value]
    return value


def _is_image(item: JsonObject) -> bool:
    form = item.get("data_format")
    kind = form.get("data_type") if isinstance(form, Mapping) else None
    return str(kind).lower() in IMAGE_TYPES and isinstance(item.get("content"), str)


def _image_note(item: JsonObject) -> str:
    return f"[an image of {len(str(item['content'])):,} characters in base64; it is not kept]"


def _serialize_json(value: JsonObject) -> StoredContent:
    clean = clean_json(redact(value))
    blob = to_blob(clean)
    if len(blob.data) > MIN_BLOB_BYTES:
        return StoredContent(blob=blob)
    return StoredContent(blob.data.decode())


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
