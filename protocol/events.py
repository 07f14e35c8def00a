"""Events that a client receives while a copilot answers.

The values are those of generation 3; `protocol.serializers` translates them for older clients. A
new event needs only a subclass of `Event` here.
Source: the OpenBB copilot protocol, response events of generation 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, TypeAlias

from protocol.json import Json, JsonObject
from protocol.models import Generation


class Event:
    """The base of all events.

    A subclass is a frozen dataclass. Its fields are the payload (`wire` metadata renames a field)
    and contain JSON, enums or such dataclasses, directly or in tuples. Empty fields that have a
    default are left out.
    """

    __slots__ = ()
    name: ClassVar[str]  # the event's name on the wire
    # Clients of an older generation don't receive it.
    understood_since: ClassVar[Generation] = Generation.THREE


class StatusLevel(StrEnum):
    """The level of a status update. ERROR is never sent: clients delete history on it."""

    INFO = "INFO"
    WARNING = "WARNING"


class ArtifactType(StrEnum):
    """The type of an artifact."""

    TEXT = "text"
    TABLE = "table"
    CHART = "chart"
    HTML = "html"
    SNOWFLAKE_QUERY = "snowflake_query"
    SNOWFLAKE_PYTHON = "snowflake_python"


@dataclass(frozen=True, slots=True)
class MessageChunk(Event):
    """The next piece of the answer's text."""

    name: ClassVar[str] = "copilotMessageChunk"
    understood_since: ClassVar[Generation] = Generation.ONE

    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall(Event):
    """A call of a client function; it ends the stream, and the next request has the result."""

    name: ClassVar[str] = "copilotFunctionCall"
    understood_since: ClassVar[Generation] = Generation.ONE

    function: str
    input_arguments: JsonObject
    extra_state: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusUpdate(Event):
    """A step that the client displays next to the answer."""

    name: ClassVar[str] = "copilotStatusUpdate"
    understood_since: ClassVar[Generation] = Generation.TWO

    message: str
    level: StatusLevel = field(default=StatusLevel.INFO, metadata={"wire": "eventType"})
    group: str = "reasoning"
    details: tuple[JsonObject | str, ...] = ()
    artifacts: tuple["MessageArtifact", ...] = ()
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageArtifact(Event):
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
class CitationCollection(Event):
    """The sources of the answer, sent after its text."""

    name: ClassVar[str] = "copilotCitationCollection"
    understood_since: ClassVar[Generation] = Generation.TWO

    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class PromptSuggestions(Event):
    """Questions that the user may send next; the last event of a stream."""

    name: ClassVar[str] = "copilotPromptSuggestions"

    suggestions: tuple[str, ...]


WireEvent: TypeAlias = tuple[str, Mapping[str, Json]]  # event name, data
