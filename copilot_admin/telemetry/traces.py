"""Sends the trace of each run to a collector, over OTLP.

This module alone imports OpenTelemetry, and is imported only where a collector is configured. Spans
wait in a bounded queue and are sent by a thread of its own; what the collector does not take is lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from secrets import randbits
import threading
from time import monotonic_ns, time_ns

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from copilot_admin.config.observability import TraceSettings
from copilot_admin.telemetry.brief_answers import brief_session
from copilot_admin.telemetry.ended_run import EndedRun
from copilot_admin.telemetry.span_plan import ERRORS, PlannedKind, PlannedSpan, plan

QUEUE_SPANS = 4096  # some hundreds of runs; a few MB
BATCH_SPANS = 256
EVERY_MS = 2000.0
TIMEOUT_SECONDS = 5.0  # of one request to the collector
_SCOPE = InstrumentationScope("copilot_admin")
_KINDS = {PlannedKind.INTERNAL: SpanKind.INTERNAL, PlannedKind.CLIENT: SpanKind.CLIENT}


class Traces:
    """Makes spans of runs that have ended, and sends them."""

    def __init__(self, collector: TraceSettings) -> None:
        self.with_content = collector.with_content
        self._collector = collector
        self._exporter = OTLPSpanExporter(
            endpoint=f"{collector.endpoint}/v1/traces",
            headers=dict(collector.headers),
            timeout=TIMEOUT_SECONDS,
            session=brief_session(),
        )
        self._processor = BatchSpanProcessor(
            self._exporter,
            max_queue_size=QUEUE_SPANS,
            max_export_batch_size=BATCH_SPANS,
            schedule_delay_millis=EVERY_MS,
        )
        self._resource = Resource.create({"service.name": collector.service})

    def take(self, run: EndedRun) -> None:
        """Puts the spans of a run into the queue; waits for nothing."""
        if not self._is_wanted(run):
            return
        root = plan(run, with_content=self.with_content)
        made = _Making(
            trace_id=run.run_id.int, offset=time_ns() - monotonic_ns(), resource=self._resource
        )
        for span in made.spans(root, links=_links(run.traceparent)):
            self._processor.on_end(span)

    def stop(self, *, timeout: float) -> None:
        """Sends what waits, for so many seconds at the most, and ends the thread."""
        # Its own waits for a collector that does not answer, half a minute.
        ending = threading.Thread(target=self._processor.shutdown, name="traces-end", daemon=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Making:
    """Makes the spans of one trace: as they ended long ago, a tracer would only take longer.

    Attributes:
        trace_id: The run's.
        offset: From the clock that never goes back to nanoseconds since 1970.
    """

    trace_id: int
    offset: int
    resource: Resource

    def spans(
        self,
        planned: PlannedSpan,
        parent: SpanContext | None = None,
        *,
        links: Sequence[Link] = (),
    ) -> Iterator[ReadableSpan]:
        """A span and all below it."""
        context = SpanContext(
            trace_id=self.trace_id,
            span_id=randbits(64) or 1,
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
        )
        attributes = {key: value for key, value in planned.attributes.items() if value is not None}
        if planned.error:
            attributes["error.type"] = planned.error
        yield ReadableSpan(
            name=planned.name,
            context=context,
            parent=parent,
            resource=self.resource,
            attributes=attributes,
            links=links,
            kind=_KINDS[planned.kind],
            status=Status(StatusCode.ERROR if planned.error else StatusCode.UNSET),
            start_time=planned.start + self.offset,
            end_time=max(planned.start, planned.end) + self.offset,
            instrumentation_scope=_SCOPE,
        )
        for child in planned.children:
            yield from self.spans(child, context)


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
