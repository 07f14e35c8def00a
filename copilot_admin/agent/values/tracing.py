"""Traces of model calls and tools, reported to a tracer after each has ended.

Times are nanoseconds of `time.monotonic_ns`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import TypeAlias

from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    TextDelta,
    ToolCall,
    Usage,
)
from copilot_admin.errors import RunError


@dataclass(slots=True, kw_only=True)
class ModelCallTrace:
    """A model call; complete when it is reported."""

    call: ModelCall
    began: int = field(default_factory=monotonic_ns)
    first: int | None = None  # time of the first delta
    ended: int = 0
    usage: Usage | None = None
    finish: str | None = None  # the model's own reason
    tool_calls: list[ToolCall] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # the answer
    keeps_texts: bool = False
    failures: list[str] = field(default_factory=list)  # error classes of all attempts
    failed: bool = False  # the last failure ended the call

    def add(self, delta: Delta) -> None:
        if self.first is None:
            self.first = monotonic_ns()
        match delta:
            case TextDelta(text):
                if self.keeps_texts:
                    self.texts.append(text)
            case Usage():
                self.usage = delta
            case Finish(reason):
                self.finish = reason
            case ToolCall():
                self.tool_calls.append(delta)

    def add_failure(self, error: RunError) -> None:
        self.failures.append(type(error).__name__)


@dataclass(slots=True, kw_only=True)
class ToolTrace:
    """A server tool or component; complete when it is reported."""

    call: ToolCall
    began: int = field(default_factory=monotonic_ns)
    ended: int = 0
    result: str = ""  # the text for the model
    failed: bool = False  # the result is missing, or reports a failure


Trace: TypeAlias = ModelCallTrace | ToolTrace


@dataclass(frozen=True, slots=True)
class Tracer:
    record: Callable[[Trace], None]  # in the event loop: it must be quick and must not raise
    wants_content: bool = False  # texts of the model are recorded


NULL_TRACER = Tracer(lambda trace: None)


@contextmanager
def trace_model_call(call: ModelCall, tracer: Tracer) -> Iterator[ModelCallTrace]:
    trace = ModelCallTrace(call=call, keeps_texts=tracer.wants_content)
    try:
        yield trace
    except RunError as error:
        trace.add_failure(error)
        trace.failed = True
        raise
    finally:
        trace.ended = monotonic_ns()
        tracer.record(trace)


@contextmanager
def trace_tool(call: ToolCall, tracer: Tracer) -> Iterator[ToolTrace]:
    """Record one tool call on exit of the block; it counts as failed until its result is set."""
    trace = ToolTrace(call=call, failed=True)
    try:
        yield trace
    finally:
        trace.ended = monotonic_ns()
        tracer.record(trace)
