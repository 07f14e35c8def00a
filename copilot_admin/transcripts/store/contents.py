"""What is kept of an output that is not text: the type of its row, and what the row holds."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum

from copilot_admin.agent.values.engine_input import (
    ComponentCalled,
    DataSeen,
    FileRead,
    ServerTool,
    Thought,
)
from copilot_admin.models import OTHER_EVENT, EventType
from protocol.events import (
    CitationCollection,
    Event,
    FunctionCall,
    MessageArtifact,
    PromptSuggestions,
    StatusUpdate,
)
from protocol.json import Json, JsonObject
from protocol.serializers import payload

_EVENT_TYPES: Mapping[type[Event], EventType] = {
    StatusUpdate: EventType.STATUS,
    MessageArtifact: EventType.ARTIFACT,
    CitationCollection: EventType.CITATION,
    FunctionCall: EventType.FUNCTION_CALL,
    PromptSuggestions: EventType.SUGGESTIONS,
}


def content_of(output: object) -> tuple[str, JsonObject]:
    """The type of an output and its payload; what is not known here keeps its name and fields."""
    match output:
        case Thought(text):
            return EventType.REASONING, {"text": text}
        case ServerTool(name, arguments, result):
            return EventType.TOOL, {"name": name, "arguments": arguments, "result": result}
        case ComponentCalled():
            return EventType.COMPONENT, _facts(output)
        case DataSeen(text):
            return EventType.DATA, {"text": text}
        case FileRead():
            return EventType.FILE, _file(output)
        case Event() if type(output) in _EVENT_TYPES:
            return _EVENT_TYPES[type(output)], payload(output)
        case Event():
            return OTHER_EVENT, {"event": output.name, "data": _plain(payload(output))}
        case _:
            return OTHER_EVENT, {"fact": type(output).__name__, "data": _plain(output)}


def _facts(called: ComponentCalled) -> JsonObject:
    facts = {one.name: getattr(called, one.name) for one in fields(called)}
    return {name: value for name, value in facts.items() if value not in ("", (), [])}


def _file(file: FileRead) -> JsonObject:
    facts: dict[str, Json] = {
        "size": file.size,
        "pages": file.pages,
        "pixels": list(file.pixels) if file.pixels else None,
        "note": file.note or None,
        "fault": file.fault or None,
    }
    known = {key: fact for key, fact in facts.items() if fact is not None}
    return {"name": file.name, "type": file.kind, **known}


def _plain(value: object) -> Json:
    match value:
        case Enum():
            return _plain(value.value)
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray() | memoryview():
            return f"{len(value)} bytes"
        case Mapping():
            return {str(name): _plain(member) for name, member in value.items()}
        case Sequence() | Set():
            return [_plain(element) for element in value]
    if is_dataclass(value) and not isinstance(value, type):
        # A field without a repr is one that its class does not want written down.
        shown = [one.name for one in fields(value) if one.repr]
        return {name: _plain(getattr(value, name)) for name in shown}
    return str(value)
