"""The figures of `/metrics`: what is counted, under which names and labels.

Prometheus' client is imported here, and where workers of one folder end (`server/shared_figures.py`);
both only where figures are wanted. Labels have few values: slugs and names of rows, codes and
classes of the source; never words of strangers.
"""

from collections.abc import Mapping
import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector

from copilot_admin.agent.values.witness import ModelAsked
from copilot_admin.errors import RequestError
from copilot_admin.models import Outcome
from copilot_admin.telemetry.ended_run import EndedRun
from copilot_admin.telemetry.gauges import GaugeReading

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # set: figures of all processes are files in it
NS = 1e-9
# Names, what they say, and labels.
_REQUESTS = (
    "copilot_http_requests",
    "Requests that were answered. Status 'none': the client left before.",
    ("method", "path", "status"),
)
_BEGIN_SECONDS = (
    "copilot_http_response_start_seconds",
    "Time until an answer began; of a stream, until its head was sent.",
    ("path",),
)
_RUNS = (
    "copilot_runs",
    "Questions that were answered, or refused by a limit, by how that ended.",
    ("copilot", "outcome"),
)
_RUN_SECONDS = (
    "copilot_run_seconds",
    "Time from the admission of a question to the end of its answer.",
    ("outcome",),
)
_FIRST_SECONDS = (
    "copilot_first_token_seconds",
    "Time from the admission of a question to its first words or step.",
    ("copilot",),
)
_TOKENS = (
    "copilot_tokens",
    "Tokens of models, counted by the provider or estimated.",
    ("copilot", "kind"),
)
_REFUSALS = (
    "copilot_refusals",
    "Requests of the API that were refused, by the code that the client was told.",
    ("code",),
)
_MODEL_SECONDS = (
    "copilot_model_call_seconds",
    "Time that calls of models took, with all tries.",
    ("provider",),
)
_PROVIDER_ERRORS = (
    "copilot_provider_errors",
    "Tries to ask a model that failed, by class of error.",
    ("provider", "error"),
)
_JOURNAL_SECONDS = (
    "copilot_journal_seconds",
    "How long a run waited for the journal, when it was accepted and when it ended.",
    ("step",),
)
# Bounds in seconds of what is timed.
_ANSWER_BOUNDS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_FIRST_BOUNDS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
_WRITE_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class ServerFigures:
    """Counts in this process, and says what all processes have counted."""

    def __init__(self) -> None:
        self._registry = made = CollectorRegistry()
        self._requests = Counter(*_REQUESTS, registry=made)
        self._begin_seconds = Histogram(*_BEGIN_SECONDS, registry=made, buckets=_FIRST_BOUNDS)
        self._runs = Counter(*_RUNS, registry=made)
        self._run_seconds = Histogram(*_RUN_SECONDS, registry=made, buckets=_ANSWER_BOUNDS)
        self._first_seconds = Histogram(*_FIRST_SECONDS, registry=made, buckets=_FIRST_BOUNDS)
        self._tokens = Counter(*_TOKENS, registry=made)
        self._refusals = Counter(*_REFUSALS, registry=made)
        self._model_seconds = Histogram(*_MODEL_SECONDS, registry=made, buckets=_ANSWER_BOUNDS)
        self._provider_errors = Counter(*_PROVIDER_ERRORS, registry=made)
        self._journal_seconds = Histogram(*_JOURNAL_SECONDS, registry=made, buckets=_WRITE_BOUNDS)
        self._gauges: dict[str, Gauge] = {}

    def count_request(self, method: str, path: str, status: str) -> None:
        """Counts a request that is over; the labels are of closed sets."""
        self._requests.labels(method, path, status).inc()

    def time_begin(self, path: str, seconds: float) -> None:
        """Counts how long it took until an answer began."""
        self._begin_seconds.labels(path).observe(seconds)

    def count_refusal(self, error: RequestError) -> None:
        """Counts a request that was refused."""
        self._refusals.labels(error.code).inc()

    def count_run(self, run: EndedRun) -> None:
        """Counts a run that has ended; a trial is no use of a copilot, but its model was asked.

        What was refused and has no row is counted by its code, so that runs here are those of the journal.
        """
        if run.has_row and not run.is_trial:
            self._count_use(run)
        self._count_models(run)
        if run.outcome is Outcome.REFUSED:
            return
        moments = run.moments
        if moments.accepted is not None and moments.admitted is not None:
            self._time_journal("accept", moments.accepted - moments.admitted)
        if moments.finishing is not None:
            self._time_journal("finish", moments.ended - moments.finishing)

    def gauge(self, readings: Mapping[str, GaugeReading]) -> None:
        """Sets what stands at the moment in this process."""
        for name, reading in readings.items():
            gauge = self._gauges.get(name)
            if gauge is None:
                gauge = self._gauges[name] = Gauge(
                    name,
                    reading.help,
                    (reading.label,) if reading.label else (),
                    registry=self._registry,
                    multiprocess_mode="livemax" if reading.is_shared else "livesum",
                )
            if not reading.label:
                gauge.set(reading.values[""])
                continue
            for value, number in reading.values.items():
                gauge.labels(value).set(number)

    def text(self, accept: str) -> tuple[bytes, str]:
        """What all processes have counted, and its content type; reads files where they are several.

        Args:
            accept: The header of whoever asks.
        """
        encode, content_type = choose_encoder(accept)
        registry = self._registry
        if os.environ.get(FOLDER):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return encode(registry), content_type

    def _count_use(self, run: EndedRun) -> None:
        self._runs.labels(run.copilot, run.outcome.value).inc()
        if run.outcome is Outcome.REFUSED:
            return
        self._run_seconds.labels(run.outcome.value).observe(run.ms / 1000)
        if run.first_ms is not None:
            self._first_seconds.labels(run.copilot).observe(run.first_ms / 1000)
        if run.usage is not None:
            self._tokens.labels(run.copilot, "input").inc(run.usage.input_tokens)
            self._tokens.labels(run.copilot, "output").inc(run.usage.output_tokens)

    def _count_models(self, run: EndedRun) -> None:
        for fact in run.facts:
            if isinstance(fact, ModelAsked):
                seconds = (fact.ended - fact.began) * NS
                self._model_seconds.labels(run.provider).observe(seconds)
                for failure in fact.failures:
                    self._provider_errors.labels(run.provider, failure).inc()

    def _time_journal(self, step: str, ns: int) -> None:
        self._journal_seconds.labels(step).observe(ns * NS)
