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
    """Call (arguments as JSON text) and result of a server tool that ran before a client call."""

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
    """Stored state of the turn that a query continues.

    Attributes:
        memory: Of the turn's first request; None if the conversation is not known.
        client_calls: Number of calls of each client function in this turn; under the name "" where
            names are not stored.
        is_retry_loop: The question was repeated without the result of the call that was just sent.
        carried: `extra_state` of the call whose result was received, for clients that don't return it
            (generations 1 and 2).
    """

    memory: Memory | None = None
    client_calls: Mapping[str, int] = field(default_factory=dict)
    is_retry_loop: bool = False
    carried: JsonObject = field(default_factory=dict)


def refuse_fetch(url: str) -> AbstractAsyncContextManager[bytes]:
    raise FetchFailed("Links are not followed here.")


async def load_no_state() -> StoredTurn:
    return StoredTurn()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """One query to one copilot version.

    Attributes:
        load_stored_turn: Loads stored state. Called only when the answer depends on it, so that a
            plain question reaches the provider without waiting for the database.
        fetch: Opens the bytes behind a link.
        signing_key: Signs `extra_state`, which travels through the client.
        older_keys: Keys whose signatures are accepted too.
        user_id: The end user; "" if unknown.
        upstream_user: The end user as reported to the provider; "" if not reported.
        principal: The caller, by the name of their key in transcripts.
        trace_id: Id of the conversation; ids of artifacts are derived from it.
        chat_id: The trace id if the client sent it; None if the server made it.
        max_answer_bytes: UTF-8 bytes of text after which the answer is cut with a warning.
    """

    spec: CopilotSpec
    query: Query
    provider: ModelProvider
    now: datetime
    trace_id: str
    signing_key: bytes = field(repr=False)
    older_keys: tuple[bytes, ...] = field(default=(), repr=False)
    load_stored_turn: Callable[[], Awaitable[StoredTurn]] = load_no_state
    fetch: Fetch = refuse_fetch
    user_id: str = ""
    user_email: str | None = None
    upstream_user: str = ""
    principal: str = ""
    chat_id: str | None = None
    fallbacks: tuple[ModelTarget, ...] = ()
    max_answer_bytes: int = 2 * 1024 * 1024
    tracer: Tracer = NULL_TRACER


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackUsed:
    """Fact for the transcript: a model failed before its first output and another one is called."""

    failed_provider: str
    failed_model: str
    error: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Fact for the transcript: a piece of the model's reasoning text."""

    text: str


@dataclass(frozen=True, slots=True)
class ServerTool:
    """Fact for the transcript: a server tool ran."""

    name: str
    arguments: str
    result: str


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
    """Fact for the transcript: a file that was sent with a query, and how far it was read.

    Attributes:
        kind: Its `data_type` from the client.
        size: Bytes; None if it was not fetched.
        pages: Of a document; sheets of a workbook.
        pixels: Width and height.
        note: A text about the part that the model did not receive.
        fault: A sentence with the reason why it was not read at all.
        is_known: The user needs no report: it was sent in an earlier turn, or the same link is
            elsewhere in the query.
    """

    name: str
    kind: str
    size: int | None = None
    pages: int | None = None
    pixels: tuple[int, int] | None = None
    note: str = ""
    fault: str = ""
    is_known: bool = False


Output: TypeAlias = (
    Event
    | Usage
    | RunNote
    | Finish
    | FallbackUsed
    | Reasoning
    | ServerTool
    | ComponentCalled
    | CalledAfterData
    | DataSeen
    | FileRead
)
