"""What a run puts out, folded into what is stored of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

from copilot_admin.engine.values.engine_input import Output
from copilot_admin.engine.values.model_call import Finish, Usage, UsageSource
from copilot_admin.journal.contents import content_of
from copilot_admin.models import EventType, Outcome
from protocol.dialects import echo_of, say
from protocol.events import Event, FunctionCall, MessageChunk
from protocol.generations import Generation
from protocol.json import Json, JsonObject
from protocol.messages import CallMessage
from protocol.storable import clean_text, storable
from protocol.walk import finite, rebuild, weighs_more
from protocol.weights import values_of

CLEANED = "Characters that cannot be stored were replaced with U+FFFD in the answer."


# Values in payloads: to clean and to seal so many takes some 10 ms.
LARGE = 1000
_TEXT = 64  # characters that take as long as a value


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended; times in milliseconds since it started, `ttft_ms` None without a token."""

    outcome: Outcome
    ms: int
    ttft_ms: int | None
    error: str = ""
    error_code: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something that is not text.

    Attributes:
        type: An `EventType`, or `OTHER_EVENT`.
        payload: None where no content is kept.
    """

    type: str
    payload: JsonObject | None
    text_offset: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Piece:
    """What came since the last checkpoint."""

    ord: int
    text: str
    entries: tuple[Entry, ...]
    is_secret: bool = False  # it is looked through when the run ends: until then nobody may read it

    def to_json(self) -> JsonObject:
        """The form in which a checkpoint keeps it, with payloads as they came."""
        return {
            "text": self.text,
            "entries": [[str(e.type), e.payload, e.text_offset, e.at_ms] for e in self.entries],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object], *, ord: int) -> "Piece":
        """Reads what `to_json` wrote, with payloads as every database takes them."""
        rows = cast(Sequence[tuple[str, JsonObject | None, int, int]], data["entries"])
        return cls(
            ord,
            str(data["text"]),
            tuple(
                _clean_entry(Entry(type=kind, payload=content, text_offset=offset, at_ms=at_ms))
                for kind, content, offset, at_ms in rows
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Everything that is to be stored of a run that has ended.

    Attributes:
        text: The answer as it was streamed.
        heard: The answer as the client will repeat it: an older client got tables as text.
        call: The function call that the run ended in, as the client will repeat it.
        usages: The tokens, a sum for each model that was asked; none where nobody said any.
        keep_content: False: `text`, `heard` and `call` serve to recognise them when they come
            back and must not be stored; the entries hold no payloads, and there is no error text.
        was_checkpointed: There may be checkpoints of it.
    """

    ending: Ending
    text: str = ""
    heard: str = ""
    call: CallMessage | None = None
    finish_reason: str = ""
    usages: tuple[Usage, ...] = ()
    entries: tuple[Entry, ...] = ()
    keep_content: bool = True
    was_checkpointed: bool = True


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
        """Whether `record` takes so long that others would wait for it."""
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
            usages=_sums(self._usages),
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
    """Whether what is done with each value of some payloads keeps others waiting."""
    return weighs_more(payloads, than=LARGE, text=_TEXT)


def from_pieces(pieces: Iterable[Piece], ending: Ending) -> Record:
    """What is known of a run whose process died: its checkpoints, in order."""
    pieces = list(pieces)
    text = "".join(piece.text for piece in pieces)
    entries = _merged(entry for piece in pieces for entry in piece.entries)
    return Record(ending=ending, text=text, heard=text, entries=tuple(entries))


def cleaned(record: Record) -> Record:
    """The record with everything that a database refuses replaced, and a note if anything was."""
    entries = tuple(_clean_entry(entry) for entry in record.entries)
    texts = record.ending.error, record.text, record.finish_reason
    error, text, finish_reason = clean = tuple(map(clean_text, texts))
    if clean == texts and entries == record.entries:
        return record
    ending = replace(record.ending, error=error, notes=(*record.ending.notes, CLEANED))
    return replace(record, ending=ending, text=text, finish_reason=finish_reason, entries=entries)


def fit_json(value: Json) -> Json:
    """The JSON value as every database takes it: no NUL, no lone surrogate, no NaN."""
    fit, _ = storable(value)
    return rebuild(fit, scalar=finite)


def _clean_entry(entry: Entry) -> Entry:
    return replace(entry, payload=cast("JsonObject | None", fit_json(entry.payload)))


def without_content(record: Record) -> Record:
    """The record where no content is kept: outcome, times, counts, and the kinds of events."""
    ending = replace(record.ending, error="", notes=())
    entries = tuple(replace(entry, payload=None) for entry in record.entries)
    return replace(
        record,
        ending=ending,
        entries=entries,
        finish_reason=clean_text(record.finish_reason),
        keep_content=False,
    )


def _values_of(output: Output) -> Iterable[Json]:
    """What there is of an output; of an event not its payload, which takes long to make."""
    return values_of(output) if isinstance(output, Event) else (content_of(output)[1],)


def _entries(items: Iterable[_Item]) -> Iterable[Entry]:
    for item in items:
        kind, content = content_of(item.output)
        yield Entry(type=kind, payload=content, text_offset=item.text_offset, at_ms=item.at_ms)


def _merged(entries: Iterable[Entry]) -> Iterable[Entry]:
    """Thoughts come word by word; those between two other things are one entry."""

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
        str(data["delta"]) for name, data in say(event, generation) if name == MessageChunk.name
    )


def _sums(usages: Sequence[Usage]) -> tuple[Usage, ...]:
    if len(usages) < 2:
        return tuple(usages)
    by_model: dict[str, list[Usage]] = {}
    for usage in usages:
        by_model.setdefault(usage.model, []).append(usage)
    return tuple(replace(sum_of(some), model=model) for model, some in by_model.items())


def sum_of(usages: Sequence[Usage]) -> Usage:
    """The tokens of several calls, estimated if those of one are; of no certain model."""
    if len(usages) == 1 and not usages[0].model:
        return usages[0]
    estimated = any(usage.source is UsageSource.ESTIMATED for usage in usages)
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        reasoning_tokens=sum(usage.reasoning_tokens for usage in usages),
        source=UsageSource.ESTIMATED if estimated else UsageSource.PROVIDER,
    )
