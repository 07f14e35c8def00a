"""Spans of a finished run for an OpenTelemetry collector (OTLP over HTTP).

Names and attributes follow the GenAI semantic conventions; others start with `copilot.`.
Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
import json
import threading
from time import monotonic_ns, time_ns
from typing import TypeAlias
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, StatusCode, TraceFlags, Tracer
from opentelemetry.trace.propagation import set_span_in_context

from copilot_admin.agent.values.model_call import ModelRole, ToolCall, Usage
from copilot_admin.agent.values.tracing import ModelCallTrace, ToolTrace
from copilot_admin.config.observability import TraceSettings
from copilot_admin.telemetry.finished_runs import ERROR_OUTCOMES, ClientCall, FinishedRun
from protocol.json import JsonObject

Attributes: TypeAlias = Mapping[str, str | int | float | bool | tuple[str, ...] | None]

_PARAMETERS = (
    *("temperature", "top_p", "max_tokens", "frequency_penalty", "presence_penalty", "seed"),
)
_run_id: ContextVar[int] = ContextVar("run_id")


class _RunIds(RandomIdGenerator):  # type: ignore[misc]  # the package is optional, so untyped
    def generate_trace_id(self) -> int:
        return _run_id.get()


class SpanExporter:
    """Exports the spans of finished runs from a bounded queue in a thread of its own."""

    def __init__(self, settings: TraceSettings, processor: SpanProcessor | None = None) -> None:
        self.with_content = settings.with_content
        self._share = settings.share
        self._exporter = OTLPSpanExporter(
            endpoint=f"{settings.endpoint.rstrip('/')}/v1/traces",
            headers=dict(settings.headers),
            timeout=5,
        )
        # A queue of hundreds of runs, a few MB.
        self._processor = processor or BatchSpanProcessor(
            self._exporter,
            max_queue_size=4096,
            max_export_batch_size=256,
            schedule_delay_millis=2000,
        )
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=Resource.create({"service.name": settings.service}),
            shutdown_on_exit=False,
            id_generator=_RunIds(),
            span_limits=SpanLimits(max_span_attribute_length=64 * 1024),
        )
        provider.add_span_processor(self._processor)
        self._tracer = provider.get_tracer("copilot_admin")

    def export(self, run: FinishedRun) -> None:
        """Queue the spans of a run, if it is sampled; doesn't wait."""
        part = (run.run_id.int >> 80) / (1 << 48)  # the first 48 bits of a UUID4 are random
        if run.copilot and (run.outcome in ERROR_OUTCOMES or part < self._share):
            _run_id.set(run.run_id.int)
            _RunTrace(self._tracer, run, with_content=self.with_content).add_spans()

    def shut_down(self, *, timeout: float) -> None:
        """Export what is queued, for so many seconds at most."""
        # The processor itself waits half a minute for a collector that doesn't respond.
        ending = threading.Thread(target=self._processor.shutdown, name="traces", daemon=True)
        ending.start()
        ending.join(timeout)
        if ending.is_alive():
            self._exporter.shutdown()  # no more retries
            ending.join(timeout)


