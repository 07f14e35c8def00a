"""Traces of model calls and tools, reported to a tracer after each has ended.

Times are nanoseconds of `time.monotonic_ns`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic_ns
from types import TracebackType
from typing import Self, TypeAlias

from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    TextDelta,
    ToolCall,
    Usage,
)
from copilot_admin.errors import RunError


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallTrace:
    """A model call that has ended.

    Attributes:
        first: Time of the first delta; None: there was none.
        finish: The model's own reason; None: it gave none.
        text: The answer; empty unless the tracer wants content.
        failures: Error classes of all attempts, in order; the last one ended the call if `failed`.
        failed: The answer broke off.
    """

    call: ModelCall
    began: int
    first: int | None
    ended: int
    usage: Usage | None = None
    finish: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    text: str = ""
    failures: tuple[str, ...] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTrace:
    """A server tool or component that has ended.

    Attributes:
        result: The text for the model.
        failed: It gave no result, or one that reports a failure.
    """

    call: ToolCall
    began: int
    ended: int
    result: str = ""
    failed: bool = False


Trace: TypeAlias = ModelCallTrace | ToolTrace


@dataclass(frozen=True, slots=True)
class Tracer:
    """Receiver of traces.

    Attributes:
        record: Called in the event loop; it must be quick and must not raise.
        wants_content: Texts of the model are kept for it.
    """

    record: Callable[[Trace], None]
    wants_content: bool = False


NULL_TRACER = Tracer(lambda trace: None)


class ModelCallSpan:
    """Context manager that records one model call when it is left."""

    def __init__(self, call: ModelCall, tracer: Tracer) -> None:
        self._call = call
        self._tracer = tracer
        self._began = monotonic_ns()
        self._first: int | None = None
        self._usage: Usage | None = None
        self._finish: str | None = None
        self._tool_calls: list[ToolCall] = []
        self._texts: list[str] = []
        self._failures: list[str] = []

    def add(self, delta: Delta) -> None:
        """Take the next delta; nearly all are text, which costs one comparison."""
        if self._first is None:
            self._first = monotonic_ns()
        if isinstance(delta, TextDelta):
            if self._tracer.wants_content:
                self._texts.append(delta.text)
        elif isinstance(delta, Usage):
            self._usage = delta
        elif isinstance(delta, Finish):
            self._finish = delta.reason
        elif isinstance(delta, ToolCall):
            self._tool_calls.append(delta)

    def add_failure(self, error: RunError) -> None:
        """Take the error of an attempt that is retried."""
        self._failures.append(type(error).__name__)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, RunError):
            self.add_failure(error)
        self._tracer.record(
            ModelCallTrace(
                call=self._call,
                began=self._began,
                first=self._first,
                ended=monotonic_ns(),
                usage=self._usage,
                finish=self._finish,
                tool_calls=tuple(self._tool_calls),
                text="".join(self._texts),
                failures=tuple(self._failures),
                failed=isinstance(error, RunError),
            )
        )


@dataclass(slots=True)
class ToolSpan:
    """Outcome of a tool; failed until it is given a result."""

    result: str = ""
    failed: bool = True


@contextmanager
def trace_tool(call: ToolCall, tracer: Tracer) -> Iterator[ToolSpan]:
    """Record one tool call when the block is left."""
    span, began = ToolSpan(), monotonic_ns()
    try:
        yield span
    finally:
        tracer.record(
            ToolTrace(
                call=call,
                began=began,
                ended=monotonic_ns(),
                result=span.result,
                failed=span.failed,
            )
        )
