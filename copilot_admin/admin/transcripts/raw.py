"""A run as it was: the request without its secrets, and the events as the protocol sends them."""

from collections.abc import Iterator
from dataclasses import dataclass

from copilot_admin.models import OTHER_EVENT, EventType
from copilot_admin.rendering.text import pretty_json
from copilot_admin.transcripts.queries import (
    ConversationView,
    EventView,
    MessageView,
    RunView,
    TurnView,
    attempts_of,
)
from protocol.events import (
    CitationCollection,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)
from protocol.json import Json, JsonObject
from protocol.shapes import object_of

MOST_SHOWN = 200_000  # characters of one JSON text on a page; all of it can be downloaded

WIRE_NAMES = {
    EventType.STATUS.value: StatusUpdate.name,
    EventType.COMPONENT.value: StatusUpdate.name,
    EventType.ARTIFACT.value: MessageArtifact.name,
    EventType.CITATION.value: CitationCollection.name,
    EventType.FUNCTION_CALL.value: FunctionCall.name,
    EventType.SUGGESTIONS.value: PromptSuggestions.name,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent:
    """An event; `name` is empty for what happened on the server only.

    Attributes:
        at_ms: Since the run started; None for text, whose pieces are kept as one.
    """

    name: str
    type: str
    data: Json
    at_ms: int | None

    @property
    def text(self) -> str:
        """The stored JSON, indented for reading."""
        return pretty_json(self.data)[:MOST_SHOWN]


def raw_events(run: RunView) -> Iterator[RawEvent]:
    """The events of a run in the words of generation 3, text between them as one chunk each."""
    said = 0
    for event in sorted(run.events, key=lambda event: (event.text_offset, event.ord)):
        yield from _chunk(run.answer[said : event.text_offset])
        said = max(said, event.text_offset)
        yield _raw(event)
    yield from _chunk(run.answer[said:])


def raw_messages(view: ConversationView, run: RunView) -> list[JsonObject]:
    """The messages that came with a run, as they are kept: the way to it, then its results."""
    turns = {turn.id: turn for turn in view.turns}
    turn = next((one for one in view.turns if run in one.runs), None)
    path: list[TurnView] = []
    while turn is not None:
        path.insert(0, turn)
        turn = turns.get(turn.parent_id) if turn.parent_id is not None else None
    messages: list[JsonObject] = []
    for one in path:
        messages += [_message(message) for message in one.history]
        messages += [_message(one.question)] if one.question else []
        messages += _answer(one, until=run)
    return messages


def _answer(turn: TurnView, *, until: RunView) -> Iterator[JsonObject]:
    attempts = attempts_of(turn.runs)
    chosen = next((one for one in attempts if until in one), attempts[-1] if attempts else ())
    told: set[int] = set()
    for run in chosen:
        new = [message for message in run.received if message.node_id not in told]
        told |= {message.node_id for message in new}
        yield from map(_message, new)
        if run is until:
            return
        if run.answer:
            yield {"role": "ai", "content": run.answer}
        if run.call is not None:
            call = {"function": run.call.function, "input_arguments": run.call.arguments}
            yield {"role": "ai", "content": call}


def _message(message: MessageView) -> JsonObject:
    if message.data is None:
        return {"role": message.role, "content": message.text}
    return {"role": message.role, **message.data}


def _raw(event: EventView) -> RawEvent:
    name, data = WIRE_NAMES.get(event.type, ""), event.payload
    if event.type == OTHER_EVENT and data is not None and "event" in data:
        name, data = str(data["event"]), object_of(data.get("data"))
    return RawEvent(name=name, type=event.type, data=data, at_ms=event.at_ms)


def _chunk(text: str) -> Iterator[RawEvent]:
    if text:
        yield RawEvent(name=MessageChunk.name, type="text", data={"delta": text}, at_ms=None)
