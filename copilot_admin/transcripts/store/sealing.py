"""A finished run in the form in which it is stored, in the database or in the spool.

From here on nothing that may not be kept is in memory beside what may: where a copilot's
conversations are not kept, only the keyed hashes of what was said are left.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import cast
from uuid import UUID

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import Outcome
from copilot_admin.models.pricing import COST
from copilot_admin.redaction.redactor import redact_texts, redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.transcripts.matching.hash_chain import digest_of
from copilot_admin.transcripts.store.keys import hash_key
from copilot_admin.transcripts.store.record import Entry, Record
from copilot_admin.transcripts.store.token_sums import sum_of
from protocol.canonical import Kind, kind_of
from protocol.json import Json, JsonObject, clean_text
from protocol.models import AiMessage, CallMessage, Message
from protocol.redaction import redact, redact_text

TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")  # of a run
LONGEST_MODEL = 200  # characters of a model, as of a run's
LARGEST_INTEGER = 2**31 - 1  # of the columns; a provider may count what it likes


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenMessage:
    """A message that the run wrote; `digest` recognises it when the client sends it back."""

    kind: Kind
    digest: str
    text: str = ""
    function: str = ""
    arguments: JsonObject | None = None

    @property
    def message(self) -> Message:
        """The message, as far as it is kept."""
        if self.kind is Kind.CALL:
            return CallMessage(self.function, self.arguments or {})
        return AiMessage(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """All that is stored when a run ends; plain values.

    Attributes:
        was_checkpointed: There may be checkpoints of it; of what was spooled nobody knows.
        tokens: The tokens of all models, by the columns of a run.
        usage_source: Who counted them; empty: nobody.
    """

    run_id: UUID
    outcome: Outcome
    ended_at: datetime
    ms: int
    ttft_ms: int | None
    error: str
    error_code: str
    finish_reason: str
    notes: tuple[str, ...]
    text: str
    replies: tuple[WrittenMessage, ...]
    entries: tuple[Entry, ...]
    usages: tuple[Usage, ...]
    keep_content: bool
    is_redacted: bool = False  # then its hashes are secret ones
    was_checkpointed: bool = field(default=True, compare=False)
    tokens: Mapping[str, int] = field(init=False)
    usage_source: str = field(init=False)

    def __post_init__(self) -> None:
        usage = sum_of(self.usages)
        tokens = {name: _fitting(getattr(usage, name)) for name in TOKENS}
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "usage_source", usage.source.value if self.usages else "")

    @property
    def tokens_in_all(self) -> int:
        """What the models read and wrote."""
        return self.tokens["input_tokens"] + self.tokens["output_tokens"]

    @property
    def is_call(self) -> bool:
        return bool(self.replies) and self.replies[-1].kind is Kind.CALL


def seal(record: Record, *, run_id: UUID, at: datetime, rules: Rules = NO_RULES) -> Sealed:
    """Makes a record fit for storing; may take long where rules have own expressions."""
    digests = _digests(record, in_clear=record.keep_content and not rules)
    if rules and record.keep_content:
        record = without_personal_data(record, rules)
    ending, keep = record.ending, record.keep_content
    return Sealed(
        run_id=run_id,
        outcome=ending.outcome,
        ended_at=at,
        ms=_fitting(ending.ms),
        ttft_ms=None if ending.ttft_ms is None else _fitting(ending.ttft_ms),
        error=redact_text(ending.error) if keep else "",
        error_code=ending.error_code[:50],
        finish_reason=record.finish_reason[:50],
        notes=ending.notes if keep else (),
        text=redact_text(record.text) if keep else "",
        replies=_replies(record, digests),
        entries=tuple(_sealed_entry(entry, keep=keep) for entry in record.entries),
        usages=tuple(map(_sealed_usage, record.usages)),
        keep_content=keep,
        is_redacted=bool(rules),
        was_checkpointed=record.was_checkpointed,
    )


def without_personal_data(record: Record, rules: Rules) -> Record:
    """A record with what rules name taken out of everything that is said in it."""
    text = redact_texts([record.text], rules)[record.text]
    payloads = [entry.payload for entry in record.entries]
    said = [record.ending.error, *record.ending.notes]
    call, *kept = redact_values([record.call, *said, *payloads], rules)
    error, *notes = cast("list[str]", kept[: len(said)])
    entries = zip(record.entries, cast("list[JsonObject | None]", kept[len(said) :]), strict=True)
    return replace(
        record,
        text=text.text,
        ending=replace(record.ending, error=error, notes=tuple(notes)),
        call=cast("CallMessage | None", call),
        entries=tuple(
            replace(entry, payload=payload, text_offset=text.moved(entry.text_offset))
            for entry, payload in entries
        ),
    )


def _digests(record: Record, *, in_clear: bool) -> tuple[str, str]:
    key = hash_key(keep_content=in_clear)
    answer = digest_of(AiMessage(record.heard), key=key).hex() if record.heard.strip() else ""
    return answer, digest_of(record.call, key=key).hex() if record.call is not None else ""


def _replies(record: Record, digests: tuple[str, str]) -> tuple[WrittenMessage, ...]:
    keep = record.keep_content
    replies = []
    if digest := digests[0]:
        text = redact_text(record.text) if keep else ""
        replies.append(WrittenMessage(kind=Kind.TEXT, digest=digest, text=text))
    if record.call is not None:
        digest = digests[1]
        function = record.call.function if keep else ""
        arguments = redact(record.call.input_arguments) if keep else None
        replies.append(
            WrittenMessage(
                kind=kind_of(record.call), digest=digest, function=function, arguments=arguments
            )
        )
    return tuple(replies)


def _sealed_entry(entry: Entry, *, keep: bool) -> Entry:
    return Entry(
        type=entry.type,
        payload=redact(entry.payload) if keep and entry.payload is not None else None,
        text_offset=_fitting(entry.text_offset),
        at_ms=_fitting(entry.at_ms),
    )


def _sealed_usage(usage: Usage) -> Usage:
    return Usage(
        input_tokens=_fitting(usage.input_tokens),
        cached_tokens=_fitting(usage.cached_tokens),
        output_tokens=_fitting(usage.output_tokens),
        reasoning_tokens=_fitting(usage.reasoning_tokens),
        source=usage.source,
        model=clean_text(usage.model)[:LONGEST_MODEL],
        cost=None if usage.cost is None else round(usage.cost, COST["decimal_places"]),
    )


def _fitting(number: int) -> int:
    return max(0, min(number, LARGEST_INTEGER))


def to_json(sealed: Sealed) -> JsonObject:
    """The sealed run as JSON for the spool."""
    return {
        "run_id": str(sealed.run_id),
        "outcome": sealed.outcome.value,
        "ended_at": sealed.ended_at.isoformat(),
        "ms": sealed.ms,
        "ttft_ms": sealed.ttft_ms,
        "error": sealed.error,
        "error_code": sealed.error_code,
        "finish_reason": sealed.finish_reason,
        "notes": sealed.notes,
        "text": sealed.text,
        "replies": [
            [one.kind.value, one.digest, one.text, one.function, one.arguments]
            for one in sealed.replies
        ],
        "entries": [
            [str(one.type), one.payload, one.text_offset, one.at_ms] for one in sealed.entries
        ],
        "usages": [
            [
                one.model,
                one.source.value,
                *(getattr(one, name) for name in TOKENS),
                None if one.cost is None else str(one.cost),
            ]
            for one in sealed.usages
        ],
        "keep_content": sealed.keep_content,
        "is_redacted": sealed.is_redacted,
    }


def from_json(data: Mapping[str, Json]) -> Sealed:
    """Reads what `to_json` wrote.

    Raises:
        KeyError, TypeError, ValueError, OverflowError: It was not written by `to_json`.
    """
    ttft_ms = cast("int | None", data["ttft_ms"])
    replies = cast("list[tuple[str, str, str, str, JsonObject | None]]", data["replies"])
    entries = cast("list[tuple[str, JsonObject | None, int, int]]", data["entries"])
    usages = cast("list[tuple[str, str, int, int, int, int, str | None]]", data["usages"])
    return Sealed(
        run_id=UUID(str(data["run_id"])),
        outcome=Outcome(str(data["outcome"])),
        # What is before the first year in UTC is stored by PostgreSQL, and then read by nobody.
        ended_at=datetime.fromisoformat(str(data["ended_at"])).astimezone(UTC),
        ms=int(cast(int, data["ms"])),
        ttft_ms=ttft_ms,
        error=str(data["error"]),
        error_code=str(data["error_code"]),
        finish_reason=str(data["finish_reason"]),
        notes=tuple(cast("list[str]", data["notes"])),
        text=str(data["text"]),
        replies=tuple(
            WrittenMessage(
                kind=Kind(kind), digest=digest, text=text, function=function, arguments=arguments
            )
            for kind, digest, text, function, arguments in replies
        ),
        entries=tuple(
            Entry(type=kind, payload=payload, text_offset=offset, at_ms=at_ms)
            for kind, payload, offset, at_ms in entries
        ),
        usages=tuple(_usage(*row) for row in usages),
        keep_content=bool(data["keep_content"]),
        is_redacted=bool(data.get("is_redacted", False)),  # older files have it not
    )


def _usage(
    model: str,
    source: str,
    read: int,
    cached: int,
    written: int,
    reasoning: int,
    cost: str | None,
) -> Usage:
    return Usage(
        input_tokens=read,
        cached_tokens=cached,
        output_tokens=written,
        reasoning_tokens=reasoning,
        source=UsageSource(source),
        model=model,
        cost=None if cost is None else Decimal(cost),
    )
