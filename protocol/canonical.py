"""Canonical bytes of messages, by which a repeated conversation is matched.

Source: the threading rules of transcripts: NFC, CRLF to LF, stripped, markers removed; calls as
sorted JSON; results over their redacted data, so that a renewed signature changes nothing.
"""

from collections.abc import Mapping
from enum import StrEnum
import json
from typing import assert_never
import unicodedata

from protocol.citations import strip_markers
from protocol.json import Json, clean_text
from protocol.models import (
    AiMessage,
    CallMessage,
    CommandResult,
    FileReference,
    HumanMessage,
    Message,
    ResultMessage,
    SourceData,
    SourceError,
    SourceResult,
)
from protocol.redaction import redact_text

_SAFE_INTEGER = 2**53  # a double is an exact integer only up to this


class CanonicalRole(StrEnum):
    """The speaker of a canonical message."""

    HUMAN = "human"
    AI = "ai"
    TOOL = "tool"


class Kind(StrEnum):
    """The kind of a canonical message."""

    TEXT = "text"
    CALL = "call"
    RESULT = "result"


_ROLES_AND_KINDS: Mapping[type[Message], tuple[CanonicalRole, Kind]] = {
    HumanMessage: (CanonicalRole.HUMAN, Kind.TEXT),
    AiMessage: (CanonicalRole.AI, Kind.TEXT),
    CallMessage: (CanonicalRole.AI, Kind.CALL),
    ResultMessage: (CanonicalRole.TOOL, Kind.RESULT),
}


def role_of(message: Message) -> CanonicalRole:
    """Return the speaker; an orchestrator's task counts as the human's."""
    return _ROLES_AND_KINDS[type(message)][0]


def kind_of(message: Message) -> Kind:
    """Return whether a message is text, a function call or a result."""
    return _ROLES_AND_KINDS[type(message)][1]


def canonical(message: Message) -> bytes:
    """Return the same bytes for every form in which a client repeats a message.

    They are the role, a line feed, the kind, a line feed, the content. Members that the client adds
    to a call or result (extra state, repeated arguments) do not count.
    """
    match message:
        case HumanMessage(text):
            content = text
        case AiMessage(text):
            content = strip_markers(text)
        case CallMessage(function, arguments):
            content = _dumped({"function": function, "input_arguments": arguments})
        case ResultMessage():
            data = [_result(result) for result in message.data]
            content = _dumped({"function": message.function, "data": data})
        case _:
            assert_never(message)
    role, kind = _ROLES_AND_KINDS[type(message)]
    text = redact_text(clean_text(content)).replace("\r\n", "\n").replace("\r", "\n")
    return f"{role}\n{kind}\n{unicodedata.normalize('NFC', text).strip()}".encode()


def _result(result: SourceResult) -> Json:
    match result:
        case SourceData(items):  # formats are named differently in every generation
            return [
                {"url": item.url} if isinstance(item, FileReference) else item.content
                for item in items
            ]
        case SourceError(error_type, content):
            return {"error_type": error_type, "content": content}
        case CommandResult(status, text, data):
            return {"status": status, "message": text, "data": data}
    assert_never(result)


def _dumped(value: Json) -> str:
    value = _as_in_javascript(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _as_in_javascript(value: Json) -> Json:
    """Format numbers as the client does after parsing them: 1.0 is sent back as 1."""
    match value:
        case float() if value.is_integer() and abs(value) < _SAFE_INTEGER:
            return int(value)
        case Mapping():
            return {name: _as_in_javascript(member) for name, member in value.items()}
        case list() | tuple():
            return [_as_in_javascript(member) for member in value]
    return value
