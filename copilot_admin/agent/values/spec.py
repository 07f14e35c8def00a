"""One version of a copilot, in the form for the agent."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeAlias

from copilot_admin.errors import ConfigurationError
from protocol.data import DataMessage
from protocol.events import StatusLevel
from protocol.features import DEFAULT_FEATURES, CustomFeature, CustomFeatureType
from protocol.functions import GET_WIDGET_DATA
from protocol.json import Json, JsonObject

MIN_DATA_TOKENS = 100  # fewer don't fit any useful row
MAX_CLIENT_CALLS = 16
MAX_CALL_LIMIT = 100  # a question with more is a loop


class WidgetDataMode(StrEnum):
    """Moment at which a copilot fetches widget data from the client."""

    FETCH = "fetch"  # selected widgets before the model is called, the others through a tool
    ASK = "ask"  # all through a tool, as the model decides
    OFF = "off"  # never


class CitationMode(StrEnum):
    OFF = "off"
    WIDGETS = "widgets"
    DOCUMENTS = "documents"  # widgets, and the boxes of quotes in documents


class ToolCalling(StrEnum):
    """Form in which tools are offered to a provider's models."""

    NATIVE = "native"
    TEXT = "text"  # by a convention in plain text, for models without tool calling


class StepPlace(StrEnum):
    """Place of a fixed step in the stream of a question."""

    START = "start"  # before everything else
    FETCH = "fetch"  # before each call that requests data from the client
    READ = "read"  # before the text of an answer that uses the data
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedStep:
    at: StepPlace
    message: str
    type: StatusLevel = StatusLevel.INFO
    details: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Timeouts of a provider in seconds."""

    connect: float = 5.0
    first_token: float = 60.0
    between_tokens: float = 60.0
    total: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOptions:
    """Settings that only some providers and networks need."""

    api_version: str = ""  # Azure, as far as client_id
    deployment: str = ""  # empty if it is named like the model
    uses_entra_id: bool = False  # instead of a key
    tenant_id: str = ""  # of the client credentials
    client_id: str = ""  # the client whose secret is the key, or a managed identity
    organization: str = ""  # OpenAI: to bill
    project: str = ""  # OpenAI; Vertex: the Google Cloud project
    region: str = ""  # Bedrock: the AWS region; Vertex: the location
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # values are secrets
    proxy: str = ""  # URL; empty for that of the environment
    ca_bundle: str = ""  # path of certificates to trust instead of the system's
    client_certificate: str = ""  # path, for mutual TLS
    client_key: str = ""  # path; empty if the key is in the same file
    streams: bool = True  # otherwise the response is one JSON document
    merges_messages: bool = False  # adjacent messages of one role become one
    has_system_role: bool = True  # otherwise the system text opens the first user message


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSpec:
    name: str
    kind: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    timeouts: Timeouts = Timeouts()
    tool_calling: ToolCalling = ToolCalling.NATIVE
    options: ProviderOptions = ProviderOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataMessagePolicy:
    """Parts of a request that become Data messages."""

    widgets: bool = False
    context: bool = False
    results: bool = False
    workspace: bool = False
    options: bool = False
    merge: bool = True  # messages of one kind become one


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentUse:
    """A component that a copilot offers to its model, by name and pinned version."""

    name: str
    version: str
    config: JsonObject = field(default_factory=dict)

    @property
    def pin(self) -> str:
        """Short form for people: "calculator@v1"."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimit:
    """Maximum number of calls of one client function in a turn."""

    function: str
    most: int


