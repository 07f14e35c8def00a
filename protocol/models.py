"""One query of a client as frozen values: generation, messages, widgets and context."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias
from zoneinfo import ZoneInfo

from protocol.data import MISSING, DataMessage, Missing
from protocol.json import Json, JsonObject

ORCHESTRATOR = "openbb-copilot"  # its messages are tasks, hence part of the user's turn


class Generation(IntEnum):
    """The dialect a client speaks; comparisons follow time (`ONE < THREE`)."""

    ONE = 1
    TWO = 2
    THREE = 3


@dataclass(frozen=True, slots=True)
class HumanMessage:
    """A user's message, or the task an orchestrator gave (`agent_id` is then set)."""

    text: str
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class AiMessage:
    """An earlier answer of an agent, without the client's artifact and citation markers."""

    text: str
    agent_id: str | None = None
    artifacts: tuple[str, ...] = ()  # names


@dataclass(frozen=True, slots=True)
class CallMessage:
    """A client function call that an agent made before, echoed by the client."""

    function: str
    input_arguments: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)  # e.g. copilot_function_call_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class DataItem:
    """One piece of returned data: text, JSON text or base64, and its format."""

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
    """The data that one source returned."""

    items: tuple[DataItem | FileReference, ...]
    extra_citations: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceError:
    """The client's explanation of why one source returned nothing."""

    error_type: str
    content: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The outcome of a command to the client (add a widget, ...)."""

    status: str
    message: str = ""
    data: Mapping[str, Json] = field(default_factory=dict)
    about: JsonObject = field(default_factory=dict)  # e.g. the `widget_uuid` of a new widget


SourceResult: TypeAlias = SourceData | SourceError | CommandResult


@dataclass(frozen=True, slots=True)
class ResultMessage:
    """The result of a client function call: one element per source, in the call's order."""

    function: str
    input_arguments: JsonObject = field(default_factory=dict)
    data: tuple[SourceResult, ...] = ()
    extra_state: JsonObject = field(default_factory=dict)


Message: TypeAlias = HumanMessage | AiMessage | CallMessage | ResultMessage


def is_upload(*, origin: str, id: str) -> bool:
    """Return whether a widget is a file that the user attached to a question."""
    return origin == "OpenBB Hub" and id.startswith("file-")


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetParam:
    """One parameter of a widget and the values it has on the dashboard."""

    name: str
    type: str = "string"
    description: str = ""
    current_value: "Json | Missing" = MISSING
    executed_value: "Json | Missing" = MISSING
    default_value: "Json | Missing" = MISSING
    options: tuple[Json, ...] = ()
    multi_select: bool = False
    split_on_citation: bool = False
    get_options: bool = False
    options_params: tuple[JsonObject, ...] = ()

    @property
    def value(self) -> "Json | Missing":
        """The value to fetch data with: current, else executed, else default."""
        values = (self.current_value, self.executed_value, self.default_value)
        return next((value for value in values if value is not MISSING), MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Widget:
    """A widget as any generation describes it; generation 1 knows only uuid and texts."""

    origin: str = ""
    widget_id: str = ""
    uuid: str | None = None
    name: str = ""
    description: str = ""
    params: tuple[WidgetParam, ...] = ()
    metadata: JsonObject = field(default_factory=dict)
    source: str | None = None
    category: str | None = None
    sub_category: str | None = None
    columns: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        """The id under which the model knows the widget: its uuid, else `origin/widget_id`."""
        return self.uuid or f"{self.origin}/{self.widget_id}"

    def input_args(self) -> Mapping[str, Json]:
        """Return the arguments to fetch the widget with; missing parameters are left out."""
        values = ((param.name, param.value) for param in self.params)
        return {name: value for name, value in values if not isinstance(value, Missing)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Widgets:
    """The offered widgets: selected (primary), on the dashboard (secondary), all others (extra)."""

    primary: tuple[Widget, ...] = ()
    secondary: tuple[Widget, ...] = ()
    extra: tuple[Widget, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.primary or self.secondary or self.extra)

    def all(self) -> tuple[Widget, ...]:
        """Return every offered widget, the selected ones first."""
        return self.primary + self.secondary + self.extra


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """An artifact of the chat, (generation 1) the data of a widget, or else a Data message."""

    uuid: str | None = None
    name: str = ""
    description: str = ""
    data: SourceData = field(default_factory=lambda: SourceData(()))
    metadata: JsonObject = field(default_factory=dict)
    message: DataMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A request body of any generation."""

    messages: tuple[Message, ...]  # at least one, oldest first
    generation: Generation = Generation.THREE
    widgets: Widgets = field(default_factory=Widgets)
    context: tuple[ContextItem, ...] = ()
    urls: tuple[str, ...] = ()
    timezone: str | None = None
    model: str | None = None
    # Switched-on options and the values of texts and selects; an option that is off is absent.
    workspace_options: Mapping[str, bool | str] = field(default_factory=dict)
    workspace_state: JsonObject = field(default_factory=dict)
    # The client's MCP tools as it sent them, without their secrets.
    tools: tuple[JsonObject, ...] = ()
    skills_catalog: tuple[JsonObject, ...] = ()
    selected_skills: tuple[JsonObject, ...] = ()
    # The request without its messages and without secrets; what a reviewer may see.
    env: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # sentences about what was dropped or changed while reading

    @property
    def question(self) -> HumanMessage | None:
        """The latest human message (or orchestrator's task), if there is one."""
        human = (one for one in reversed(self.messages) if isinstance(one, HumanMessage))
        return next(human, None)


def find_time_zone(name: str) -> ZoneInfo | None:
    """Return the time zone of this name, or None."""
    try:
        return ZoneInfo(name) if len(name) <= 64 else None  # the longest known name has 32
    except (KeyError, OSError, ValueError):  # unknown, or not a possible name at all
        return None
