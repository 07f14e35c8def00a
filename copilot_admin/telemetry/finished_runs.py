"""Facts about each run, handed to all listeners when it has ended, such as the log line and traces."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
import json
import logging
from threading import Lock
from time import monotonic, monotonic_ns
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from uuid import UUID

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.agent.values.tracing import ModelCallTrace, ToolTrace, Trace, Tracer
from copilot_admin.config.observability import TraceSettings
from copilot_admin.errors import ConfigurationError, RequestError
from copilot_admin.ids import Ids
from copilot_admin.models import CostConfidence, Outcome
from protocol.json import JsonObject

if TYPE_CHECKING:
    from copilot_admin.telemetry.spans import SpanExporter


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


class ClientCall(NamedTuple):
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
        self._client_calls.append(ClientCall(function, arguments, monotonic_ns()))

    def finish(self, **end: Any) -> None:
        """Notify listeners. `end` replaces fields of `FinishedRun` such as `outcome` and `usage`."""
        times = replace(
            self._run.times,
            admitted=self._admitted,
            stored=self._stored,
            finishing=self._finishing,
            ended=monotonic_ns(),
        )
        facts, calls = tuple(self._facts), tuple(self._client_calls)
        notify(replace(self._run, times=times, facts=facts, client_calls=calls, **end))


def report_rejected_run(error: RequestError, *, ids: Ids, received: int, **known: Any) -> None:
    """Notify listeners of a query that was rejected before it had an answer; never raises."""
    times = RunTimes(received=received)
    ms = (times.ended - received) // NS_PER_MS
    run = FinishedRun(
        run_id=ids.run_id,
        trace_id=ids.trace_id,
        chat_id=ids.chat_id,
        outcome=Outcome.REFUSED,
        error_code=error.code,
        started_at=datetime.now(UTC) - timedelta(milliseconds=ms),
        ms=ms,
        times=times,
        traceparent=ids.traceparent,
        has_row=False,
    )
    notify(replace(run, **known))


_exporters: list["SpanExporter"] = []


def start_tracing(settings: TraceSettings) -> None:
    """Trace runs from now on, if a collector is configured."""
    if not settings.is_enabled:
        return
    try:
        from copilot_admin.telemetry.spans import SpanExporter
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages for traces are missing. "
            "Install them: pip install --require-hashes -r requirements/traces.txt"
        ) from error
    tracer = SpanExporter(settings)
    _exporters.append(tracer)
    LISTENERS.append(tracer.export)


def stop_tracing(*, timeout: float) -> None:
    """Export what is queued, for so many seconds at most."""
    while _exporters:
        tracer = _exporters.pop()
        LISTENERS.remove(tracer.export)
        tracer.shut_down(timeout=timeout)


def wants_content() -> bool:
    return any(tracer.with_content for tracer in _exporters)


WARNING_INTERVAL_SECONDS = 60.0

Value: TypeAlias = str | int | float | bool | None
_NO_USAGE = Usage()
run_logger = logging.getLogger("copilot_admin.runs")


# Fields that are None or "" are left out. No text of a question or answer is logged.
FIELDS: Mapping[str, Callable[[FinishedRun], Value]] = {
    "run": lambda run: str(run.run_id),
    "trace": lambda run: run.trace_id,
    "copilot": lambda run: run.copilot,
    "version": lambda run: run.version,
    "caller": lambda run: run.caller,
    "user": lambda run: run.user,
    "trial": lambda run: run.is_trial or None,
    "outcome": lambda run: run.outcome.value,
    "error": lambda run: run.error_code,
    "started": lambda run: run.started_at.isoformat(timespec="milliseconds"),
    "ms": lambda run: run.ms,
    "first_ms": lambda run: run.first_ms,
    "journal_ms": lambda run: (
        run.times.finishing and (run.times.ended - run.times.finishing) // NS_PER_MS
    ),
    "generation": lambda run: run.generation,
    "provider": lambda run: run.provider,
    "model": lambda run: run.model,
    "model_calls": lambda run: sum(isinstance(one, ModelCallTrace) for one in run.facts) or None,
    "tools": lambda run: sum(isinstance(one, ToolTrace) for one in run.facts) or None,
    "client_calls": lambda run: len(run.client_calls) or None,
    "input_tokens": lambda run: run.usage.input_tokens if run.usage else None,
    "cached_tokens": lambda run: (run.usage or _NO_USAGE).cached_tokens or None,
    "output_tokens": lambda run: run.usage.output_tokens if run.usage else None,
    "reasoning_tokens": lambda run: (run.usage or _NO_USAGE).reasoning_tokens or None,
    "tokens_from": lambda run: run.usage.source.value if run.usage else None,
    "cost": lambda run: None if run.cost is None else float(run.cost),
    "cost_confidence": lambda run: run.cost_confidence and run.cost_confidence.value,
}


def log_fields(run: FinishedRun) -> dict[str, Value]:
    values = {name: read(run) for name, read in FIELDS.items()}
    return {name: value for name, value in values.items() if value not in (None, "")}


def log_run(run: FinishedRun) -> None:
    if run_logger.isEnabledFor(logging.INFO):
        fields = log_fields(run)
        run_logger.info("%s", json.dumps(fields), extra={"fields": fields})


class ThrottledWarnings:
    """Writes each kind of warning at most once a minute, with the number of those left out."""

    def __init__(self, logger: logging.Logger, clock: Callable[[], float] = monotonic) -> None:
        self._logger = logger
        self._clock = clock
        self._logged_at: dict[str, float] = {}
        self._skipped = Counter[str]()
        self._lock = Lock()

    def warn(self, kind: str, line: str, *values: object) -> None:
        """Log `line % values`, unless a warning of its kind was logged within the last minute."""
        now = self._clock()
        with self._lock:
            if kind in self._logged_at and now - self._logged_at[kind] < WARNING_INTERVAL_SECONDS:
                self._skipped[kind] += 1
                return
            self._logged_at[kind] = now
            skipped = self._skipped.pop(kind, 0)
        self._logger.warning("%s; %d more since the line before", line % values, skipped)
