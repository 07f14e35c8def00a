"""The output of a run and its end: recorded, then cleaned, redacted, without content that isn't stored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import cast
from uuid import UUID

from copilot_admin.agent.values.answer_request import FallbackUsed, Output
from copilot_admin.agent.values.model_call import Finish, RunNote, Usage, UsageSource
from copilot_admin.models import Outcome
from copilot_admin.models.fields import MAX_INTEGER
from copilot_admin.redaction.redactor import redact_texts, redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.transcripts.matching.messages import digest_of, hash_key
from copilot_admin.transcripts.store.run_events import (
    Item,
    Payload,
    RunEvent,
    merge_thoughts,
    to_events,
)
from protocol.events import Event, FunctionCall, MessageChunk
from protocol.json import JsonObject, clean_json, clean_text
from protocol.models import AiMessage, CallMessage, Generation
from protocol.redaction import redact, redact_text
from protocol.serializers import echo_of, serialize

CLEANED = "Characters that cannot be stored were replaced with U+FFFD in the answer."
MAX_MODEL_CHARACTERS = 200
MAX_CODE_CHARACTERS = 50  # of an error code and of a finish reason
TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")  # columns of a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """End of a run; times in milliseconds since it started, `ttft_ms` None without a token."""

    outcome: Outcome
    ms: int
    ttft_ms: int | None
    error: str = ""
    error_code: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Unprocessed output of a run.

    Text and call are also in the form of their repetition by the client: older ones receive tables as
    text. `provider` and `model` are set if a fallback answered.
    """

    text: str = ""
    client_text: str = ""
    call: CallMessage | None = None
    finish_reason: str = ""
    usages: tuple[Usage, ...] = ()
    events: tuple[RunEvent, ...] = ()
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """All stored facts about the end of a run; digests identify text and call when they return.

    `provider` and `model` are set if a fallback answered. Hashes are keyed if it `is_redacted`.
    """

    run_id: UUID
    ended_at: datetime
    ending: Ending
    text: str = ""
    text_digest: str = ""
    call: Payload = None
    call_digest: str = ""
    finish_reason: str = ""
    events: tuple[RunEvent, ...] = ()
    usages: tuple[Usage, ...] = ()
    provider: str = ""
    model: str = ""
    keep_content: bool = True
    is_redacted: bool = False

    @property
    def tokens(self) -> Mapping[str, int]:
        """Tokens of all models by the columns of a run."""
        usage = sum_usages(self.usages)
        return {name: max(0, min(getattr(usage, name), MAX_INTEGER)) for name in TOKENS}

    @property
    def usage_source(self) -> str:
        return sum_usages(self.usages).source.value if self.usages else ""


def finalize(
    recording: Recording,
    ending: Ending,
    *,
    run_id: UUID,
    at: datetime,
    keep_content: bool = True,
    rules: Rules = NO_RULES,
) -> RunEnd:
    """Prepare the end of a run for storage; custom expressions in the rules may need seconds.

    Without content only outcome, times, counts, keyed hashes and kinds of events are stored.
    """
    key = hash_key(keep_content=keep_content and not rules)
    text = AiMessage(recording.client_text)
    text_digest = digest_of(text, key=key).hex() if text.text.strip() else ""
    call_digest = digest_of(recording.call, key=key).hex() if recording.call else ""
    if keep_content:
        recording, ending = _clean(recording, ending)
        if rules:
            error, *notes = redact_values([ending.error, *ending.notes], rules)
            ending = replace(ending, error=error, notes=tuple(notes))
            recording = redact_recording(recording, rules)
    else:
        events = tuple(replace(event, payload=None) for event in recording.events)
        recording = replace(recording, text="", call=None, events=events)
        ending = replace(ending, error="", notes=())
    call: JsonObject | None = None
    if made := recording.call:
        call = redact({"function": made.function, "input_arguments": made.input_arguments})
    return RunEnd(
        run_id=run_id,
        ended_at=at,
        ending=replace(
            ending,
            error=redact_text(ending.error),
            error_code=ending.error_code[:MAX_CODE_CHARACTERS],
        ),
        text=redact_text(recording.text),
        text_digest=text_digest,
        call=call,
        call_digest=call_digest,
        finish_reason=clean_text(recording.finish_reason)[:MAX_CODE_CHARACTERS],
        events=tuple(replace(one, payload=redact(one.payload)) for one in recording.events),
        usages=recording.usages,
        provider=recording.provider,
        model=recording.model,
        keep_content=keep_content,
        is_redacted=bool(rules),
    )


def redact_recording(recording: Recording, rules: Rules) -> Recording:
    """Remove personal data from everything in a recording; events move with the text."""
    text = redact_texts([recording.text], rules)[recording.text]
    values = [recording.call, *(event.payload for event in recording.events)]
    call, *payloads = redact_values(values, rules)
    events = zip(recording.events, cast("list[JsonObject | None]", payloads), strict=True)
    return replace(
        recording,
        text=text.text,
        call=cast("CallMessage | None", call),
        events=tuple(
            replace(event, payload=payload, text_offset=text.moved(event.text_offset))
            for event, payload in events
        ),
    )


def clean_event(event: RunEvent) -> RunEvent:
    """Replace characters in a payload that databases reject."""
    return replace(event, payload=cast("JsonObject | None", clean_json(event.payload)))


def _clean(recording: Recording, ending: Ending) -> tuple[Recording, Ending]:
    clean = replace(
        recording,
        text=clean_text(recording.text),
        finish_reason=clean_text(recording.finish_reason),
        events=tuple(map(clean_event, recording.events)),
    )
    error = clean_text(ending.error)
    is_changed = clean != recording or error != ending.error
    notes = (*ending.notes, CLEANED) if is_changed else ending.notes
    return clean, replace(ending, error=error, notes=notes)


def sum_usages(usages: Iterable[Usage]) -> Usage:
    """Add tokens of several calls; the sum is estimated if one of them is."""
    found = tuple(usages)
    is_estimated = any(usage.source is UsageSource.ESTIMATED for usage in found)
    costs = [usage.cost for usage in found if usage.cost is not None]
    return Usage(
        **{name: sum(getattr(usage, name) for usage in found) for name in TOKENS},
        source=UsageSource.ESTIMATED if is_estimated else UsageSource.PROVIDER,
        cost=sum(costs, Decimal(0)) if costs and len(costs) == len(found) else None,
    )


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
        self._items: list[Item] = []
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
            tuple(merge_thoughts(to_events(items))),
            is_secret=bool(self._rules),
        )

    def recording(self) -> Recording:
        """Return everything that was added."""
        text = "".join(self._texts)
        last = self._items[-1][0] if self._items else None
        by_model: dict[str, list[Usage]] = {}
        for usage in self._usages:
            by_model.setdefault(clean_text(usage.model)[:MAX_MODEL_CHARACTERS], []).append(usage)
        return Recording(
            text=text,
            client_text=self._client_text(text),
            call=echo_of(last, self._generation) if isinstance(last, FunctionCall) else None,
            finish_reason=self._finish_reason,
            usages=tuple(replace(sum_usages(some), model=m) for m, some in by_model.items()),
            provider=self._fallback.provider if self._fallback else "",
            model=self._fallback.model if self._fallback else "",
            events=tuple(merge_thoughts(to_events(self._items))),
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
    events = merge_thoughts(event for piece in found for event in piece.events)
    return Recording(text=text, client_text=text, events=tuple(events))
