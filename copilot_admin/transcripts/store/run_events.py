"""Output of a run other than text, in the form in which it is stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from itertools import groupby
from typing import Annotated, TypeAlias, cast

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from copilot_admin.agent.values.answer_request import (
    ComponentCalled,
    DataSeen,
    FileRead,
    Output,
    ToolExchange,
)
from copilot_admin.agent.values.model_call import ReasoningDelta
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

# JSON of any depth; pydantic can't resolve the recursive alias.
Payload: TypeAlias = Annotated[
    JsonObject | None, GetPydanticSchema(lambda _source, _handler: core_schema.any_schema())
]
Item: TypeAlias = tuple[Output, int, int]  # with its offset in the text, and milliseconds
_EVENT_TYPES: Mapping[type[Event], EventType] = {
    StatusUpdate: EventType.STATUS,
    MessageArtifact: EventType.ARTIFACT,
    CitationCollection: EventType.CITATION,
    FunctionCall: EventType.FUNCTION_CALL,
    PromptSuggestions: EventType.SUGGESTIONS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """Output other than text: an `EventType` or `OTHER_EVENT`; `payload` is None if not stored."""

    type: str
    payload: Payload
    text_offset: int
    at_ms: int


def event_content(output: object) -> tuple[str, JsonObject]:
    """Return type and payload of an output other than text; unknown ones retain name and fields."""
    match output:
        case ReasoningDelta(text):
            return EventType.REASONING, {"text": text}
        case ToolExchange(name, arguments, result):
            return EventType.TOOL, {"name": name, "arguments": arguments, "result": result}
        case ComponentCalled():
            facts = {one.name: getattr(output, one.name) for one in fields(output)}
            return EventType.COMPONENT, {k: v for k, v in facts.items() if v not in ("", (), [])}
        case DataSeen(text):
            return EventType.DATA, {"text": text}
        case FileRead():
            facts = {
                "name": output.name,
                "type": output.kind,
                "size": output.size,
                "pages": output.pages,
                "pixels": list(output.pixels) if output.pixels else None,
                "note": output.note or None,
                "fault": output.fault or None,
            }
            return EventType.FILE, {key: fact for key, fact in facts.items() if fact is not None}
        case Event() if type(output) in _EVENT_TYPES:
            return _EVENT_TYPES[type(output)], payload(output)
        case Event():
            return OTHER_EVENT, {"event": output.name, "data": _to_json(payload(output))}
    return OTHER_EVENT, {"fact": type(output).__name__, "data": _to_json(output)}


def _to_json(value: object) -> Json:
    match value:
        case Enum():
            return _to_json(value.value)
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(name): _to_json(member) for name, member in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_to_json(element) for element in value]
    if is_dataclass(value) and not isinstance(value, type):
        # A class excludes confidential fields from its repr.
        return {one.name: _to_json(getattr(value, one.name)) for one in fields(value) if one.repr}
    return f"{len(value)} bytes" if isinstance(value, bytes | bytearray) else str(value)


def to_events(items: Iterable[Item]) -> Iterable[RunEvent]:
    for output, offset, at_ms in items:
        kind, content = event_content(output)
        yield RunEvent(type=kind, payload=content, text_offset=offset, at_ms=at_ms)


def merge_thoughts(events: Iterable[RunEvent]) -> Iterable[RunEvent]:
    def place(event: RunEvent) -> tuple[bool, int]:
        return event.type == EventType.REASONING, event.text_offset

    for (is_thought, _), group in groupby(events, key=place):
        if not is_thought:
            yield from group
            continue
        first, *rest = group
        texts = [str(cast(JsonObject, event.payload)["text"]) for event in (first, *rest)]
        yield replace(first, payload={"text": "".join(texts)})
