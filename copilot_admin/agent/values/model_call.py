"""Requests to a model and the deltas of its answer, free of any vendor's types."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, Protocol, TypeAlias

from copilot_admin.agent.values.spec import ProviderSpec
from protocol.json import Json, JsonObject


class ModelRole(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExtras:
    """Members that a provider attached to a tool call and its message, and requires back.

    Examples are a signature of the thought behind a call, and the reasoning of a message.
    """

    model: str  # other models don't receive them
    call: JsonObject = field(default_factory=dict, hash=False, repr=False)
    message: JsonObject = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call of the model; `arguments` is its unparsed JSON text."""

    id: str
    name: str
    arguments: str
    extras: CallExtras | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelImage:
    """An image of a message; `url` contains all of it (`data:`), in PNG or JPEG."""

    name: str
    url: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMessage:
    role: ModelRole
    text: str
    tool_calls: tuple[ToolCall, ...] = ()  # of an assistant message
    tool_call_id: str = ""  # of a tool message
    images: tuple[ModelImage, ...] = ()  # of a user message
    is_data: bool = field(default=False, compare=False)  # a Data message, not text of the user


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """A tool offered to a model; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One request to a model; `user` names the end user to its provider."""

    model: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSchema, ...] = ()
    parameters: Mapping[str, Json] = field(default_factory=dict)
    user: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class PictureDelta:
    """A picture that the model made; `url` contains its data (`data:`) or its location."""

    url: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSource:
    """A page of the provider's web search, or a source that it named without a URL."""

    url: str
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class WebSources:
    """Distinct pages that an answer rests on; sent before its `Usage`."""

    sources: tuple[WebSource, ...]


def estimated_tokens(characters: int) -> int:
    return -(-characters // 4)  # the rule of thumb for English


class UsageSource(StrEnum):
    PROVIDER = "provider"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call."""

    input_tokens: int = 0  # with those that the server had cached
    cached_tokens: int = 0
    output_tokens: int = 0  # with those of the reasoning
    reasoning_tokens: int = 0
    source: UsageSource = UsageSource.PROVIDER
    model: str = ""  # that a component called; empty for the model that answers
    cost: Decimal | None = None  # US dollars that the provider reports as its charge


def estimated_usage(call: ModelCall, *, written: int) -> Usage:
    """Estimate the tokens of a call; `written` are characters of the answer."""
    return Usage(
        input_tokens=sum(estimated_tokens(len(message.text)) for message in call.messages),
        output_tokens=estimated_tokens(written),
        source=UsageSource.ESTIMATED,
    )


@dataclass(frozen=True, slots=True)
class Finish:
    """Finish reason of an answer; None if the stream ended without a reason (truncated)."""

    reason: str | None


@dataclass(frozen=True, slots=True)
class RunNote:
    """A remark for the transcript, such as a parameter that the provider rejected."""

    text: str


@dataclass(frozen=True, slots=True)
class Alive:
    """Input without a delta of its own was received, such as a fragment of a tool call."""


ALIVE = Alive()
Delta: TypeAlias = (
    TextDelta | ReasoningDelta | PictureDelta | ToolCall | WebSources | RunNote | Usage | Finish
)


class ModelProvider(Protocol):
    """A source of model answers: one class in one file of `agent/providers/`.

    `stream` raises only `copilot_admin.errors.RunError`s, closes its connection when it is closed,
    and yields exactly one `Finish`, as its last delta, and the `Usage` before it. It yields `ALIVE`
    for everything that arrives without completing a delta: silence ends in a timeout.
    """

    kind: ClassVar[str]
    label: ClassVar[str]

    def __init__(self, spec: ProviderSpec) -> None: ...

    def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]: ...

    async def models(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTarget:
    model: str
    spec: ProviderSpec
    provider: ModelProvider
