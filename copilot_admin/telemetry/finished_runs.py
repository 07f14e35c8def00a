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
from copilot_admin.agent.values.tracing import Trace, Tracer
from copilot_admin.errors import RequestError
from copilot_admin.ids import Ids
from copilot_admin.models import CostConfidence, Outcome
from protocol.json import JsonObject

NS_PER_MS = 1_000_000
ERROR_OUTCOMES = frozenset({Outcome.FAILED, Outcome.CRASHED, Outcome.INTERRUPTED, Outcome.REFUSED})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimes:
    """Moments of a run in nanoseconds of `monotonic_ns`."""

    received: int = field(default_factory=monotonic_ns)
    admitted: int | None = None  # caller and question were accepted
    stored: int | None = None  # committed, if that was before the end
    finishing: int | None = None  # the answer was complete
    ended: int = field(default_factory=monotonic_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCall:
    function: str
    arguments: JsonObject
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """Facts for logs, metrics and traces; unknown values are empty."""

    run_id: UUID
    trace_id: str
    chat_id: str | None = None
    copilot: str = ""  # slug, if the caller may know that it exists
    version: int | None = None  # 0 for a draft
    caller: str = ""
    user: str = ""  # named as COPILOT_USER_IN_LOGS says
    is_trial: bool = False  # asked in the playground or by an evaluation
    generation: int | None = None
    outcome: Outcome
    error_code: str = ""
    started_at: datetime
    ms: int = 0  # from admission to the end
    first_ms: int | None = None
    provider: str = ""
    provider_kind: str = ""
    provider_url: str = ""
    model: str = ""
    usage: Usage | None = None
    cost: Decimal | None = None
    cost_confidence: CostConfidence | None = None
    times: RunTimes
    facts: tuple[Trace, ...] = ()
    client_calls: tuple[ClientCall, ...] = ()
    has_row: bool = True  # stored; otherwise only the error code is counted
    keeps_content: bool = False  # traces may hold its texts
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
    for listener in REJECTION_LISTENERS:
        listener(error)


class RunObserver:
    """Collects facts about a run; it does nothing per chunk."""

    def __init__(self, run: FinishedRun, *, wants_content: bool) -> None:
        self._run = run
        self._admitted = monotonic_ns()
        self._stored: int | None = None
        self._finishing: int | None = None
        self._client_calls: list[ClientCall] = []
        self._facts: list[Trace] = []
        # The list's own method: one of this object would be a reference cycle that keeps all texts.
        self.tracer = Tracer(self._facts.append, wants_content=run.keeps_content and wants_content)

    def mark_stored(self, acceptance: asyncio.Future[Any]) -> None:
        """Note when the run was committed (done callback)."""
        if not acceptance.cancelled() and acceptance.exception() is None:
            self._stored = monotonic_ns()

    def mark_finishing(self) -> None:
        self._finishing = monotonic_ns()

    def add_client_call(self, function: str, arguments: JsonObject) -> None:
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
    """Notify listeners of a query that was rejected before it had an answer; never raises."""
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
