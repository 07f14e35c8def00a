"""Prometheus metrics.

Labels have few values: slugs, names of rows, error codes and classes; never texts of users.
"""

from collections.abc import Mapping
import os
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector

from copilot_admin.agent.values.tracing import ModelCallTrace
from copilot_admin.errors import RequestError
from copilot_admin.models import Outcome
from copilot_admin.telemetry.finished_runs import LISTENERS, REJECTION_LISTENERS, FinishedRun

_ANSWER_BUCKETS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_FIRST_BUCKETS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
_WRITE_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
# Name without the prefix `copilot_`: help, labels, and buckets if it is a histogram.
METRICS: Mapping[str, tuple[str, str, tuple[float, ...]]] = {
    "http_requests": ("HTTP requests by status; 'none': the client left", "method path status", ()),
    "http_response_start_seconds": ("Time until a response started", "path", _FIRST_BUCKETS),
    "runs": ("Runs by outcome, including those rejected by a limit", "copilot outcome", ()),
    "run_seconds": ("Time from admission to the end of an answer", "outcome", _ANSWER_BUCKETS),
    "first_token_seconds": ("Time to the first text or step", "copilot", _FIRST_BUCKETS),
    "tokens": ("Tokens of models, counted or estimated", "copilot kind", ()),
    "refusals": ("API requests rejected, by error code", "code", ()),
    "model_call_seconds": ("Duration of model calls with retries", "provider", _ANSWER_BUCKETS),
    "provider_errors": ("Failed attempts to call a model", "provider error", ()),
    "journal_seconds": ("Time that a run waited for the database", "step", _WRITE_BUCKETS),
}


# Name without the prefix `copilot_`: help, label, and whether all processes read the same value or the
# largest one counts; otherwise values add up.
GAUGES: Mapping[str, tuple[str, str, bool]] = {
    "streams": ("Answers being streamed.", "", False),
    "journal_lag_seconds": ("Age of the oldest write that waits for the database.", "", True),
    "spool_files": ("Ends of runs in the spool.", "", True),
    "spool_bytes": ("Size of the spool.", "", True),
    "spool_set_aside_files": ("Files of the spool that cannot be stored.", "", True),
    "limit_used": ("Use of a limit, in the process that uses it most.", "limit", True),
    "limit": ("Limit of each process.", "limit", True),
    "database_connections": ("Connections to PostgreSQL.", "state", False),
    "database_waiting": ("Threads that wait for a connection.", "", False),
}


class ServerMetrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._metrics: dict[str, Any] = {}
        for name, (help_text, labels, buckets) in METRICS.items():
            kind, options = (Histogram, {"buckets": buckets}) if buckets else (Counter, {})
            self._add(name, kind, help_text, labels, **options)
        for name, (help_text, label, is_shared) in GAUGES.items():
            mode = "livemax" if is_shared else "livesum"
            self._add(name, Gauge, help_text, label, multiprocess_mode=mode)

    def _add(self, name: str, kind: Any, help_text: str, labels: str, **options: Any) -> None:
        of = (f"copilot_{name}", help_text, labels.split())
        self._metrics[name] = kind(*of, registry=self._registry, **options)

    def count_rejection(self, error: RequestError) -> None:
        self.count("refusals", error.code)

    def count_run(self, run: FinishedRun) -> None:
        """Count a finished run. Trials aren't use of a copilot, but their model calls count."""
        is_use = run.has_row and not run.is_trial
        if is_use:
            self.count("runs", run.copilot, run.outcome.value)
        for fact in run.facts:
            if isinstance(fact, ModelCallTrace):
                seconds = (fact.ended - fact.began) / 1e9
                self.observe("model_call_seconds", seconds, run.provider)
                for failure in fact.failures:
                    self.count("provider_errors", run.provider, failure)
        if run.outcome is Outcome.REFUSED:
            return
        times = run.times
        if times.stored is not None and times.admitted is not None:
            self.observe("journal_seconds", (times.stored - times.admitted) / 1e9, "accept")
        if times.finishing is not None:
            self.observe("journal_seconds", (times.ended - times.finishing) / 1e9, "finish")
        if is_use:
            self._count_answer(run)

    def _count_answer(self, run: FinishedRun) -> None:
        self.observe("run_seconds", run.ms / 1000, run.outcome.value)
        if run.first_ms is not None:
            self.observe("first_token_seconds", run.first_ms / 1000, run.copilot)
        if run.usage is not None:
            self.count("tokens", run.copilot, "input", by=run.usage.input_tokens)
            self.count("tokens", run.copilot, "output", by=run.usage.output_tokens)

    def set_gauges(self, values: Mapping[str, Mapping[str, float]]) -> None:
        """Set gauges of this process: values by label; "" for a gauge without one."""
        for name, by_label in values.items():
            gauge = self._metrics[name]
            for label, value in by_label.items():
                (gauge.labels(label) if label else gauge).set(value)

    def format_text(self, accept: str) -> tuple[bytes, str]:
        """Return the exposition of all processes and its type, by the `Accept` header."""
        encode, content_type = choose_encoder(accept)
        registry = self._registry
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):  # several processes count in its files
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return encode(registry), content_type

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        self._metrics[name].labels(*labels).inc(by)

    def observe(self, name: str, value: float, *labels: str) -> None:
        self._metrics[name].labels(*labels).observe(value)


ENABLED: list[ServerMetrics] = []  # one at most


def enable_metrics() -> ServerMetrics:
    """Count from now on; call it once in a process."""
    metrics = ServerMetrics()
    ENABLED.append(metrics)
    LISTENERS.append(metrics.count_run)
    REJECTION_LISTENERS.append(metrics.count_rejection)
    return metrics
