"""A row of the table of what model servers do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from copilot_admin.agent.values.model_call import Delta, ReasoningDelta, TextDelta, ToolCall
from tests.agent.llm.chunks import stream

SSE = "text/event-stream"
# Sources of rows without a report: forms that were always read, and answers that must stay.
KEPT = "no report: always read"
PLAIN = "a plain answer"
Expected: TypeAlias = str | Delta


@dataclass(frozen=True)
class Row:
    """What a server sends, and what is to be made of it."""

    name: str  # the quirk in a few words
    source: str  # the public report or document that describes it, if any
    wire: Any  # the body, as bytes or as payloads of events
    deltas: Sequence[Expected] = ()  # before usage and finish; a text stands for its delta
    finish: str | None = "stop"  # None: the answer was cut
    usage: Mapping[str, Any] | None = None  # where the provider counted
    error: str = ""  # part of the sentence, where there is no answer
    detail: str = ""  # part of what operators read
    type: str = SSE
    options: Mapping[str, Any] = field(default_factory=dict)  # what was learned of the model
    is_cut_free: bool = True  # the result is the same wherever the bytes are cut

    @property
    def body(self) -> bytes:
        return self.wire if isinstance(self.wire, bytes) else stream(*self.wire)

    @property
    def expected(self) -> list[Delta]:
        return [TextDelta(one) if isinstance(one, str) else one for one in self.deltas]


def thought(text: str) -> ReasoningDelta:
    return ReasoningDelta(text)


def call(name: str, arguments: str = "", *, id: str = "made00000", extras: Any = None) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments, extras=extras)
