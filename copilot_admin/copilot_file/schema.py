"""The copilot file as types: every key, its values, its default."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    StringConstraints,
    create_model,
    field_validator,
)

from copilot_admin.copilot_file.parts import (
    ComponentEntry,
    CustomFeatureEntry,
    DataNoteEntry,
    Line,
    ModelEntry,
    StepEntry,
)
from copilot_admin.copilot_file.shape import (
    Shape,
    fault,
    refuse_repeated,
    unbuilt,
)
from copilot_admin.copilots.providers import is_own_variable
from copilot_admin.engine.fetching.addresses import check_base_url
from copilot_admin.engine.llm.parameters import RESERVED_PARAMETERS
from copilot_admin.engine.providers.registry import provider_kinds
from copilot_admin.engine.tools.registry import tool_names
from copilot_admin.engine.values.spec import LEAST_DATA_TOKENS
from copilot_admin.errors import NotReady
from protocol.features import FEATURES

FORMAT = 1
IMAGE_DATA_START = "data:image/"
LONGEST_SECONDS = 3600.0

Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"\S")]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Seconds = Annotated[float, Field(gt=0, le=LONGEST_SECONDS)]


def _free_parameter(name: str) -> str:
    if name in RESERVED_PARAMETERS:
        raise fault(f"the parameter '{name}' is set by the server. Take it out.")
    return name


ParameterName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60),
    AfterValidator(_free_parameter),
]


def _known_kind(kind: str) -> str:
    kinds = [name for name, _ in provider_kinds()]
    if kind not in kinds:
        raise fault(f"there is no kind '{kind}'. Use one of: {', '.join(kinds)}.")
    return kind


def _usable_url(url: str) -> str:
    try:
        return check_base_url(url) if url else url
    except NotReady as error:
        raise fault(error.public) from error


def _key_variable(name: str) -> str:
    if is_own_variable(name):
        raise fault(f"{name} belongs to this service. Put the key into a variable of its own.")
    return name


def _always(value: bool) -> bool:
    if not value:
        raise fault("is always true. Leave the key out.")
    return value


def _features() -> type[Shape]:
    """A record with a switch for every feature of the protocol."""
    fields: dict[str, Any] = {"streaming": (Annotated[bool, AfterValidator(_always)], True)}
    for feature in FEATURES:
        fields[_field_name(feature.key)] = (bool, Field(feature.default, alias=feature.key))
    return create_model("FeaturesEntry", __base__=Shape, **fields)


def _field_name(key: str) -> str:
    return key.replace("-", "_")


def _known_tools(tools: list[str]) -> list[str]:
    refuse_repeated(tools, what="tool")
    for name in tools:
        if name not in tool_names():
            raise fault(f"there is no tool '{name}'. Use one of: {', '.join(tool_names())}.")
    return tools


def _image(image: str) -> str:
    if image and not image.startswith(("https://", "http://", IMAGE_DATA_START)):
        raise fault("an image is an address that begins with https://, or data:image/png;base64,…")
    if len(image) > 2000 and not image.startswith(IMAGE_DATA_START):
        raise fault("an image address has 2000 characters at most.")
    return image


def _different_keys(features: list[CustomFeatureEntry]) -> list[CustomFeatureEntry]:
    refuse_repeated([feature.key for feature in features], what="key")
    return features


def _different_models(models: list[ModelEntry]) -> list[ModelEntry]:
    refuse_repeated([model.id for model in models], what="model")
    return models


def _different_components(components: list[ComponentEntry]) -> list[ComponentEntry]:
    refuse_repeated([component.name for component in components], what="component")
    return components


FeaturesEntry: Any = _features()


class TimeoutEntry(Shape):
    """How long a provider may be silent, in seconds."""

    connect: Seconds | None = None
    first_token: Seconds | None = None
    between_tokens: Seconds | None = None
    total: Seconds | None = None


class ProviderEntry(Shape):
    """A provider. Its key is never part of a file."""

    name: Name
    kind: Annotated[str, AfterValidator(_known_kind)]
    base_url: Annotated[str, StringConstraints(max_length=500), AfterValidator(_usable_url)] = ""
    api_key_env: Annotated[
        str,
        StringConstraints(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$", max_length=100),
        AfterValidator(_key_variable),
    ] = ""
    timeout_s: TimeoutEntry = TimeoutEntry()
    tool_calling: Literal["native", "text"] = "native"


class DataMessagesEntry(Shape):
    """Which contents become Data messages."""

    widgets: bool = False
    context: bool = False
    results: bool = False
    workspace: bool = False
    options: bool = False
    merge: bool = True

    def changed(self) -> dict[str, bool]:
        """The switches that differ from their defaults: what a draft stores."""
        return self.model_dump(exclude_defaults=True)


class LimitsEntry(Shape):
    """What a copilot may cost."""

    requests_per_minute: int | None = None
    concurrent: int | None = None
    tokens_per_day: int | None = None
    usd_per_month: float | None = None


def _no_limits(limits: LimitsEntry) -> LimitsEntry:
    unbuilt(limits.model_dump(exclude_none=True))
    return limits


class CopilotEntry(Shape):
    """A copilot. A key that is absent has its default."""

    slug: Slug
    name: Name
    description: str = ""
    image: Annotated[str, AfterValidator(_image)] = ""
    system_prompt: str = ""
    provider: Name
    model: Annotated[str, StringConstraints(max_length=200, pattern=r"\S")]
    models: Annotated[list[ModelEntry], AfterValidator(_different_models)] = []
    parameters: dict[ParameterName, JsonValue] = {}
    access: Literal["open", "key"] | None = None
    enabled: bool = True
    widget_data: Literal["fetch", "ask", "off"] = "ask"
    features: FeaturesEntry = FeaturesEntry()
    custom_features: Annotated[list[CustomFeatureEntry], AfterValidator(_different_keys)] = []
    tools: Annotated[list[str], AfterValidator(_known_tools)] = []
    components: Annotated[list[ComponentEntry], AfterValidator(_different_components)] = []
    citations: Literal["off", "widgets", "documents"] = "widgets"
    images: bool = False
    show_steps: bool = True
    steps: list[StepEntry] = []
    data: list[DataNoteEntry] = []
    data_messages: DataMessagesEntry = DataMessagesEntry()
    stream_all_text: bool = False
    reasoning_steps: bool = False
    max_data_tokens: Annotated[int, Field(ge=LEAST_DATA_TOKENS)] | None = None
    starters: list[Line] = []
    limits: Annotated[LimitsEntry, AfterValidator(_no_limits)] = LimitsEntry()
    logging: Literal["everything", "metadata", "nothing"] = "everything"
    retention_days: Annotated[int | None, AfterValidator(unbuilt)] = None

    def document(self) -> dict[str, Any]:
        """The versioned part, as `publishing.document_of` gives it; the image is as in the file."""
        return {
            "name": self.name,
            "description": self.description,
            "image": self.image,
            "system_prompt": self.system_prompt,
            "provider": self.provider,
            "model": self.model,
            "models": [model.row() for model in self.models],
            "parameters": self.parameters,
            "widget_data": self.widget_data,
            "features": {
                feature.key: getattr(self.features, _field_name(feature.key))
                for feature in FEATURES
            },
            "custom_features": [feature.row() for feature in self.custom_features],
            "tools": self.tools,
            "components": [component.row() for component in self.components],
            "stream_all_text": self.stream_all_text,
            "citations": self.citations,
            "images": self.images,
            "show_steps": self.show_steps,
            "reasoning_steps": self.reasoning_steps,
            "max_data_tokens": self.max_data_tokens,
            "steps": [step.row() for step in self.steps],
            "starters": self.starters,
            "data": [note.row() for note in self.data],
            "data_messages": self.data_messages.changed(),
        }


class CopilotFile(Shape):
    """A whole file."""

    format: Literal[1]
    providers: list[ProviderEntry] = []
    copilots: list[CopilotEntry] = []

    @field_validator("providers")
    @classmethod
    def _each_provider_once(cls, rows: list[ProviderEntry]) -> list[ProviderEntry]:
        refuse_repeated([row.name.lower() for row in rows], what="provider name")
        return rows

    @field_validator("copilots")
    @classmethod
    def _each_copilot_once(cls, rows: list[CopilotEntry]) -> list[CopilotEntry]:
        refuse_repeated([row.slug for row in rows], what="slug")
        refuse_repeated([row.name.lower() for row in rows], what="copilot name")
        return rows
