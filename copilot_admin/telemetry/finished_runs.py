"""Facts about each run, handed to all listeners when it has ended, such as the log line and traces."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
import json
import logging
from time import monotonic_ns
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
REJECTION_LISTENERS: list[Callable[[RequestError], None]] = []


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
    def __init__(self, run: FinishedRun, *, wants_content: bool) -> None:
        self._run = run
        self._times = {"admitted": monotonic_ns()}
        self._client_calls: list[ClientCall] = []
        self._facts: list[Trace] = []
        # The list's own method: one of this object would be a reference cycle that keeps all texts.
        self.tracer = Tracer(self._facts.append, wants_content=run.keeps_content and wants_content)

    def mark_stored(self, acceptance: asyncio.Future[Any]) -> None:
        if not acceptance.cancelled() and acceptance.exception() is None:
            self._times["stored"] = monotonic_ns()

    def mark_finishing(self) -> None:
        self._times["finishing"] = monotonic_ns()

    def add_client_call(self, function: str, arguments: JsonObject) -> None:
        self._client_calls.append(ClientCall(function, arguments, monotonic_ns()))

    def finish(self, **end: Any) -> None:
        """Notify listeners. `end` replaces fields of `FinishedRun` such as `outcome` and `usage`."""
        times = replace(self._run.times, **self._times, ended=monotonic_ns())
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
    while _exporters:
        tracer = _exporters.pop()
        LISTENERS.remove(tracer.export)
        tracer.shut_down(timeout=timeout)


def wants_content() -> bool:
    return any(tracer.with_content for tracer in _exporters)


Value: TypeAlias = str | int | float | bool | None
run_logger = logging.getLogger("copilot_admin.runs")


def log_fields(run: FinishedRun) -> dict[str, Value]:
    """Return what is known about a run; no text of a question or answer."""
    usage, times = run.usage, run.times
    values: dict[str, Value] = {
        "run": str(run.run_id),
        "trace": run.trace_id,
        "copilot": run.copilot,
        "version": run.version,
        "caller": run.caller,
        "user": run.user,
        "trial": run.is_trial or None,
        "outcome": run.outcome.value,
        "error": run.error_code,
        "started": run.started_at.isoformat(timespec="milliseconds"),
        "ms": run.ms,
        "first_ms": run.first_ms,
        "journal_ms": times.finishing and (times.ended - times.finishing) // NS_PER_MS,
        "generation": run.generation,
        "provider": run.provider,
        "model": run.model,
        "model_calls": sum(isinstance(one, ModelCallTrace) for one in run.facts) or None,
        "tools": sum(isinstance(one, ToolTrace) for one in run.facts) or None,
        "client_calls": len(run.client_calls) or None,
        "input_tokens": usage.input_tokens if usage else None,
        "cached_tokens": (usage.cached_tokens or None) if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "reasoning_tokens": (usage.reasoning_tokens or None) if usage else None,
        "tokens_from": usage.source.value if usage else None,
        "cost": None if run.cost is None else float(run.cost),
        "cost_confidence": run.cost_confidence and run.cost_confidence.value,
    }
    return {name: value for name, value in values.items() if value not in (None, "")}


def log_run(run: FinishedRun) -> None:
    if run_logger.isEnabledFor(logging.INFO):
        fields = log_fields(run)
        run_logger.info("%s", json.dumps(fields), extra={"fields": fields})
