"""Everything the engine is given to answer one query, and the facts it reports besides events."""

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
    ToolCall,
    Usage,
)
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.agent.values.witness import NOBODY, Witness
from protocol.events import Event
from protocol.json import JsonObject
from protocol.models import Query


@dataclass(frozen=True, slots=True)
class Exchange:
    """A tool that ran on the server before the client was called, and what the model was told.

    `arguments` is the JSON text that the model wrote.
    """

    name: str
    arguments: str
    result: str
    extras: CallExtras | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is not in the next request of a turn, though its answer depends on it.

    Source: Workspace leaves out timezone, urls and selected skills after a function call, mostly
    the state of the workspace too, and never knows of what the server did meanwhile.

    Attributes:
        workspace_state: The dashboard with its tabs, the page, and other agents.
        exchanges: What the server's tools gave before the call that the client carries out now.
        waiting: What the model wanted besides the call that the client carries out now.
        extras: Of the call that the client carries out now.
    """

    timezone: str | None = None
    urls: tuple[str, ...] = ()
    selected_skills: tuple[JsonObject, ...] = ()
    workspace_state: JsonObject = field(default_factory=dict)
    exchanges: tuple[Exchange, ...] = ()
    waiting: tuple[ToolCall, ...] = ()
    extras: CallExtras | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What the server remembers of the conversation that a query continues.

    Attributes:
        memory: Of the turn's first request; None when the conversation is not known.
        client_calls: How often this server already called each client function in this turn; under
            no name where none is kept.
        looped: The same question came back without the result of the call it got a moment ago.
        carried: The `extra_state` of the call whose result has just come, where the client brings
            none back; those of generations 1 and 2 do not.
    """

    memory: Memory | None = None
    client_calls: Mapping[str, int] = field(default_factory=dict)
    looped: bool = False
    carried: JsonObject = field(default_factory=dict)


def nothing_fetched(url: str) -> AbstractAsyncContextManager[bytes]:
    """The way out of a server that has none.

    Raises:
        FetchFailed: Always.
    """
    raise FetchFailed("Links are not followed here.")


async def nothing_known() -> Recollection:
    """The recollection of a server that has never seen the conversation."""
    return Recollection()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInput:
    """One query to one copilot version.

    Attributes:
        recall: Awaits what the journal knows. The engine calls it only when the answer depends
            on it, so that a plain question reaches the provider without waiting for the database.
        fetch: Gets the bytes behind a link.
        signing_key: Signs `extra_state`, which travels through the client.
        older_keys: What these signed is accepted too.
        user_id: Of the user who asks; "": nobody named him.
        user_email: His address, if it is known.
        told_user: What the provider is told of him; "": nothing.
        principal: Who asks, by the name that transcripts have for the key.
        trace_id: Names the chat; the uuids of artifacts are made with it.
        chat_id: The same if the client gave it; never one that the server made for this request.
        max_answer_bytes: UTF-8 bytes of text after which the answer is cut with a warning.
        size: Bytes of the request; what is made of a large one takes long.
        witness: Is told what the engine does on its way to the answer.
    """

    spec: CopilotSpec
    query: Query
    provider: ModelProvider
    now: datetime
    trace_id: str
    signing_key: bytes = field(repr=False)
    older_keys: tuple[bytes, ...] = field(default=(), repr=False)
    recall: Callable[[], Awaitable[Recollection]] = nothing_known
    fetch: Fetch = nothing_fetched
    user_id: str = ""
    user_email: str | None = None
    told_user: str = ""
    principal: str = ""
    chat_id: str | None = None
    fallbacks: tuple[ModelTarget, ...] = ()
    max_answer_bytes: int = 2 * 1024 * 1024
    size: int = 0
    witness: Witness = NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackUsed:
    """A model failed before its first word and another one is asked: for the transcript."""

    failed_provider: str
    failed_model: str
    error: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of the model's reasoning text: for the transcript, not for the client."""

    text: str


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool that ran on the server: for the transcript."""

    name: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentCalled:
    """A component that ran on the server: for the transcript.

    Attributes:
        name: Of the component.
        version: That ran.
        arguments: That the model filled in.
        result: What the model was told.
        outputs: How many it gave.
        ms: Milliseconds it took.
        usage: Tokens of the models it asked, one sum for each model.
        metrics: What it measured.
        error: Why it gave no whole result; empty when it did.
    """

    name: str
    version: str
    arguments: JsonObject
    result: str
    outputs: int
    ms: int
    usage: tuple[JsonObject, ...] = ()
    metrics: tuple[JsonObject, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class CalledAfterData:
    """The client was asked to change or do something after the model had read data in this turn.

    For the transcript: what a model does right after the words of a person, that person asked for;
    later it may be the data that asked. It says in which order things came, and nothing else.
    """

    function: str


@dataclass(frozen=True, slots=True)
class DataSeen:
    """A Data message that the model was shown: for the transcript."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """A file that came with a query, and how far it could be read: for the transcript.

    Attributes:
        kind: Its `data_type`, as the client says.
        size: In bytes; None where it was not fetched, or could not be.
        pages: Of a document; sheets of a workbook.
        note: What of it the model was not given, in words; of a file with a fault, what is known
            of it beyond what is told.
        fault: Why nothing of it could be read; a whole sentence.
        is_known: The user need not be told of it: it came in an earlier turn, or the same link
            stands elsewhere.
    """

    name: str
    kind: str
    size: int | None = None
    pages: int | None = None
    pixels: tuple[int, int] | None = None  # width and height
    note: str = ""
    fault: str = ""
    is_known: bool = False


Output: TypeAlias = (
    Event
    | Usage
    | Finish
    | FallbackUsed
    | Thought
    | ServerTool
    | ComponentCalled
    | CalledAfterData
    | DataSeen
    | FileRead
)
