"""What the engine tells of its own work, besides the answer: for whoever watches the server."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns
from types import TracebackType
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAsked:
    """A model was asked, and its answer has ended, well or not.

    Attributes:
        began: When it was asked, in nanoseconds of the clock that never goes back (`monotonic_ns`).
        first: When the first piece of the answer came; None: none came.
        ended: When the last one did.
        finish: Why the model stopped, in its words; None where it did not say.
        text: What it said; empty unless the witness wants content.
        failures: Classes of the errors of all tries, in order. The last one ended the call if `failed`.
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
class ToolRan:
    """A tool or a component of the server ran; times as in `ModelAsked`.

    Attributes:
        result: What the model was told.
        failed: It gave no result, or one that says what went wrong.
    """

    call: ToolCall
    began: int
    ended: int
    result: str = ""
    failed: bool = False


Fact: TypeAlias = ModelAsked | ToolRan


@dataclass(frozen=True, slots=True)
class Witness:
    """Who is told of the engine's work; called in the event loop, after the fact.

    Attributes:
        tell: Must not raise, and must not take long.
        wants_content: Texts of the model are kept for it.
    """

    tell: Callable[[Fact], None]
    wants_content: bool = False


def _nobody(fact: Fact) -> None:
    """Hears a fact and tells nobody."""


NOBODY = Witness(_nobody)


class ModelCallNotes:
    """Notes what becomes of one call of a model, and tells it when it leaves the block.

    What comes is text nearly always, and costs a comparison.
    """

    def __init__(self, call: ModelCall, witness: Witness) -> None:
        self._call = call
        self._witness = witness
        self._began = monotonic_ns()
        self._first: int | None = None
        self._usage: Usage | None = None
        self._finish: str | None = None
        self._tool_calls: list[ToolCall] = []
        self._texts: list[str] = []
        self._failures: list[str] = []

    def take(self, delta: Delta) -> None:
        """Notes the next piece of the answer."""
        if self._first is None:
            self._first = monotonic_ns()
        if isinstance(delta, TextDelta):
            if self._witness.wants_content:
                self._texts.append(delta.text)
        elif isinstance(delta, Usage):
            self._usage = delta
        elif isinstance(delta, Finish):
            self._finish = delta.reason
        elif isinstance(delta, ToolCall):
            self._tool_calls.append(delta)

    def failed(self, error: RunError) -> None:
        """Notes a try in vain, after which the model is asked again."""
        self._failures.append(type(error).__name__)

    def __enter__(self) -> "ModelCallNotes":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        failed = isinstance(error, RunError)
        if isinstance(error, RunError):
            self.failed(error)
        self._witness.tell(
            ModelAsked(
                call=self._call,
                began=self._began,
                first=self._first,
                ended=monotonic_ns(),
                usage=self._usage,
                finish=self._finish,
                tool_calls=tuple(self._tool_calls),
                text="".join(self._texts),
                failures=tuple(self._failures),
                failed=failed,
            )
        )


class ToolNotes:
    """Notes what becomes of one call of a tool, and tells it when it leaves the block."""

    def __init__(self, call: ToolCall, witness: Witness) -> None:
        self._call = call
        self._witness = witness
        self._began = monotonic_ns()
        self._result = ""
        self._failed = True

    def ended(self, result: str, *, failed: bool) -> None:
        """Notes what the model is told."""
        self._result = result
        self._failed = failed

    def __enter__(self) -> "ToolNotes":
        return self

    def __exit__(self, *_: object) -> None:
        self._witness.tell(
            ToolRan(
                call=self._call,
                began=self._began,
                ended=monotonic_ns(),
                result=self._result,
                failed=self._failed,
            )
        )
