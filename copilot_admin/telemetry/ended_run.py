"""A run that has ended, as those who watch the server are told of it."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from time import monotonic_ns
from uuid import UUID

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.agent.values.witness import Fact
from copilot_admin.models import CostConfidence, Outcome
from protocol.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """When what happened, in nanoseconds of the clock that never goes back (`monotonic_ns`).

    Attributes:
        came: The request was there, with its body.
        admitted: The caller and the question were let in.
        accepted: The journal had committed the run; None: it was not before the run ended.
        finishing: The answer was over, and went to the journal.
        ended: The last frame was on its way.
    """

    came: int = field(default_factory=monotonic_ns)
    admitted: int | None = None
    accepted: int | None = None
    finishing: int | None = None
    ended: int = field(default_factory=monotonic_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCall:
    """A function that the client was asked to carry out, which ends the run."""

    function: str
    arguments: JsonObject
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a run ended, as whoever answered it knows.

    Attributes:
        error_code: What kind of failure it was; empty if it was none.
        ms: How long it took, without what the journal took at its end.
        first_ms: How long until the first words; None without any.
        usage: The tokens of all its calls of models.
        cost: In US dollars; None: nobody knows.
        cost_confidence: How well that is known.
    """

    outcome: Outcome
    error_code: str
    ms: int
    first_ms: int | None
    usage: Usage | None
    cost: Decimal | None
    cost_confidence: CostConfidence | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """Everything that may be told of a run: what nobody knows is empty.

    Attributes:
        trace_id: The chat's, as the response carried it.
        chat_id: The same if the client gave it.
        copilot: Its slug; empty where a refused request named none that exists.
        version: 0 of a draft, None of a copilot that was not looked at.
        caller: As transcripts name him.
        user: The user who asks, as the setting has him named; "": not at all.
        is_trial: A builder or a test asked.
        generation: Of the protocol.
        error_code: What kind of failure it was.
        ms: From the admission to the end.
        first_ms: To the first words; None without any.
        provider: The name of its row.
        provider_kind: What protocol it speaks.
        provider_address: Of its API; empty where it has none of its own.
        cost: In US dollars; None: nobody knows, or nothing was asked.
        cost_confidence: How well that is known; None: nobody looked.
        facts: What the engine did.
        client_calls: What the client was asked for.
        has_row: The journal has it, or counts it with one that it has; else its code alone is counted.
        keeps_content: Words of it may be told, if the operator asks for them.
        traceparent: That came with the request.
    """

    run_id: UUID
    trace_id: str
    chat_id: str | None = None
    copilot: str = ""
    version: int | None = None
    caller: str = ""
    user: str = ""
    is_trial: bool = False
    generation: int | None = None
    outcome: Outcome
    error_code: str = ""
    started_at: datetime
    ms: int
    first_ms: int | None = None
    provider: str = ""
    provider_kind: str = ""
    provider_address: str = ""
    model: str = ""
    usage: Usage | None = None
    cost: Decimal | None = None
    cost_confidence: CostConfidence | None = None
    moments: Moments
    facts: tuple[Fact, ...] = ()
    client_calls: tuple[ClientCall, ...] = ()
    has_row: bool = True
    keeps_content: bool = False
    traceparent: str = ""
