"""Input of the agent loop for one query, and its outputs other than events."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from copilot_admin.agent.fetching.egress import Fetch, FetchFailed
from copilot_admin.agent.values.model_call import (
    CallExtras,
    Finish,
    ModelProvider,
    ModelTarget,
    ReasoningDelta,
    RunNote,
    ToolCall,
    Usage,
)
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.agent.values.tracing import NULL_TRACER, Tracer
from protocol.events import Event
from protocol.json import JsonObject
from protocol.models import Query


@dataclass(frozen=True, slots=True)
class ToolExchange:
    """Call (arguments as JSON text) and result of a server tool, also a fact for the transcript."""

    name: str
    arguments: str
    result: str
    extras: CallExtras | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Values of earlier requests of a turn that the next request lacks.

    Source: after a function call, Workspace leaves out timezone, URLs and selected skills, mostly
    the workspace state too, and never knows the actions of the server since the question.
    """

    timezone: str | None = None
    urls: tuple[str, ...] = ()
    selected_skills: tuple[JsonObject, ...] = ()
    workspace_state: JsonObject = field(default_factory=dict)
    exchanges: tuple[ToolExchange, ...] = ()  # before the client's call
    waiting: tuple[ToolCall, ...] = ()  # in addition to the client's call
    extras: CallExtras | None = None  # of the client's call


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    memory: Memory | None = None  # of its first request; None if the conversation is not known
    # Calls of each client function in this turn; under the name "" where names are not stored.
    client_calls: Mapping[str, int] = field(default_factory=dict)
    is_retry_loop: bool = False  # the question came again without the result of the latest call
    # `extra_state` of the latest call, for clients that don't return it (generations 1 and 2).
    carried: JsonObject = field(default_factory=dict)


def refuse_fetch(url: str) -> AbstractAsyncContextManager[bytes]:
    raise FetchFailed("Links are not followed here.")


async def load_no_state() -> StoredTurn:
    return StoredTurn()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    spec: CopilotSpec
    query: Query
    provider: ModelProvider
    now: datetime
    trace_id: str  # of the conversation; ids of artifacts are derived from it
    signing_key: bytes = field(repr=False)  # of `extra_state`, which travels through the client
    older_keys: tuple[bytes, ...] = field(default=(), repr=False)  # accepted too
    # Called only when the answer depends on stored state, so that a plain question reaches the
    # provider without waiting for the database.
    load_stored_turn: Callable[[], Awaitable[StoredTurn]] = load_no_state
    fetch: Fetch = refuse_fetch
    user_id: str = ""  # the end user, if known
    user_email: str | None = None
    upstream_user: str = ""  # the end user as reported to the provider, if reported
    principal: str = ""  # the caller, by the name of their key in transcripts
    chat_id: str | None = None  # the trace id if the client sent it
    fallbacks: tuple[ModelTarget, ...] = ()
    max_answer_bytes: int = 2 * 1024 * 1024  # of UTF-8, after which it is cut with a warning
    tracer: Tracer = NULL_TRACER


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackUsed:
    """Fact for the transcript: a model failed before its first output and another one is called."""

    failed_provider: str
    failed_model: str
    error: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentCalled:
    """Fact for the transcript: a component ran."""

    name: str
    version: str
    arguments: JsonObject
    result: str
    outputs: int
    ms: int
    usage: tuple[JsonObject, ...] = ()  # one sum for each model that it called
    metrics: tuple[JsonObject, ...] = ()
    error: str = ""  # the result is incomplete


@dataclass(frozen=True, slots=True)
class CalledAfterData:
    """Fact for the transcript: the client was called to act after data was read in this turn.

    An action right after a message of a person was their wish; later the data may have caused it.
    """

    function: str


@dataclass(frozen=True, slots=True)
class DataSeen:
    """Fact for the transcript: a Data message in the model's input."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """Fact for the transcript: a file that was sent with a query, and how far it was read."""

    name: str
    kind: str  # its `data_type` from the client
    size: int | None = None  # bytes; None if it was not fetched
    pages: int | None = None  # or sheets
    pixels: tuple[int, int] | None = None  # width and height
    note: str = ""  # about the part that the model did not receive
    fault: str = ""  # the reason why it was not read at all
    # The user needs no report: an earlier turn or another part of the query has the same file.
    is_known: bool = False


Output: TypeAlias = (
    Event
    | Usage
    | RunNote
    | Finish
    | FallbackUsed
    | ReasoningDelta
    | ToolExchange
    | ComponentCalled
    | CalledAfterData
    | DataSeen
    | FileRead
)
Send: TypeAlias = Callable[[Output], None]  # receives the outputs of an answer, in order
