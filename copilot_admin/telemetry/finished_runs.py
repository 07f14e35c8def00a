"""Facts about each run, collected while it runs and handed to all listeners when it has ended."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
import logging
from time import monotonic_ns
from typing import Any
from uuid import UUID

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.agent.values.witness import Fact, Witness
from copilot_admin.errors import RequestError
from copilot_admin.ids import Ids
from copilot_admin.models import CostConfidence, Outcome
from protocol.json import JsonObject

NS_PER_MS = 1_000_000
ERROR_OUTCOMES = frozenset({Outcome.FAILED, Outcome.CRASHED, Outcome.INTERRUPTED, Outcome.REFUSED})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimes:
    """Moments of a run in nanoseconds of `monotonic_ns`.

    Attributes:
        received: The request was there, with its body.
        admitted: The caller and the question were accepted.
        stored: The run was committed; None if it wasn't before the run ended.
        finishing: The answer was complete and went to the store.
        ended: The last frame was sent.
    """

    received: int = field(default_factory=monotonic_ns)
    admitted: int | None = None
    stored: int | None = None
    finishing: int | None = None
    ended: int = field(default_factory=monotonic_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCall:
    """Client function that a run called."""

    function: str
    arguments: JsonObject
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """Everything that logs, metrics and traces may tell about a run. Unknown values are empty.

    Attributes:
        trace_id: Sent with the response.
        chat_id: The same, if the client sent it.
        copilot: Slug; empty if a rejected request named no existing copilot.
        version: 0 for a draft, None if no copilot was looked up.
        user: Named as `COPILOT_USER_IN_LOGS` says; empty if not at all.
        is_trial: Asked in the playground or by an evaluation.
        ms: From admission to the end.
        first_ms: To the first text or step.
        cost: In US dollars; None if unknown.
        has_row: The run is stored; otherwise only its error code is counted.
        keeps_content: Traces may hold its texts if the operator wants them.
        traceparent: From the request.
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
    ms: int = 0
    first_ms: int | None = None
    provider: str = ""
    provider_kind: str = ""
    provider_url: str = ""
    model: str = ""
    usage: Usage | None = None
    cost: Decimal | None = None
    cost_confidence: CostConfidence | None = None
    times: RunTimes
    facts: tuple[Fact, ...] = ()
    client_calls: tuple[ClientCall, ...] = ()
    has_row: bool = True
    keeps_content: bool = False
    traceparent: str = ""


LISTENERS: list[Callable[[FinishedRun], None]] = []
REJECTION_LISTENERS: list[Callable[[RequestError], None]] = []


def notify(run: FinishedRun) -> None:
    """Hand a finished run to all listeners; never raises."""
    for listener in LISTENERS:
        try:
            listener(run)
        except Exception:  # a listener must not harm an answer (ADR 12)
            logger.exception("telemetry of run %s failed", run.run_id)


def notify_rejection(error: RequestError) -> None:
    """Count a rejected request of the API."""
    for listener in REJECTION_LISTENERS:
        listener(error)


class RunObserver:
    """Collects facts about a run; it does nothing per chunk."""

    def __init__(self, run: FinishedRun, *, wants_content: bool) -> None:
        """Observe a run.

        Args:
            run: Known facts; outcome and end are replaced.
            wants_content: Traces want the texts of models and tools.
        """
        self._run = run
        self._admitted = monotonic_ns()
        self._stored: int | None = None
        self._finishing: int | None = None
        self._client_calls: list[ClientCall] = []
        self._facts: list[Fact] = []
        # The list's own method: one of this object would be a reference cycle that keeps all texts.
        self.witness = Witness(
            self._facts.append, wants_content=run.keeps_content and wants_content
        )

    def mark_stored(self, acceptance: asyncio.Future[Any]) -> None:
        """Note when the run was committed (done callback)."""
        if not acceptance.cancelled() and acceptance.exception() is None:
            self._stored = monotonic_ns()

    def mark_finishing(self) -> None:
        """Note that the answer is complete."""
        self._finishing = monotonic_ns()

    def add_client_call(self, function: str, arguments: JsonObject) -> None:
        """Note a client function call."""
        call = ClientCall(function=function, arguments=arguments, at=monotonic_ns())
        self._client_calls.append(call)

    def finish(self, **end: Any) -> None:
        """Notify listeners. `end` replaces fields of `FinishedRun` such as `outcome` and `usage`."""
        times = RunTimes(
            received=self._run.times.received,
            admitted=self._admitted,
            stored=self._stored,
            finishing=self._finishing,
        )
        facts, calls = tuple(self._facts), tuple(self._client_calls)
        notify(replace(self._run, times=times, facts=facts, client_calls=calls, **end))


def report_rejected_run(error: RequestError, *, ids: Ids, received: int, **known: Any) -> None:
    """Notify listeners of a query that was rejected before it had an answer; never raises.

    Args:
        error: Sent to the client.
        ids: Of the request.
        received: Time of the request (`monotonic_ns`).
        known: Fields of `FinishedRun` that are known.
    """
    times = RunTimes(received=received)
    ms = (times.ended - received) // NS_PER_MS
    notify(
        FinishedRun(
            run_id=ids.run_id,
            trace_id=ids.trace_id,
            chat_id=ids.chat_id,
            outcome=Outcome.REFUSED,
            error_code=error.code,
            started_at=datetime.now(UTC) - timedelta(milliseconds=ms),
            ms=ms,
            times=times,
            traceparent=ids.traceparent,
            **{"has_row": False, **known},
        )
    )
