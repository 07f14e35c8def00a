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
    """A model call; complete when it is reported.

    Attributes:
        first: Time of the first delta; None if there was no delta.
        finish: The model's own reason; None if it sent no reason.
        texts: The answer; empty unless the tracer wants content.
        failures: Error classes of all attempts, in order; the last one ended the call if `failed`.
        failed: The answer broke off.
    """

    call: ModelCall
    began: int = field(default_factory=monotonic_ns)
    first: int | None = None
    ended: int = 0
    usage: Usage | None = None
    finish: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    keeps_texts: bool = False
    failures: list[str] = field(default_factory=list)
    failed: bool = False

    def add(self, delta: Delta) -> None:
        """Record the next delta."""
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
        """Record the error of an attempt."""
        self.failures.append(type(error).__name__)


@dataclass(slots=True, kw_only=True)
class ToolTrace:
    """A server tool or component; complete when it is reported.

    Attributes:
        result: The text for the model.
        failed: The result is missing, or reports a failure.
    """

    call: ToolCall
    began: int = field(default_factory=monotonic_ns)
    ended: int = 0
    result: str = ""
    failed: bool = False


Trace: TypeAlias = ModelCallTrace | ToolTrace


@dataclass(frozen=True, slots=True)
class Tracer:
    """Receiver of traces.

    Attributes:
        record: Called in the event loop; it must be quick and must not raise.
        wants_content: Record texts of the model.
    """

    record: Callable[[Trace], None]
    wants_content: bool = False


NULL_TRACER = Tracer(lambda trace: None)


@contextmanager
def trace_model_call(call: ModelCall, tracer: Tracer) -> Iterator[ModelCallTrace]:
    """Record one model call on exit of the block."""
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
