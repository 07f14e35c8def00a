"""What is to be stored of a run, fit for every database; without content where none is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.models import Outcome
from protocol.json import Json, JsonObject, clean_json, clean_text
from protocol.models import CallMessage

CLEANED = "Characters that cannot be stored were replaced with U+FFFD in the answer."


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
    return clean_json(value)


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
