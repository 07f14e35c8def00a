"""The spans of a run, as plain values: what the trace of a run is made of.

Names and attributes are those of the GenAI conventions of OpenTelemetry, where they have any; ours
begin with `copilot.`.
Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias
from urllib.parse import urlsplit

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.agent.values.witness import ModelAsked, ToolRan
from copilot_admin.models import Outcome
from copilot_admin.telemetry import span_contents
from copilot_admin.telemetry.ended_run import ClientCall, EndedRun

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | None
Attributes: TypeAlias = dict[str, Value]

ERRORS = frozenset({Outcome.FAILED, Outcome.CRASHED, Outcome.INTERRUPTED, Outcome.REFUSED})
# The conventions name the protocol that is spoken, not who owns the server.
_PROVIDERS = {"openai_compatible": "openai"}
_PARAMETERS = (
    "temperature", "top_p", "max_tokens", "frequency_penalty", "presence_penalty", "seed",
)  # fmt: skip
TOOL_ERROR = "tool_error"
_SECOND = 1e9


class PlannedKind(StrEnum):
    """Where the work of a span is done."""

    INTERNAL = "internal"
    CLIENT = "client"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSpan:
    """A span; times in nanoseconds of the clock that never goes back. `error`: its type, or empty."""

    name: str
    start: int
    end: int
    kind: PlannedKind = PlannedKind.INTERNAL
    attributes: Mapping[str, Value]
    error: str = ""
    children: tuple["PlannedSpan", ...] = ()


def plan(run: EndedRun, *, with_content: bool) -> PlannedSpan:
    """The trace of a run.

    Args:
        run: That has ended.
        with_content: The operator wants words; those that may not be kept are left out all the same.
    """
    with_content = with_content and run.keeps_content
    children = (*_around(run), *_work(run, with_content=with_content))
    return PlannedSpan(
        name=f"invoke_agent {run.copilot}".strip(),
        start=run.moments.came,
        end=run.moments.ended,
        attributes=_known(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": run.copilot,
                "gen_ai.agent.version": "draft" if run.version == 0 else str(run.version or ""),
                "gen_ai.conversation.id": run.chat_id,
                **_model(run, run.model),
                **_usage(run.usage),
                "copilot.run.id": str(run.run_id),
                "copilot.trace.id": run.trace_id,
                "copilot.outcome": run.outcome.value,
                "copilot.caller": run.caller,
                "enduser.id": run.user,
                "copilot.generation": run.generation,
                "copilot.trial": run.is_trial or None,
            }
        ),
        error=run.error_code if run.outcome in ERRORS else "",
        children=tuple(sorted(children, key=lambda span: span.start)),
    )


def _around(run: EndedRun) -> Iterator[PlannedSpan]:
    """What stands around the work: admission and journal."""
    moments = run.moments
    if moments.admitted is None:
        error = run.error_code
        yield _plain("admission", moments.came, moments.ended, error=error)
        return
    yield _plain("admission", moments.came, moments.admitted)
    if moments.accepted is not None:
        yield _plain("journal accept", moments.admitted, moments.accepted)
    if moments.finishing is not None:
        yield _plain("journal finish", moments.finishing, moments.ended)


def _plain(name: str, start: int, end: int, *, error: str = "") -> PlannedSpan:
    return PlannedSpan(name=name, start=start, end=end, attributes={}, error=error)


def _work(run: EndedRun, *, with_content: bool) -> Iterator[PlannedSpan]:
    """Models, tools, and what the client is asked for; a model that a tool asked belongs to it."""
    models = [fact for fact in run.facts if isinstance(fact, ModelAsked)]
    tools = [fact for fact in run.facts if isinstance(fact, ToolRan)]
    inside = {
        id(model): tool
        for tool in tools
        for model in models
        if tool.began <= model.began and model.ended <= tool.ended
    }
    for tool in tools:
        asked = tuple(
            _model_span(run, model, with_content=with_content)
            for model in models
            if inside.get(id(model)) is tool
        )
        yield _tool_span(tool, asked, with_content=with_content)
    for model in models:
        if id(model) not in inside:
            yield _model_span(run, model, with_content=with_content)
    for call in run.client_calls:
        yield _client_span(call, run, with_content=with_content)


def _model_span(run: EndedRun, fact: ModelAsked, *, with_content: bool) -> PlannedSpan:
    first = None if fact.first is None else (fact.first - fact.began) / _SECOND
    parameters = {
        f"gen_ai.request.{name}": value
        for name in _PARAMETERS
        if isinstance(value := fact.call.parameters.get(name), int | float)
    }
    return PlannedSpan(
        name=f"chat {fact.call.model}".strip(),
        kind=PlannedKind.CLIENT,
        start=fact.began,
        end=fact.ended,
        attributes=_known(
            {
                "gen_ai.operation.name": "chat",
                **_model(run, fact.call.model),
                **_server(run.provider_address),
                "gen_ai.request.stream": True,
                **parameters,
                "gen_ai.response.finish_reasons": (fact.finish,) if fact.finish else None,
                "gen_ai.response.time_to_first_chunk": first,
                **_usage(fact.usage),
                "copilot.retries": len(fact.failures) - fact.failed or None,
                **(span_contents.of_model(fact) if with_content else {}),
            }
        ),
        error=fact.failures[-1] if fact.failed else "",
    )


def _tool_span(
    fact: ToolRan, children: tuple[PlannedSpan, ...], *, with_content: bool
) -> PlannedSpan:
    return PlannedSpan(
        name=f"execute_tool {fact.call.name}",
        start=fact.began,
        end=fact.ended,
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": fact.call.name,
            "gen_ai.tool.call.id": fact.call.id,
            "gen_ai.tool.type": "extension",  # the conventions' word for the server's side
            **(span_contents.of_tool(fact) if with_content else {}),
        },
        error=TOOL_ERROR if fact.failed else "",
        children=children,
    )


def _client_span(call: ClientCall, run: EndedRun, *, with_content: bool) -> PlannedSpan:
    """The call as far as this run knows of it: its result comes with the next one."""
    return PlannedSpan(
        name=f"execute_tool {call.function}",
        kind=PlannedKind.CLIENT,
        start=call.at,
        end=run.moments.ended,
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.function,
            "gen_ai.tool.type": "function",  # the conventions' word for the client's side
            **(span_contents.of_client_call(call) if with_content else {}),
        },
    )


def _model(run: EndedRun, model: str) -> Attributes:
    return {
        "gen_ai.provider.name": _PROVIDERS.get(run.provider_kind, run.provider_kind),
        "gen_ai.request.model": model,
        "copilot.provider": run.provider,
    }


def _server(address: str) -> Attributes:
    try:
        parts = urlsplit(address)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:  # no URL: the call has failed for that reason
        return {}
    return {"server.address": parts.hostname, "server.port": port if parts.hostname else None}


def _usage(usage: Usage | None) -> Attributes:
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens or None,
        "copilot.usage.source": usage.source.value,
    }


def _known(attributes: Attributes) -> Attributes:
    """The attributes that have a value."""
    return {name: value for name, value in attributes.items() if value is not None and value != ""}
