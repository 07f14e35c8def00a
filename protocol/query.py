"""One question to a copilot: what any generation's request body means."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from protocol.data.message import DataMessage
from protocol.generations import Generation
from protocol.json import Json, JsonObject
from protocol.messages import HumanMessage, Message, SourceData
from protocol.widgets import Widgets


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """An artifact of the chat, or (generation 1) the data of a widget, sent along.

    Attributes:
        message: Set when the client sent a Data message instead; it has no other field then.
    """

    uuid: str | None = None
    name: str = ""
    description: str = ""
    data: SourceData = field(default_factory=lambda: SourceData(()))
    metadata: JsonObject = field(default_factory=dict)
    message: DataMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A request body, read once at the door.

    Attributes:
        messages: The whole conversation, oldest first; at least one.
        generation: The dialect to answer in.
        workspace_options: Switched-on options and the values of texts and selects; an option
            that is off is absent.
        tools: The client's MCP tools as it sent them, without their secrets.
        env: The request without its messages and without secrets; what a reviewer may see.
        notes: Sentences about what was dropped or mended while reading.
    """

    messages: tuple[Message, ...]
    generation: Generation = Generation.THREE
    widgets: Widgets = field(default_factory=Widgets)
    context: tuple[ContextItem, ...] = ()
    urls: tuple[str, ...] = ()
    timezone: str | None = None
    model: str | None = None
    workspace_options: Mapping[str, bool | str] = field(default_factory=dict)
    workspace_state: JsonObject = field(default_factory=dict)
    tools: tuple[JsonObject, ...] = ()
    skills_catalog: tuple[JsonObject, ...] = ()
    selected_skills: tuple[JsonObject, ...] = ()
    env: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def question(self) -> HumanMessage | None:
        """The latest human message (or orchestrator's task), if there is one."""
        for message in reversed(self.messages):
            if isinstance(message, HumanMessage):
                return message
        return None
