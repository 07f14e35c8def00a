"""Trace of each finished run for an OpenTelemetry collector (OTLP over HTTP).

Names and attributes follow the GenAI semantic conventions; others start with `copilot.`.
Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
The packages are imported only if a collector is configured.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
import json
from secrets import randbits
import threading
from time import monotonic_ns, time_ns
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from copilot_admin.agent.values.model_call import ModelMessage, ModelRole, ToolCall, Usage
from copilot_admin.agent.values.witness import ModelAsked, ToolRan
from copilot_admin.config.observability import TraceSettings
from copilot_admin.errors import ConfigurationError
from copilot_admin.telemetry.finished_runs import (
    ERROR_OUTCOMES,
    LISTENERS,
    ClientCall,
    FinishedRun,
)
from protocol.json import Json, JsonObject

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | None
Attributes: TypeAlias = dict[str, Value]

MAX_QUEUED_SPANS = 4096  # hundreds of runs, a few MB
BATCH_SPANS = 256
EXPORT_INTERVAL_MS = 2000.0
EXPORT_TIMEOUT_SECONDS = 5.0
MAX_ATTRIBUTE_CHARACTERS = 64 * 1024
_PARAMETERS = (
    "temperature", "top_p", "max_tokens", "frequency_penalty", "presence_penalty", "seed",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Span with its children; times in nanoseconds of `monotonic_ns`."""

    name: str
    start: int
    end: int
    is_client: bool = False
    attributes: Attributes = field(default_factory=dict)
    error: str = ""
    children: tuple["Span", ...] = ()

    @property
    def known_attributes(self) -> dict[str, str | int | float | bool | tuple[str, ...]]:
        """Attributes that have a value."""
        return {
            name: value
            for name, value in self.attributes.items()
            if value is not None and value != ""
        }


def build_span(run: FinishedRun, *, with_content: bool) -> Span:
    """Build the root span of a run; texts only if both the operator and the copilot allow them."""
    with_content = with_content and run.keeps_content
    children = (*_phase_spans(run), *_work_spans(run, with_content=with_content))
    return Span(
        name=f"invoke_agent {run.copilot}".strip(),
        start=run.times.received,
        end=run.times.ended,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": run.copilot,
            "gen_ai.agent.version": "draft" if run.version == 0 else str(run.version or ""),
            "gen_ai.conversation.id": run.chat_id,
            **_model_attributes(run, run.model),
            **_usage_attributes(run.usage),
            "copilot.run.id": str(run.run_id),
            "copilot.trace.id": run.trace_id,
            "copilot.outcome": run.outcome.value,
            "copilot.caller": run.caller,
            "enduser.id": run.user,
            "copilot.generation": run.generation,
            "copilot.trial": run.is_trial or None,
        },
        error=run.error_code if run.outcome in ERROR_OUTCOMES else "",
        children=tuple(sorted(children, key=lambda span: span.start)),
    )


def _phase_spans(run: FinishedRun) -> Iterator[Span]:
    times = run.times
    error = run.error_code if times.admitted is None else ""
    end = times.ended if times.admitted is None else times.admitted
    yield Span(name="admission", start=times.received, end=end, error=error)
    if times.admitted is not None and times.stored is not None:
        yield Span(name="journal accept", start=times.admitted, end=times.stored)
    if times.finishing is not None:
        yield Span(name="journal finish", start=times.finishing, end=times.ended)


def _work_spans(run: FinishedRun, *, with_content: bool) -> Iterator[Span]:
    models = [fact for fact in run.facts if isinstance(fact, ModelAsked)]
    tools = [fact for fact in run.facts if isinstance(fact, ToolRan)]
    nested: set[int] = set()
    for tool in tools:
        inside = [
            model
            for model in models
            if tool.began <= model.began and model.ended <= tool.ended and id(model) not in nested
        ]
        nested |= set(map(id, inside))
        children = tuple(_model_span(run, model, with_content=with_content) for model in inside)
        yield _tool_span(tool, children, with_content=with_content)
    for model in models:
        if id(model) not in nested:
            yield _model_span(run, model, with_content=with_content)
    for call in run.client_calls:
        yield _client_call_span(call, run, with_content=with_content)


