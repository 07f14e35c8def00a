"""The end of a run as it is stored: cleaned, redacted, and without content if it isn't stored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, TypeAlias, cast
from uuid import UUID

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import Outcome
from copilot_admin.redaction.redactor import redact_texts, redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.transcripts.matching.messages import digest_of, hash_key
from protocol.json import JsonObject, clean_json, clean_text
from protocol.models import AiMessage, CallMessage
from protocol.redaction import redact, redact_text

CLEANED = "Characters that cannot be stored were replaced with U+FFFD in the answer."
MAX_MODEL_CHARACTERS = 200
MAX_CODE_CHARACTERS = 50  # of an error code and of a finish reason
MAX_INTEGER = 2**31 - 1  # of the columns; a provider may report any number
TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")  # columns of a run

# JSON of any depth; pydantic can't resolve the recursive alias.
Payload: TypeAlias = Annotated[
    JsonObject | None, GetPydanticSchema(lambda _source, _handler: core_schema.any_schema())
]


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
class RunEvent:
    """Output other than text: an `EventType` or `OTHER_EVENT`; `payload` is None if not stored."""

    type: str
    payload: Payload
    text_offset: int
    at_ms: int


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
    call: JsonObject | None = None
    if keep_content and (made := recording.call):
        call = redact({"function": made.function, "input_arguments": made.input_arguments})
    return RunEnd(
        run_id=run_id,
        ended_at=at,
        ending=replace(
            ending,
            error=redact_text(ending.error) if keep_content else "",
            error_code=ending.error_code[:MAX_CODE_CHARACTERS],
            notes=ending.notes if keep_content else (),
        ),
        text=redact_text(recording.text) if keep_content else "",
        text_digest=text_digest,
        call=call,
        call_digest=call_digest,
        finish_reason=clean_text(recording.finish_reason)[:MAX_CODE_CHARACTERS],
        events=tuple(
            replace(event, payload=redact(event.payload) if keep_content else None)
            for event in recording.events
        ),
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


def sum_usages_by_model(usages: Sequence[Usage]) -> tuple[Usage, ...]:
    by_model: dict[str, list[Usage]] = {}
    for usage in usages:
        by_model.setdefault(clean_text(usage.model)[:MAX_MODEL_CHARACTERS], []).append(usage)
    return tuple(replace(sum_usages(some), model=model) for model, some in by_model.items())


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
