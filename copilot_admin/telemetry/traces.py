"""Sends the trace of each run to a collector, over OTLP.

This module alone imports OpenTelemetry, and is imported only where a collector is configured. Spans
wait in a bounded queue and are sent by a thread of its own; what the collector does not take is lost.
"""

from collections.abc import Sequence
import threading
from time import monotonic_ns, time_ns
from uuid import UUID

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)

from copilot_admin.config.collector import Collector
from copilot_admin.telemetry.ended_run import EndedRun
from copilot_admin.telemetry.span_plan import ERRORS, Kind, PlannedSpan, plan

QUEUE_SPANS = 4096  # some hundreds of runs; a few MB
BATCH_SPANS = 256
EVERY_MS = 2000.0
TIMEOUT_SECONDS = 5.0  # of one request to the collector
_KINDS = {Kind.INTERNAL: SpanKind.INTERNAL, Kind.CLIENT: SpanKind.CLIENT}


class _RunIds(RandomIdGenerator):  # type: ignore[misc]  # its types are not read
    """Makes the id of a run the id of its trace."""

    def __init__(self) -> None:
        self._here = threading.local()  # runs end in several event loops

    def next_is(self, run_id: UUID) -> None:
        """The next trace of this thread is that of a run."""
        self._here.trace_id = run_id.int

    def generate_trace_id(self) -> int:
        """The id of the trace that begins."""
        trace_id: int = self._here.trace_id
        return trace_id


class Traces:
    """Makes spans of runs that have ended, and sends them."""

    def __init__(self, collector: Collector) -> None:
        self.with_content = collector.with_content
        self._collector = collector
        self._ids = _RunIds()
        self._exporter = OTLPSpanExporter(
            endpoint=f"{collector.address.rstrip('/')}/v1/traces",
            headers=dict(collector.headers),
            timeout=TIMEOUT_SECONDS,
        )
        processor = BatchSpanProcessor(
            self._exporter,
            max_queue_size=QUEUE_SPANS,
            max_export_batch_size=BATCH_SPANS,
            schedule_delay_millis=EVERY_MS,
        )
        self._provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=Resource.create({"service.name": collector.service}),
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(processor)
        self._tracer: Tracer = self._provider.get_tracer("copilot_admin")

    def take(self, run: EndedRun) -> None:
        """Puts the spans of a run into the queue; waits for nothing."""
        if not self._is_wanted(run):
            return
        self._ids.next_is(run.run_id)
        root = plan(run, with_content=self.with_content)
        offset = time_ns() - monotonic_ns()
        self._make(root, Context(), offset=offset, links=_links(run.traceparent))

    def stop(self, *, timeout: float) -> None:
        """Sends what waits, for so many seconds at the most, and ends the thread."""
        # Its own waits for a collector that does not answer, half a minute.
        ending = threading.Thread(target=self._provider.shutdown, name="traces-end", daemon=True)
        ending.start()
        ending.join(timeout)
        if ending.is_alive():
            self._exporter.shutdown()  # it tries no more
            ending.join(timeout)

    def _is_wanted(self, run: EndedRun) -> bool:
        """Whether a run is of the share; strangers who were not let in leave no trace."""
        if not run.copilot:
            return False
        # Its first 48 bits are random: the version stands behind them.
        part = (run.run_id.int >> 80) / (1 << 48)
        return run.outcome in ERRORS or part < self._collector.share

    def _make(
        self, planned: PlannedSpan, context: Context, *, offset: int, links: Sequence[Link] = ()
    ) -> None:
        span = self._tracer.start_span(
            planned.name,
            context=context,
            kind=_KINDS[planned.kind],
            attributes={
                key: value for key, value in planned.attributes.items() if value is not None
            },
            links=links,
            start_time=planned.start + offset,
        )
        inside = set_span_in_context(span, context)
        for child in planned.children:
            self._make(child, inside, offset=offset)
        if planned.error:
            span.set_attribute("error.type", planned.error)
            span.set_status(Status(StatusCode.ERROR))
        span.end(end_time=max(planned.start, planned.end) + offset)


def _links(traceparent: str) -> tuple[Link, ...]:
    """The span of whoever sent the request: it is linked, as a stranger may not choose our ids."""
    if not traceparent:
        return ()
    _, trace_id, span_id, flags = traceparent.split("-")
    context = SpanContext(
        trace_id=int(trace_id, 16),
        span_id=int(span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(int(flags, 16)),
    )
    return (Link(context),)