def _model_span(run: FinishedRun, fact: ModelAsked, *, with_content: bool) -> Span:
    first = None if fact.first is None else (fact.first - fact.began) / 1e9
    parameters = {
        f"gen_ai.request.{name}": value
        for name in _PARAMETERS
        if isinstance(value := fact.call.parameters.get(name), int | float)
    }
    return Span(
        name=f"chat {fact.call.model}".strip(),
        is_client=True,
        start=fact.began,
        end=fact.ended,
        attributes={
            "gen_ai.operation.name": "chat",
            **_model_attributes(run, fact.call.model),
            **_server_attributes(run.provider_url),
            "gen_ai.request.stream": True,
            **parameters,
            "gen_ai.response.finish_reasons": (fact.finish,) if fact.finish else None,
            "gen_ai.response.time_to_first_chunk": first,
            **_usage_attributes(fact.usage),
            "copilot.retries": len(fact.failures) - fact.failed or None,
            **(_message_attributes(fact) if with_content else {}),
        },
        error=fact.failures[-1] if fact.failed else "",
    )


def _tool_span(fact: ToolRan, children: tuple[Span, ...], *, with_content: bool) -> Span:
    content: Attributes = {
        "gen_ai.tool.call.arguments": fact.call.arguments[:MAX_ATTRIBUTE_CHARACTERS],
        "gen_ai.tool.call.result": fact.result[:MAX_ATTRIBUTE_CHARACTERS],
    }
    return Span(
        name=f"execute_tool {fact.call.name}",
        start=fact.began,
        end=fact.ended,
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": fact.call.name,
            "gen_ai.tool.call.id": fact.call.id,
            "gen_ai.tool.type": "extension",  # runs on the server
            **(content if with_content else {}),
        },
        error="tool_error" if fact.failed else "",
        children=children,
    )


def _client_call_span(call: ClientCall, run: FinishedRun, *, with_content: bool) -> Span:
    content: Attributes = {"gen_ai.tool.call.arguments": _dump(call.arguments)}
    return Span(
        name=f"execute_tool {call.function}",
        is_client=True,
        start=call.at,
        end=run.times.ended,  # its result comes with the next run
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.function,
            "gen_ai.tool.type": "function",  # runs on the client
            **(content if with_content else {}),
        },
    )


def _model_attributes(run: FinishedRun, model: str) -> Attributes:
    kind = run.provider_kind  # the conventions name the protocol
    return {
        "gen_ai.provider.name": "openai" if kind == "openai_compatible" else kind,
        "gen_ai.request.model": model,
        "copilot.provider": run.provider,
    }


def _server_attributes(url: str) -> Attributes:
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:  # not a URL, so the call has failed
        return {}
    return {"server.address": parts.hostname, "server.port": port if parts.hostname else None}


def _usage_attributes(usage: Usage | None) -> Attributes:
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens or None,
        "copilot.usage.source": usage.source.value,
    }


def _message_attributes(fact: ModelAsked) -> Attributes:
    system = [
        part for one in fact.call.messages if _is_system(one) for part in _text_parts(one.text)
    ]
    answer: JsonObject = {
        "role": "assistant",
        "parts": [*_text_parts(fact.text), *map(_call_part, fact.tool_calls)],
        "finish_reason": fact.finish or "",
    }
    messages = [_message(one) for one in fact.call.messages if not _is_system(one)]
    return {
        "gen_ai.system_instructions": _dump(system),
        "gen_ai.input.messages": _dump(messages),
        "gen_ai.output.messages": _dump([answer]),
    }


def _is_system(message: ModelMessage) -> bool:
    return message.role is ModelRole.SYSTEM


def _message(message: ModelMessage) -> JsonObject:
    if message.role is ModelRole.TOOL:
        part: JsonObject = {
            "type": "tool_call_response",
            "id": message.tool_call_id,
            "response": message.text,
        }
        return {"role": message.role.value, "parts": [part]}
    parts = [*_text_parts(message.text), *map(_call_part, message.tool_calls)]
    return {"role": message.role.value, "parts": parts}