# Users don't wait for a fifth round of data. A dashboard needs six notes, a tool six steps.
CALL_LIMITS = (CallLimit(function=GET_WIDGET_DATA, most=4),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """A model to try after those before it failed; `provider` "" is the copilot's own."""

    model: str
    provider: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopilotSpec:
    """Settings of a copilot version for the agent; see `document`."""

    slug: str
    name: str
    provider: ProviderSpec
    model: str
    description: str = ""
    system_prompt: str = ""
    models: tuple[tuple[str, str], ...] = ()  # (id, name) of the client's model picker
    fallbacks: tuple[Fallback, ...] = ()
    parameters: Mapping[str, Json] = field(default_factory=dict)
    widget_data: WidgetDataMode = WidgetDataMode.ASK
    features: frozenset[str] = DEFAULT_FEATURES  # keys that are on
    custom_features: tuple[CustomFeature, ...] = ()
    tools: tuple[str, ...] = ()
    html_sources: tuple[str, ...] = ()  # origins from which images in HTML may be loaded
    components: tuple[ComponentUse, ...] = ()
    stream_all_text: bool = False  # results of components for the model are displayed as text too
    citations: CitationMode = CitationMode.WIDGETS
    show_steps: bool = True
    reasoning_steps: bool = False  # the model's reasoning text as steps
    sees_images: bool = False  # images are sent to the model; otherwise they are mentioned
    read_links: bool = True  # pages and files behind URLs in a question are read
    max_data_tokens: int | None = None  # of data that is sent with a question; None: as many as fit
    max_client_calls: int = MAX_CLIENT_CALLS  # for one question, of all functions together
    client_call_limits: tuple[CallLimit, ...] = CALL_LIMITS  # of single functions
    steps: tuple[FixedStep, ...] = ()
    data: tuple[DataMessage, ...] = ()  # notes that are switched on, in the order of merging
    data_messages: DataMessagePolicy = DataMessagePolicy()

    def has(self, feature: str) -> bool:
        return feature in self.features


_Row: TypeAlias = Mapping[str, Any]


def spec_from_document(slug: str, document: _Row, provider: ProviderSpec) -> CopilotSpec:
    """Return the spec of a copilot version. Documents are checked when they are published.

    Raises:
        ConfigurationError: The document contains something that this release doesn't know.
    """
    known = {field.name for field in fields(CopilotSpec)}
    values = {"name": slug, **document, "slug": slug, "provider": provider}
    try:
        values |= {key: read(document[key]) for key, read in _READERS.items() if key in document}
        values["sees_images"] = document.get("images", False)
        values.setdefault("model", "")
        return CopilotSpec(**{key: value for key, value in values.items() if key in known})
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise ConfigurationError(
            f"Copilot '{slug}' cannot be read by this release: another one made it, with something "
            "that this one does not know. Publish it again."
        ) from error


def custom_feature(row: _Row) -> CustomFeature:
    states = {f"state_{name}": text for name, text in (row.get("states") or {}).items()}
    options = tuple((one["label"], one["value"]) for one in row.get("options", ()))
    values = {key: value for key, value in row.items() if key != "states" and value is not None}
    values |= {"type": CustomFeatureType(row.get("type", "toggle")), "options": options}
    return CustomFeature(**values, **states)


def data_note(row: _Row) -> DataMessage:
    values = {key: value for key, value in row.items() if key != "enabled"}
    return DataMessage(**{"kind": "data", **values})


def _fixed_step(row: _Row) -> FixedStep:
    level = StatusLevel(row.get("type", "INFO"))
    return FixedStep(**{**row, "at": StepPlace(row["at"]), "type": level})


def _each(read: Callable[..., Any]) -> Callable[[Iterable[_Row]], tuple[Any, ...]]:
    return lambda rows: tuple(map(read, rows))


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "models": _each(lambda row: (row["id"], row["name"])),
    "fallbacks": _each(lambda row: Fallback(**row)),
    "widget_data": WidgetDataMode,
    "features": lambda switches: frozenset(key for key, is_on in switches.items() if is_on),
    "custom_features": _each(custom_feature),
    "tools": tuple,
    "html_sources": tuple,
    "components": _each(lambda row: ComponentUse(**row)),
    "citations": CitationMode,
    "client_call_limits": _each(lambda row: CallLimit(**row)),
    "steps": _each(_fixed_step),
    "data": lambda rows: tuple(data_note(row) for row in rows if row.get("enabled", True)),
    "data_messages": lambda switches: DataMessagePolicy(**switches),
}
