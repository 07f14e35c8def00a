"""What is stored of one message."""

from collections.abc import Mapping
from dataclasses import dataclass
import json
from typing import assert_never, cast

from copilot_admin.storage.blobs import MIN_BLOB_BYTES, BlobValue, to_blob
from copilot_admin.transcripts.matching.left_out import without_images
from protocol.json import Json, JsonObject
from protocol.messages import (
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
from protocol.storable import clean_text, storable


@dataclass(frozen=True, slots=True)
class StoredContent:
    """A message's text; of a call or result its JSON, or a blob when that is big."""

    text: str = ""
    blob: BlobValue | None = None
    agent: str = ""

    @property
    def sha(self) -> str | None:
        """The hash of the blob that holds the content; None where it needs no blob."""
        return self.blob.sha if self.blob else None


NO_CONTENT = StoredContent()


def content_of(message: Message) -> StoredContent:
    """What is stored of a message: clean, and without secrets."""
    match message:
        case HumanMessage(text, agent) | AiMessage(text, agent):
            return StoredContent(redact_text(clean_text(text)), agent=clean_text(agent or "")[:200])
        case CallMessage(function, arguments):
            return _json_content({"function": function, "input_arguments": arguments})
        case ResultMessage(function, arguments, data):
            results = without_images([_result(one) for one in data])
            return _json_content(
                {"function": function, "input_arguments": arguments, "data": results}
            )
    assert_never(message)


def data_in(text: str) -> JsonObject | None:
    """The JSON of a call or result that was small enough to be text."""
    value = json.loads(text) if text else None
    return cast(JsonObject, value) if isinstance(value, Mapping) else None


def _json_content(value: JsonObject) -> StoredContent:
    clean, _ = storable(redact(value))
    blob = to_blob(clean)
    if len(blob.data) > MIN_BLOB_BYTES:
        return StoredContent(blob=blob)
    return StoredContent(blob.data.decode())


def _result(result: SourceResult) -> Json:
    match result:
        case SourceData(items, extra_citations):
            found: JsonObject = {"items": [_item(item) for item in items]}
            return {**found, "extra_citations": extra_citations} if extra_citations else found
        case SourceError(error_type, content):
            return {"error_type": error_type, "content": content}
        case CommandResult(status, text, data, about):
            return {"data": data, **about, "status": status, "message": text}
    assert_never(result)


def _item(item: DataItem | FileReference) -> Json:
    content: JsonObject
    content = {"url": item.url} if isinstance(item, FileReference) else {"content": item.content}
    return {**content, "data_format": item.data_format, "citable": item.citable}