def _text_parts(text: str) -> Iterable[JsonObject]:
    return ({"type": "text", "content": text},) if text else ()


def _call_part(call: ToolCall) -> JsonObject:
    return {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}


def _dump(value: Json) -> str:
    return json.dumps(value)[:MAX_ATTRIBUTE_CHARACTERS]


class Tracer:
    """Exports the spans of finished runs from a bounded queue in a thread of its own."""

    def __init__(self, settings: TraceSettings) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        self.with_content = settings.with_content
        self._share = settings.share
        self._exporter = OTLPSpanExporter(
            endpoint=f"{settings.endpoint.rstrip('/')}/v1/traces",
            headers=dict(settings.headers),
            timeout=EXPORT_TIMEOUT_SECONDS,
        )
        self._processor = BatchSpanProcessor(
            self._exporter,
            max_queue_size=MAX_QUEUED_SPANS,
            max_export_batch_size=BATCH_SPANS,
            schedule_delay_millis=EXPORT_INTERVAL_MS,
        )
        self._resource = Resource.create({"service.name": settings.service})

    def export(self, run: FinishedRun) -> None:
        """Queue the spans of a run, if it is sampled; doesn't wait."""
        if self._is_sampled(run):
            root = build_span(run, with_content=self.with_content)
            for span in self._convert(root, run, offset=time_ns() - monotonic_ns()):
                self._processor.on_end(span)

    def shut_down(self, *, timeout: float) -> None:
        """Export what is queued, for so many seconds at most."""
        # The processor itself waits half a minute for a collector that doesn't respond.
        ending = threading.Thread(target=self._processor.shutdown, name="traces", daemon=True)
        ending.start()
        ending.join(timeout)
        if ending.is_alive():
            self._exporter.shutdown()  # no more retries
            ending.join(timeout)

    def _is_sampled(self, run: FinishedRun) -> bool:
        part = (run.run_id.int >> 80) / (1 << 48)  # the first 48 bits of a UUID4 are random
        return bool(run.copilot) and (run.outcome in ERROR_OUTCOMES or part < self._share)

    def _convert(
        self,
        span: Span,
        run: FinishedRun,
        parent: "SpanContext | None" = None,
        *,
        offset: int,
    ) -> Iterator["ReadableSpan"]:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

        context = SpanContext(
            trace_id=run.run_id.int,
            span_id=randbits(64) or 1,
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
        )
        links = []
        if parent is None and run.traceparent:  # linked: a client may not choose our ids
            _, trace_id, span_id, flags = (int(one, 16) for one in run.traceparent.split("-"))
            links.append(Link(SpanContext(trace_id, span_id, True, TraceFlags(flags))))
        attributes = span.known_attributes
        if span.error:
            attributes["error.type"] = span.error
        yield ReadableSpan(
            name=span.name,
            context=context,
            parent=parent,
            resource=self._resource,
            attributes=attributes,
            links=links,
            kind=SpanKind.CLIENT if span.is_client else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR if span.error else StatusCode.UNSET),
            start_time=span.start + offset,
            end_time=max(span.start, span.end) + offset,
            instrumentation_scope=InstrumentationScope("copilot_admin"),
        )
        for child in span.children:
            yield from self._convert(child, run, context, offset=offset)


_tracers: list[Tracer] = []


def start_tracing(settings: TraceSettings) -> None:
    """Trace runs from now on, if a collector is configured.

    Raises:
        ConfigurationError: The packages for traces are not installed.
    """
    if not settings.is_enabled:
        return
    try:
        tracer = Tracer(settings)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages for traces are missing. "
            "Install them: pip install --require-hashes -r requirements/traces.txt"
        ) from error
    _tracers.append(tracer)
    LISTENERS.append(tracer.export)


def stop_tracing(*, timeout: float) -> None:
    """Export what is queued, for so many seconds at most."""
    while _tracers:
        tracer = _tracers.pop()
        LISTENERS.remove(tracer.export)
        tracer.shut_down(timeout=timeout)


def wants_content() -> bool:
    """Return whether traces hold texts of models and tools."""
    return any(tracer.with_content for tracer in _tracers)