class _RunTrace:
    def __init__(self, tracer: Tracer, run: FinishedRun, *, with_content: bool) -> None:
        self._tracer, self._run = tracer, run
        self._with_content = with_content and run.keeps_content  # operator and copilot allow it
        self._offset = time_ns() - monotonic_ns()

    def add_spans(self) -> None:
        run, links = self._run, []
        if run.traceparent:  # linked: a client may not choose our ids
            _, trace_id, span_id, flags = (int(one, 16) for one in run.traceparent.split("-"))
            links.append(Link(SpanContext(trace_id, span_id, True, TraceFlags(flags))))
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": run.copilot,
            "gen_ai.agent.version": "draft" if run.version == 0 else str(run.version or ""),
            "gen_ai.conversation.id": run.chat_id,
            **_model_attributes(run, run.model),
            **(_usage_attributes(run.usage) if run.usage else {}),
            "copilot.run.id": str(run.run_id),
            "copilot.trace.id": run.trace_id,
            "copilot.outcome": run.outcome.value,
            "copilot.caller": run.caller,
            "enduser.id": run.user,
            "copilot.generation": run.generation,
            "copilot.trial": run.is_trial or None,
        }
        name, times = f"invoke_agent {run.copilot}", run.times
        error = run.error_code if run.outcome in ERROR_OUTCOMES else ""
        root = self._add(name, times.received, times.ended, attributes, error=error, links=links)
        self._add_phases(root)
        tools = [(t, self._add_tool(t, root)) for t in run.facts if isinstance(t, ToolTrace)]
        for call in (one for one in run.facts if isinstance(one, ModelCallTrace)):
            around = (span for t, span in tools if t.began <= call.began <= call.ended <= t.ended)
            self._add_model_call(call, next(around, root))
        for client_call in run.client_calls:
            self._add_client_call(client_call, root)

    def _add(
        self,
        name: str,
        start: int,
        end: int,
        attributes: Attributes,
        *,
        parent: Span | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        error: str = "",
        links: Sequence[Link] = (),
    ) -> Span:
        known = {key: value for key, value in attributes.items() if value not in (None, "")}
        if error:
            known["error.type"] = error
        context = Context() if parent is None else set_span_in_context(parent)
        start += self._offset
        span = self._tracer.start_span(name.strip(), context, kind, known, links, start)
        if error:
            span.set_status(StatusCode.ERROR)
        span.end(max(start, end + self._offset))
        return span

    def _add_phases(self, root: Span) -> None:
        times = self._run.times
        error = self._run.error_code if times.admitted is None else ""
        end = times.ended if times.admitted is None else times.admitted
        self._add("admission", times.received, end, {}, parent=root, error=error)
        if times.admitted is not None and times.stored is not None:
            self._add("journal accept", times.admitted, times.stored, {}, parent=root)
        if times.finishing is not None:
            self._add("journal finish", times.finishing, times.ended, {}, parent=root)

    def _add_model_call(self, fact: ModelCallTrace, parent: Span) -> None:
        server = urlsplit(self._run.provider_url)
        parameters = {
            f"gen_ai.request.{name}": value
            for name in _PARAMETERS
            if isinstance(value := fact.call.parameters.get(name), int | float)
        }
        attributes: Attributes = {
            "gen_ai.operation.name": "chat",
            **_model_attributes(self._run, fact.call.model),
            "server.address": server.hostname,
            "server.port": server.port or {"https": 443, "http": 80}.get(server.scheme),
            "gen_ai.request.stream": True,
            **parameters,
            "gen_ai.response.finish_reasons": (fact.finish,) if fact.finish else None,
            "gen_ai.response.time_to_first_chunk": fact.first and (fact.first - fact.began) / 1e9,
            **(_usage_attributes(fact.usage) if fact.usage else {}),
            "copilot.retries": len(fact.failures) - fact.failed or None,
            **(_message_attributes(fact) if self._with_content else {}),
        }
        name, times = f"chat {fact.call.model}", (fact.began, fact.ended)
        error = fact.failures[-1] if fact.failed else ""
        self._add(name, *times, attributes, parent=parent, kind=SpanKind.CLIENT, error=error)

    def _add_tool(self, fact: ToolTrace, parent: Span) -> Span:
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": fact.call.name,
            "gen_ai.tool.call.id": fact.call.id,
            "gen_ai.tool.type": "extension",  # runs on the server
            "gen_ai.tool.call.arguments": fact.call.arguments if self._with_content else "",
            "gen_ai.tool.call.result": fact.result if self._with_content else "",
        }
        name, error = f"execute_tool {fact.call.name}", "tool_error" if fact.failed else ""
        return self._add(name, fact.began, fact.ended, attributes, parent=parent, error=error)

    def _add_client_call(self, call: ClientCall, parent: Span) -> None:
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.function,
            "gen_ai.tool.type": "function",  # runs on the client
            "gen_ai.tool.call.arguments": json.dumps(call.arguments) if self._with_content else "",
        }
        # Its result comes with the next run.
        name, end = f"execute_tool {call.function}", self._run.times.ended
        self._add(name, call.at, end, attributes, parent=parent, kind=SpanKind.CLIENT)


def _model_attributes(run: FinishedRun, model: str) -> Attributes:
    kind = run.provider_kind  # the conventions name the protocol
    return {
        "gen_ai.provider.name": "openai" if kind == "openai_compatible" else kind,
        "gen_ai.request.model": model,
        "copilot.provider": run.provider,
    }


def _usage_attributes(usage: Usage) -> Attributes:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens or None,
        "copilot.usage.source": usage.source.value,
    }


def _message_attributes(fact: ModelCallTrace) -> Attributes:
    system, messages = [], []
    for message in fact.call.messages:
        parts = _parts(message.text, message.tool_calls)
        if message.role is ModelRole.SYSTEM:
            system += parts
            continue
        if message.role is ModelRole.TOOL:
            answer = {"id": message.tool_call_id, "response": message.text}
            parts = [{"type": "tool_call_response", **answer}]
        messages.append({"role": message.role.value, "parts": parts})
    parts = _parts("".join(fact.texts), fact.tool_calls)
    output = {"role": "assistant", "parts": parts, "finish_reason": fact.finish or ""}
    return {
        "gen_ai.system_instructions": json.dumps(system),
        "gen_ai.input.messages": json.dumps(messages),
        "gen_ai.output.messages": json.dumps([output]),
    }


def _parts(text: str, calls: Iterable[ToolCall]) -> list[JsonObject]:
    texts: list[JsonObject] = [{"type": "text", "content": text}] if text else []
    return texts + [
        {"type": "tool_call", "id": one.id, "name": one.name, "arguments": one.arguments}
        for one in calls
    ]
