"""The messages of a conversation, as every generation means them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from protocol.json import Json, JsonObject

ORCHESTRATOR = "openbb-copilot"  # an ai message of this agent is a task, hence the user's turn


@dataclass(frozen=True, slots=True)
class HumanMessage:
    """What the user wrote, or the task an orchestrator gave (`agent_id` is then set)."""

    text: str
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class AiMessage:
    """What an agent answered before; the client's artifact and citation markers are stripped.

    Attributes:
        artifacts: Names of those that stood in it.
    """

    text: str
    agent_id: str | None = None
    artifacts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallMessage:
    """A client function call that an agent made before, echoed by the client."""

    function: str
    input_arguments: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)  # e.g. copilot_function_call_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class DataItem:
    """One piece of returned data: text, JSON text or base64, and the format it has."""

    content: str
    data_format: JsonObject = field(default_factory=dict)
    citable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReference:
    """A file to fetch instead of data."""

    url: str
    data_format: JsonObject = field(default_factory=dict)
    citable: bool = True


@dataclass(frozen=True, slots=True)
class SourceData:
    """What one asked source returned."""

    items: tuple[DataItem | FileReference, ...]
    extra_citations: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceError:
    """Why one asked source returned nothing, in the client's words."""

    error_type: str
    content: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command to the client (add a widget, ...) ended.

    Attributes:
        about: What else the client says of it, such as the `widget_uuid` of a new widget.
    """

    status: str
    message: str = ""
    data: Mapping[str, Json] = field(default_factory=dict)
    about: JsonObject = field(default_factory=dict)


SourceResult: TypeAlias = SourceData | SourceError | CommandResult


@dataclass(frozen=True, slots=True)
class ResultMessage:
    """The result of a client function call: one element per asked source, in their order."""

    function: str
    input_arguments: JsonObject = field(default_factory=dict)
    data: tuple[SourceResult, ...] = ()
    extra_state: JsonObject = field(default_factory=dict)


Message: TypeAlias = HumanMessage | AiMessage | CallMessage | ResultMessage
