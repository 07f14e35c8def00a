"""What a run puts out, folded into what is stored of it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

from copilot_admin.agent.values.engine_input import Output
from copilot_admin.agent.values.model_call import Finish, Usage
from copilot_admin.models import EventType
from copilot_admin.transcripts.store.contents import content_of
from copilot_admin.transcripts.store.record import (
    Ending,
    Entry,
    Piece,
    Record,
    cleaned,
    without_content,
)
from copilot_admin.transcripts.store.token_sums import sums_by_model
from protocol.events import Event, FunctionCall, MessageChunk
from protocol.json import Json, JsonObject, clean_text
from protocol.models import Generation
from protocol.serializers import echo_of, serialize
from protocol.weights import values_of, weighs_more

# Values in payloads: to clean and to seal so many takes some 10 ms.
LARGE = 1000
_TEXT = 64  # characters that take as long as a value


@dataclass(slots=True)
class _Item:
    output: Output
    text_offset: int
    at_ms: int


@dataclass(slots=True)
class _Count:
    """How much of text and entries earlier checkpoints have stored."""

    pieces: int = 0
    texts: int = 0
    items: int = 0


class Recorder:
    """Collects what a run puts out; costs next to nothing per delta.

    Args:
        keep_content: False: nothing of what is said leaves the recorder for the database.
        generation: The dialect of the client, which decides how the answer will come back.
    """

    def __init__(
        self, *, keep_content: bool = True, generation: Generation = Generation.THREE
    ) -> None:
        self.text_bytes = 0  # UTF-8
        self._keep_content = keep_content
        self._generation = generation
        self._texts: list[str] = []
        self._characters = 0
        self._items: list[_Item] = []
        self._usages: list[Usage] = []
        self._finish_reason = ""
        self._saved = _Count()

    def add(self, output: Output, *, at_ms: int) -> None:
        """Takes the next output, `at_ms` milliseconds after the run started."""
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
        else:
            self._items.append(_Item(output, self._characters, at_ms))

    def unsaved(self) -> Piece | None:
        """What came since the last call; None when nothing did, or when no content is kept."""
        saved = self._saved
        texts, items = self._texts[saved.texts :], self._items[saved.items :]
        if not self._keep_content or not (texts or items):
            return None
        self._saved = _Count(saved.pieces + 1, len(self._texts), len(self._items))
        # Payloads are cleaned when they are read: most never are, and this is amid the event loop.
        entries = tuple(_merged(_entries(items)))
        return Piece(saved.pieces, clean_text("".join(texts)), entries)

    @property
    def is_large(self) -> bool:
        return len(self._items) > LARGE or are_large(
            value for item in self._items for value in _values_of(item.output)
        )

    def record(self, ending: Ending) -> Record:
        """Folds everything that the run put out into what is stored of it."""
        text = "".join(self._texts)
        last = self._items[-1].output if self._items else None
        record = Record(
            ending=ending,
            text=text,
            heard=self._heard(text),
            call=echo_of(last, self._generation) if isinstance(last, FunctionCall) else None,
            finish_reason=self._finish_reason,
            usages=sums_by_model(self._usages),
            entries=tuple(_merged(_entries(self._items))),
            was_checkpointed=self._saved.pieces > 0,
        )
        return cleaned(record) if self._keep_content else without_content(record)

    def ending_alone(self, ending: Ending) -> Record:
        """How the run ended, without what it put out: that cannot be stored."""
        record = Record(ending=ending)
        return record if self._keep_content else without_content(record)

    def _heard(self, text: str) -> str:
        heard, start = "", 0
        for item in self._items:
            if not isinstance(item.output, Event):
                continue  # a fact for the transcript, which no client sees
            said = _said_as_text(item.output, self._generation)
            if said:
                heard += text[start : item.text_offset] + said
                start = item.text_offset
        return heard + text[start:]


def are_large(payloads: Iterable[Json]) -> bool:
    return weighs_more(payloads, than=LARGE, text=_TEXT)


def from_pieces(pieces: Iterable[Piece], ending: Ending) -> Record:
    """What is known of a run whose process died: its checkpoints, in order."""
    pieces = list(pieces)
    text = "".join(piece.text for piece in pieces)
    entries = _merged(entry for piece in pieces for entry in piece.entries)
    return Record(ending=ending, text=text, heard=text, entries=tuple(entries))


def _values_of(output: Output) -> Iterable[Json]:
    return values_of(output) if isinstance(output, Event) else (content_of(output)[1],)


def _entries(items: Iterable[_Item]) -> Iterable[Entry]:
    for item in items:
        kind, content = content_of(item.output)
        yield Entry(type=kind, payload=content, text_offset=item.text_offset, at_ms=item.at_ms)


def _merged(entries: Iterable[Entry]) -> Iterable[Entry]:
    def place(entry: Entry) -> tuple[bool, int]:
        return entry.type == EventType.REASONING, entry.text_offset

    for (thought, _), run in groupby(entries, key=place):
        if not thought:
            yield from run
            continue
        first, *rest = run
        texts = [str(cast(JsonObject, entry.payload)["text"]) for entry in (first, *rest)]
        yield replace(first, payload={"text": "".join(texts)})


def _said_as_text(event: Event, generation: Generation) -> str:
    return "".join(
        str(data["delta"])
        for name, data in serialize(event, generation)
        if name == MessageChunk.name
    )
