"""The end of a run as it is stored: cleaned, redacted, and without content if it isn't stored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, TypeAlias, cast
from uuid import UUID

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import Outcome
from copilot_admin.models.pricing import COST
from copilot_admin.redaction.redactor import redact_texts, redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.transcripts.matching.hash_chain import digest_of, hash_key
from protocol.canonical import Kind, kind_of
from protocol.json import JsonObject, clean_json, clean_text
from protocol.models import AiMessage, CallMessage, Message
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

    Attributes:
        text: The answer as it was streamed.
        client_text: The answer in the form of its repetition by the client: older ones receive
            tables as text.
        call: The function call that the run ended in, in the form of its repetition by the client.
        usages: Sums of tokens by model; empty if the provider reported no usage.
        provider: Name of the provider that answered instead of the chosen one, with its `model`.
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
class Reply:
    """A message that the run wrote; `digest` identifies it when the client sends it back."""

    kind: Kind
    digest: str
    text: str = ""
    function: str = ""
    arguments: Payload = None

    @property
    def message(self) -> Message:
        """The message, without content that isn't stored."""
        if self.kind is Kind.CALL:
            return CallMessage(self.function, self.arguments or {})
        return AiMessage(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """All stored facts about the end of a run.

    Attributes:
        provider: Answered instead of the chosen one, with its `model`; empty if it did not.
        is_redacted: Personal data was removed, so hashes are keyed with the secret.
        was_checkpointed: There may be checkpoints; True if unknown.
    """

    run_id: UUID
    ended_at: datetime
    ending: Ending
    text: str = ""
    finish_reason: str = ""
    replies: tuple[Reply, ...] = ()
    events: tuple[RunEvent, ...] = ()
    usages: tuple[Usage, ...] = ()
    provider: str = ""
    model: str = ""
    keep_content: bool = True
    is_redacted: bool = False
    was_checkpointed: bool = field(default=True, compare=False)

    @property
    def tokens(self) -> Mapping[str, int]:
        """Tokens of all models by the columns of a run."""
        usage = sum_usages(self.usages)
        return {name: _clamp(getattr(usage, name)) for name in TOKENS}

    @property
    def usage_source(self) -> str:
        """Source of the token counts, or an empty text."""
        return sum_usages(self.usages).source.value if self.usages else ""

    @property
    def is_call(self) -> bool:
        return bool(self.replies) and self.replies[-1].kind is Kind.CALL


def finalize(
    recording: Recording,
    ending: Ending,
    *,
    run_id: UUID,
    at: datetime,
    keep_content: bool = True,
    rules: Rules = NO_RULES,
    was_checkpointed: bool = True,
) -> RunEnd:
    """Prepare the end of a run for storage.

    Args:
        recording: Output of the run.
        ending: The ending of the run.
        run_id: Key of the run.
        at: Time of its end.
        keep_content: False to store only outcome, times, counts, keyed hashes and kinds of events.
        rules: Personal data to remove; custom expressions may need seconds.
        was_checkpointed: There may be checkpoints of it.
    """
    replies = _hash_replies(recording, in_clear=keep_content and not rules)
    if keep_content:
        recording, ending = _clean(recording, ending)
        if rules:
            recording, ending = _redact(recording, ending, rules)
        replies = tuple(_fill_reply(reply, recording) for reply in replies)
    return RunEnd(
        run_id=run_id,
        ended_at=at,
        ending=replace(
            ending,
            ms=_clamp(ending.ms),
            ttft_ms=None if ending.ttft_ms is None else _clamp(ending.ttft_ms),
            error=redact_text(ending.error) if keep_content else "",
            error_code=ending.error_code[:MAX_CODE_CHARACTERS],
            notes=ending.notes if keep_content else (),
        ),
        text=redact_text(recording.text) if keep_content else "",
        finish_reason=clean_text(recording.finish_reason)[:MAX_CODE_CHARACTERS],
        replies=replies,
        events=tuple(_finalize_event(one, keep_content) for one in recording.events),
        usages=tuple(map(_clamp_usage, recording.usages)),
        provider=recording.provider,
        model=recording.model,
        keep_content=keep_content,
        is_redacted=bool(rules),
        was_checkpointed=was_checkpointed,
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


def sum_usages_by_model(usages: Sequence[Usage]) -> tuple[Usage, ...]:
    by_model: dict[str, list[Usage]] = {}
    for usage in usages:
        by_model.setdefault(usage.model, []).append(usage)
    return tuple(replace(sum_usages(some), model=model) for model, some in by_model.items())


def sum_usages(usages: Iterable[Usage]) -> Usage:
    """Add tokens of several calls; the sum is estimated if one of them is."""
    found = tuple(usages)
    is_estimated = any(usage.source is UsageSource.ESTIMATED for usage in found)
    costs = [usage.cost for usage in found if usage.cost is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in found),
        cached_tokens=sum(usage.cached_tokens for usage in found),
        output_tokens=sum(usage.output_tokens for usage in found),
        reasoning_tokens=sum(usage.reasoning_tokens for usage in found),
        source=UsageSource.ESTIMATED if is_estimated else UsageSource.PROVIDER,
        cost=sum(costs, Decimal(0)) if costs and len(costs) == len(found) else None,
    )


def _hash_replies(recording: Recording, *, in_clear: bool) -> tuple[Reply, ...]:
    key = hash_key(keep_content=in_clear)
    replies: list[Reply] = []
    if recording.client_text.strip():
        digest = digest_of(AiMessage(recording.client_text), key=key).hex()
        replies.append(Reply(kind=Kind.TEXT, digest=digest))
    if recording.call is not None:
        digest = digest_of(recording.call, key=key).hex()
        replies.append(Reply(kind=kind_of(recording.call), digest=digest))
    return tuple(replies)


def _fill_reply(reply: Reply, recording: Recording) -> Reply:
    if reply.kind is Kind.TEXT:
        return replace(reply, text=redact_text(recording.text))
    call = recording.call
    assert call is not None  # noqa: S101  # it was hashed
    return replace(reply, function=call.function, arguments=redact(call.input_arguments))


def _clean(recording: Recording, ending: Ending) -> tuple[Recording, Ending]:
    clean = replace(
        recording,
        text=clean_text(recording.text),
        finish_reason=clean_text(recording.finish_reason),
        events=tuple(map(clean_event, recording.events)),
    )
    error = clean_text(ending.error)
    notes = (
        ending.notes if clean == recording and error == ending.error else (*ending.notes, CLEANED)
    )
    return clean, replace(ending, error=error, notes=notes)


def _redact(recording: Recording, ending: Ending, rules: Rules) -> tuple[Recording, Ending]:
    error, *notes = redact_values([ending.error, *ending.notes], rules)
    return redact_recording(recording, rules), replace(ending, error=error, notes=tuple(notes))


def _finalize_event(event: RunEvent, keep_content: bool) -> RunEvent:
    return RunEvent(
        type=event.type,
        payload=redact(event.payload) if keep_content and event.payload is not None else None,
        text_offset=_clamp(event.text_offset),
        at_ms=_clamp(event.at_ms),
    )


def _clamp_usage(usage: Usage) -> Usage:
    return replace(
        usage,
        input_tokens=_clamp(usage.input_tokens),
        cached_tokens=_clamp(usage.cached_tokens),
        output_tokens=_clamp(usage.output_tokens),
        reasoning_tokens=_clamp(usage.reasoning_tokens),
        model=clean_text(usage.model)[:MAX_MODEL_CHARACTERS],
        cost=None if usage.cost is None else round(usage.cost, COST["decimal_places"]),
    )


def _clamp(number: int) -> int:
    return max(0, min(number, MAX_INTEGER))
