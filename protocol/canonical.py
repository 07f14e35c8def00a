"""The bytes by which messages are recognised when a client sends the conversation again.

Source: the threading rules of transcripts: NFC, CRLF to LF, stripped, markers removed; calls as
sorted JSON; results over their redacted data, so that a renewed signature changes nothing.
"""

from collections.abc import Mapping
from enum import StrEnum
import json
from typing import assert_never
import unicodedata

from protocol.json import Json
from protocol.markers import strip_markers
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
from protocol.redaction import redact_text
from protocol.storable import clean_text
from protocol.walk import Scalar, rebuild

_SAFE_INTEGER = 2**53  # beyond it a double is no exact integer any more


class CanonicalRole(StrEnum):
    """Who speaks in a canonical message."""

    HUMAN = "human"
    AI = "ai"
    TOOL = "tool"


class Kind(StrEnum):
    """What a canonical message is: words, a call, its result."""

    TEXT = "text"
    CALL = "call"
    RESULT = "result"


_ROLES: Mapping[type[Message], CanonicalRole] = {
    HumanMessage: CanonicalRole.HUMAN,  # an orchestrator's task, too
    AiMessage: CanonicalRole.AI,
    CallMessage: CanonicalRole.AI,
    ResultMessage: CanonicalRole.TOOL,
}
_KINDS: Mapping[type[Message], Kind] = {
    HumanMessage: Kind.TEXT,
    AiMessage: Kind.TEXT,
    CallMessage: Kind.CALL,
    ResultMessage: Kind.RESULT,
}
# Of each message of every request: made once.
_HEADS: Mapping[type[Message], bytes] = {
    one: f"{role}\n{_KINDS[one]}\n".encode() for one, role in _ROLES.items()
}


def role_of(message: Message) -> CanonicalRole:
    """Who speaks; an orchestrator's task counts as the human."""
    return _ROLES[type(message)]


def kind_of(message: Message) -> Kind:
    """Text, a function call, or the result of one."""
    return _KINDS[type(message)]


def canonical(message: Message) -> bytes:
    """What a message says, the same for every way in which a client repeats it.

    Args:
        message: Any message; what the client adds around a call or result (extra state, repeated
            arguments) does not count.

    Returns:
        Bytes to hash: the role, a line feed, the kind, a line feed, the content.
    """
    return _HEADS[type(message)] + _content(message).encode()


def _content(message: Message) -> str:
    match message:
        case HumanMessage(text):
            return _normalised(text)
        case AiMessage(text):
            return _normalised(strip_markers(text))
        case CallMessage(function, arguments):
            return _dumped({"function": function, "input_arguments": arguments})
        case ResultMessage():
            data = [_result(result) for result in message.data]
            return _dumped({"function": message.function, "data": data})
    assert_never(message)


def _result(result: SourceResult) -> Json:
    match result:
        case SourceData(items):
            return [_item(item) for item in items]
        case SourceError(error_type, content):
            return {"error_type": error_type, "content": content}
        case CommandResult(status, text, data):
            return {"status": status, "message": text, "data": data}
    assert_never(result)


def _item(item: DataItem | FileReference) -> Json:
    """The content alone: formats are named differently in every generation."""
    return {"url": item.url} if isinstance(item, FileReference) else item.content


def _dumped(value: Json) -> str:
    value = rebuild(value, scalar=_as_in_javascript)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return _normalised(text)


def _as_in_javascript(value: Scalar) -> Scalar:
    """The client parses and writes every number again: 1.0 comes back as 1."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _SAFE_INTEGER:
        return int(value)
    return value


def _normalised(text: str) -> str:
    text = redact_text(clean_text(text)).replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text).strip()
