"""Recorder of the output of a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from itertools import groupby
from typing import TypeAlias, cast
from uuid import UUID

from copilot_admin.agent.values.answer_request import (
    ComponentCalled,
    DataSeen,
    FallbackUsed,
    FileRead,
    Output,
    Reasoning,
    ToolExchange,
)
from copilot_admin.agent.values.model_call import Finish, RunNote, Usage
from copilot_admin.models import OTHER_EVENT, EventType
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.transcripts.store.run_end import (
    Ending,
    Recording,
    RunEnd,
    RunEvent,
    clean_event,
    finalize,
    sum_usages_by_model,
)
from protocol.events import (
    CitationCollection,
    Event,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)
from protocol.json import Json, JsonObject, clean_text
from protocol.models import Generation
from protocol.serializers import echo_of, payload, serialize

_EVENT_TYPES: Mapping[type[Event], EventType] = {
    StatusUpdate: EventType.STATUS,
    MessageArtifact: EventType.ARTIFACT,
    CitationCollection: EventType.CITATION,
    FunctionCall: EventType.FUNCTION_CALL,
    PromptSuggestions: EventType.SUGGESTIONS,
}


@dataclass(frozen=True, slots=True)
class Piece:
    """Output since the last checkpoint; encrypted if it may contain personal data to remove."""

    ord: int
    text: str
    events: tuple[RunEvent, ...] = ()
    is_secret: bool = False

    def to_json(self) -> JsonObject:
        rows = [[str(one.type), one.payload, one.text_offset, one.at_ms] for one in self.events]
        return {"text": self.text, "entries": rows}

    @classmethod
    def from_json(cls, data: Mapping[str, object], *, ord: int) -> "Piece":
        rows = cast(Sequence[tuple[str, JsonObject | None, int, int]], data["entries"])
        events = tuple(
            clean_event(RunEvent(type=kind, payload=content, text_offset=offset, at_ms=at_ms))
            for kind, content, offset, at_ms in rows
        )
        return cls(ord, str(data["text"]), events)


_Item: TypeAlias = tuple[Output, int, int]  # with its offset in the text, and milliseconds


class Recorder:
    """Collects the output of a run at negligible cost per delta.

    `keep_content` is False if no content may reach the database. The `generation` of the client
    decides in which form it will return the answer.
    """

    def __init__(
        self,
        *,
        keep_content: bool = True,
        generation: Generation = Generation.THREE,
        rules: Rules = NO_RULES,
    ) -> None:
        self.text_bytes = 0  # UTF-8
        self._keep_content = keep_content
        self._generation = generation
        self._rules = rules
        self._texts: list[str] = []
        self._characters = 0
        self._items: list[_Item] = []
        self._usages: list[Usage] = []
        self._finish_reason = ""
        self._fallback: FallbackUsed | None = None
        self._notes: list[str] = []
        self._pieces = 0
        self._saved_texts = 0  # by earlier checkpoints
        self._saved_items = 0

    @property
    def is_light(self) -> bool:
        """True if `finish` needs at most a millisecond, as for an answer that is only text."""
        return not (self._rules or self._items)

    def add(self, output: Output, *, at_ms: int) -> None:
        """Record the next output, `at_ms` milliseconds after the run started."""
        if isinstance(output, MessageChunk):
            delta = output.delta
            self.text_bytes += (
                len(delta) if delta.isascii() else len(delta.encode(errors="surrogatepass"))
            )
            self._texts.append(delta)
            self._characters += len(delta)
        elif isinstance(output, Usage):
            self._usages.append(output)
        elif isinstance(output, Finish):
            self._finish_reason = output.reason or ""
        elif isinstance(output, FallbackUsed):
            self._fallback = output
            self._notes.append(
                f"The model {output.failed_model!r} of the provider {output.failed_provider!r} failed "
                f"({output.error}), so {output.model!r} of {output.provider!r} was asked."
            )
        elif isinstance(output, RunNote):
            self._notes.append(output.text)
        else:
            self._items.append((output, self._characters, at_ms))

    def take_unsaved(self) -> Piece | None:
        """Return the output since the last call; None if it is empty or content isn't stored."""
        texts, items = self._texts[self._saved_texts :], self._items[self._saved_items :]
        if not self._keep_content or not (texts or items):
            return None
        self._saved_texts, self._saved_items = len(self._texts), len(self._items)
        self._pieces += 1
        return Piece(
            self._pieces - 1,
            clean_text("".join(texts)),
            tuple(_merge_thoughts(_to_events(items))),
            is_secret=bool(self._rules),
        )

    def recording(self) -> Recording:
        """Return everything that was added."""
        text = "".join(self._texts)
        last = self._items[-1][0] if self._items else None
        return Recording(
            text=text,
            client_text=self._client_text(text),
            call=echo_of(last, self._generation) if isinstance(last, FunctionCall) else None,
            finish_reason=self._finish_reason,
            usages=sum_usages_by_model(self._usages),
            provider=self._fallback.provider if self._fallback else "",
            model=self._fallback.model if self._fallback else "",
            events=tuple(_merge_thoughts(_to_events(self._items))),
        )

    def finish(
        self, ending: Ending, *, run_id: UUID, at: datetime, is_broken: bool = False
    ) -> RunEnd:
        """Return the end of the run as it is stored, without its output if that can't be stored."""
        ending = replace(ending, notes=(*self._notes, *ending.notes))
        return finalize(
            Recording() if is_broken else self.recording(),
            ending,
            run_id=run_id,
            at=at,
            keep_content=self._keep_content,
            rules=self._rules,
        )

    def _client_text(self, text: str) -> str:
        parts: list[str] = []
        start = 0
        for output, offset, _ in self._items:
            if not isinstance(output, Event):
                continue  # a fact for the transcript, which isn't sent to clients
            data = serialize(output, self._generation)
            added = "".join(str(one["delta"]) for name, one in data if name == MessageChunk.name)
            if added:
                parts += text[start:offset], added
                start = offset
        return "".join([*parts, text[start:]])


def join_pieces(pieces: Iterable[Piece]) -> Recording:
    """Return the known part of a run from its checkpoints, in their order."""
    found = list(pieces)
    text = "".join(piece.text for piece in found)
    events = _merge_thoughts(event for piece in found for event in piece.events)
    return Recording(text=text, client_text=text, events=tuple(events))


def event_content(output: object) -> tuple[str, JsonObject]:
    """Return type and payload of an output other than text; unknown ones retain name and fields."""
    match output:
        case Reasoning(text):
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


def _to_events(items: Iterable[_Item]) -> Iterable[RunEvent]:
    for output, offset, at_ms in items:
        kind, content = event_content(output)
        yield RunEvent(type=kind, payload=content, text_offset=offset, at_ms=at_ms)


def _merge_thoughts(events: Iterable[RunEvent]) -> Iterable[RunEvent]:
    def place(event: RunEvent) -> tuple[bool, int]:
        return event.type == EventType.REASONING, event.text_offset

    for (is_thought, _), group in groupby(events, key=place):
        if not is_thought:
            yield from group
            continue
        first, *rest = group
        texts = [str(cast(JsonObject, event.payload)["text"]) for event in (first, *rest)]
        yield replace(first, payload={"text": "".join(texts)})
