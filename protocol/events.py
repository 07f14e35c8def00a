"""Everything a client can receive while a copilot answers.

The values are those of generation 3; `protocol.dialects` says them to older clients. A new event
is a class here and a place in `EVENTS`: its fields are its payload (a field's `wire` metadata is
its name there), and clients older than `understood_since` do not get it.
Source: the OpenBB copilot protocol, response events of generation 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, TypeAlias

from protocol.generations import Generation
from protocol.json import Json, JsonObject


class StatusLevel(StrEnum):
    """How a status update is shown. ERROR is never sent: clients delete history on it."""

    INFO = "INFO"
    WARNING = "WARNING"


class ArtifactType(StrEnum):
    """What an artifact is."""

    TEXT = "text"
    TABLE = "table"
    CHART = "chart"
    HTML = "html"
    SNOWFLAKE_QUERY = "snowflake_query"
    SNOWFLAKE_PYTHON = "snowflake_python"


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """The next piece of the answer's text."""

    name: ClassVar[str] = "copilotMessageChunk"
    understood_since: ClassVar[Generation] = Generation.ONE

    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A wish to the client; the stream ends with it and the client comes back with the result."""

    name: ClassVar[str] = "copilotFunctionCall"
    understood_since: ClassVar[Generation] = Generation.ONE

    function: str
    input_arguments: JsonObject
    extra_state: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusUpdate:
    """A step that the client shows beside the answer."""

    name: ClassVar[str] = "copilotStatusUpdate"
    understood_since: ClassVar[Generation] = Generation.TWO

    message: str
    level: StatusLevel = field(default=StatusLevel.INFO, metadata={"wire": "eventType"})
    group: str = "reasoning"
    details: tuple[JsonObject | str, ...] = ()
    artifacts: tuple["MessageArtifact", ...] = ()
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageArtifact:
    """A table, chart, text or HTML piece of the answer; `artifact_name` is unique in a chat."""

    name: ClassVar[str] = "copilotMessageArtifact"
    understood_since: ClassVar[Generation] = Generation.TWO

    type: ArtifactType
    uuid: str
    artifact_name: str = field(metadata={"wire": "name"})
    description: str
    content: str | Sequence[JsonObject]
    chart_params: JsonObject | None = None
    query_data_source: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One source of the answer."""

    id: str
    source_info: JsonObject
    details: tuple[JsonObject, ...] = ()
    quote_bounding_boxes: tuple[tuple[JsonObject, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class CitationCollection:
    """The sources of the answer, sent after its text."""

    name: ClassVar[str] = "copilotCitationCollection"
    understood_since: ClassVar[Generation] = Generation.TWO

    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class PromptSuggestions:
    """Questions the user may ask next; the last event of a stream."""

    name: ClassVar[str] = "copilotPromptSuggestions"
    understood_since: ClassVar[Generation] = Generation.THREE

    suggestions: tuple[str, ...]


Event: TypeAlias = (
    MessageChunk
    | FunctionCall
    | StatusUpdate
    | MessageArtifact
    | CitationCollection
    | PromptSuggestions
)
EVENTS: tuple[type[Event], ...] = (
    MessageChunk,
    FunctionCall,
    StatusUpdate,
    MessageArtifact,
    CitationCollection,
    PromptSuggestions,
)

WireEvent: TypeAlias = tuple[str, Mapping[str, Json]]  # event name, data
