"""Messages and outputs of components: content items, each with a type, a payload and a scope.

Source: the returned fields of AppBuilder's component contract, and the payload classes of its SDK.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
import json
from typing import Any, ClassVar
from uuid import uuid4

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationError,
    computed_field,
    create_model,
    field_serializer,
    field_validator,
)
from pydantic_core.core_schema import ValidationInfo

from protocol.json import JsonObject

_FILE = ("filename", "url")
_MEDIA = {"filename": "", "url": "", "base64": ""}


class ContractBreach(AssertionError, ValueError):
    """A component violates the contract; the text describes the valid value."""


class Message(BaseModel):
    """A value that flows between components, and its type."""

    model_config = ConfigDict(extra="allow")

    content: Any = Field(default_factory=dict)
    name: str = "msg"
    id: str = Field(default_factory=lambda: str(uuid4()))

    def __init__(self, content: Any = None, **more: Any) -> None:
        super().__init__(**({"content": content} if content is not None else {}), **more)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mtype(self) -> str:
        """Name of the content's type: "str", "list", "dict"."""
        return type(self.content).__name__


class ComponentArguments(BaseModel):
    """The base of a component's `meta`."""

    name: str = ""


class ContentType(StrEnum):
    """The type of a content item, which decides the keys of its payload."""

    TEXT = "text"
    CODE = "code"
    FILES = "files"
    URLS = "urls"
    ORAL_TEXT = "oral_text"
    REFERENCES = "references"
    IMAGE = "image"
    CHART = "chart"
    AUDIO = "audio"
    JSON = "json"
    THOUGHT = "thought"
    PLAN = "plan"
    FUNCTION_CALL = "function_call"
    BROWSER = "browser"
    PROGRESS = "progress"

    @classmethod
    def _missing_(cls, value: object) -> "ContentType | None":
        # The source spells it "tought". Its SDK sends "reasoning_content".
        return cls.THOUGHT if value in ("tought", "reasoning_content") else None


class VisibleScope(StrEnum):
    """The audience of a content item."""

    ALL = "all"
    LLM = "llm"
    USER = "user"


class OutputRole(StrEnum):
    """The speaker of an output; components that think or answer use the assistant's role."""

    TOOL = "tool"
    USER = "user"
    ASSISTANT = "assistant"


class Payload(BaseModel):
    """Base of all payloads. Keys that the contract does not name are retained."""

    model_config = ConfigDict(frozen=True, extra="allow")
    required: ClassVar[tuple[str, ...]] = ()  # keys that a component must set
    text_key: ClassVar[str] = ""  # for a payload that is plain text; empty if that isn't valid


class References(Payload):
    """One source of an answer; the five keys that clients read are always texts."""

    type: str = ""
    source: str = ""
    doc_id: str = ""
    title: str = ""
    content: str = ""
    extra: dict[str, Any] | None = Field(default_factory=dict)
    url: str | None = ""
    web_anchor: str | None = ""
    icon: str | None = None
    date: str | None = None
    id: int | str | None = None
    image: dict[str, Any] | None = None
    video: dict[str, Any] | None = None

    @field_validator("type", "source", "doc_id", "title", "content", mode="before")
    @classmethod
    def _text_for_none(cls, value: object) -> object:
        return "" if value is None else value


class Progress(Payload):
    """The progress of a component; `progress` is between 0 and 1."""

    progress: float = Field(default=0.0, allow_inf_nan=False)
    step: str = ""
    next_step_name: str = ""
    message: str = ""


def _payload_class(
    name: str, /, *, required: tuple[str, ...] = (), text_key: str = "", **keys: Any
) -> type[Payload]:
    fields: dict[str, Any] = {key: (type(value), value) for key, value in keys.items()}
    for key in {"base64", "mime_type"} & fields.keys():
        fields[key] = (str | None, keys[key])
    payload = create_model(name, __base__=Payload, **fields)
    payload.required, payload.text_key = required or tuple(filter(None, [text_key])), text_key
    return payload


_INFO = _payload_class("Text", text_key="info", info="")
PAYLOADS: Mapping[ContentType, type[Payload]] = {
    ContentType.TEXT: _INFO,
    ContentType.ORAL_TEXT: _INFO,
    ContentType.THOUGHT: _INFO,
    ContentType.CODE: _payload_class("Code", text_key="code", code=""),
    ContentType.FILES: _payload_class("Files", required=_FILE, filename="", url="", file_id=""),
    ContentType.URLS: _payload_class("Urls", text_key="url", url=""),
    ContentType.REFERENCES: References,
    ContentType.IMAGE: _payload_class("Image", required=_FILE, **_MEDIA, mime_type="jpeg"),
    ContentType.AUDIO: _payload_class("Audio", required=_FILE, **_MEDIA, mime_type=""),
    ContentType.CHART: _payload_class("Chart", required=("type", "data"), type="", data=""),
    ContentType.JSON: _payload_class("Json", text_key="data", data=""),
    ContentType.PLAN: _payload_class("Plan", goal="", thought="", detail="", tasks=[], steps=[]),
    ContentType.FUNCTION_CALL: _payload_class(
        "FunctionCall", required=("thought", "name", "arguments"), thought="", name="", arguments={}
    ),
    ContentType.BROWSER: _payload_class("Browser", required=("query",), query=""),
    ContentType.PROGRESS: Progress,
}


class Content(BaseModel):
    """One element of an output; its payload is in `text` for every type."""

    model_config = ConfigDict(frozen=True)

    name: str = ""  # distinguishes parallel streams of a component
    visible_scope: VisibleScope = VisibleScope.ALL
    raw_data: dict[str, Any] = Field(default_factory=dict)  # neither for the model nor the user
    # Tokens of a model, counted up to here; a list for several models.
    usage: dict[str, Any] | list[dict[str, Any]] = Field(default_factory=dict)
    metrics: dict[str, Any] = Field(default_factory=dict)
    type: ContentType = ContentType.TEXT
    text: SerializeAsAny[Payload] = Field(default_factory=Payload, validate_default=True)

    @field_validator("text", mode="before")
    @classmethod
    def _payload_of_the_type(cls, value: object, info: ValidationInfo) -> object:
        kind = info.data.get("type")
        if kind is None:  # the type is wrong, and reported
            return Payload()
        given = value.model_dump() if isinstance(value, Payload) else value
        try:
            return PAYLOADS[kind].model_validate(given)
        except ValidationError as error:
            raise ValueError(_first_error(error)) from error


class ComponentOutput(BaseModel):
    """One event of a component."""

    model_config = ConfigDict(frozen=True)

    role: OutputRole = OutputRole.TOOL
    content: tuple[Content, ...] = ()

    @field_serializer("content", mode="wrap")
    def _as_list(
        self, content: tuple[Content, ...], serialize: SerializerFunctionWrapHandler
    ) -> list[Any]:
        return list(serialize(content))

    def to_json(self) -> JsonObject:
        """Return the output as it is sent."""
        return self.model_dump(mode="json")


def create_output(
    type: str,
    text: str | Mapping[str, Any],
    role: str = "tool",
    name: str = "",
    visible_scope: str | None = "all",
    raw_data: Mapping[str, Any] | None = None,
    usage: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> ComponentOutput:
    """Make an output of exactly one content item of a `ContentType`.

    `text` is the payload, or plain text if the type accepts it. The `data` of `json` and `chart`
    may be a JSON value; it becomes JSON text. `name` distinguishes parallel streams. `usage` has
    prompt_tokens, completion_tokens, total_tokens and name; a list has such an object per model.

    Raises:
        ContractBreach: The type, the role or the scope is unknown, a key that the type needs is
            missing, or the type doesn't accept plain text. It is a ValueError as well.
    """
    if role not in (OutputRole.TOOL, OutputRole.ASSISTANT):
        raise ContractBreach(f"The role of an output is 'tool' or 'assistant', not {role!r}.")
    try:
        kind = ContentType(type)
    except ValueError:
        known = ", ".join(ContentType)
        raise ContractBreach(f"Unknown type {type!r}. Use one of: {known}.") from None
    values = {
        "type": kind,
        "text": _payload(kind, text),
        "name": name,
        "visible_scope": visible_scope or VisibleScope.ALL,
        "raw_data": raw_data or {},
        "usage": usage or {},
        "metrics": metrics or {},
    }
    try:
        content = Content.model_validate(values)
    except ValidationError as error:
        problem = _first_error(error)
        raise ContractBreach(f"Content of the type {kind} is wrong: {problem}.") from error
    return ComponentOutput(role=OutputRole(role), content=(content,))


def create_outputs(outputs: Iterable[ComponentOutput]) -> ComponentOutput:
    """Put several outputs of one role into one event, such as the links of a list."""
    listed = list(outputs)
    roles = {output.role for output in listed}
    if len(roles) > 1:
        raise ContractBreach("All elements of an output have one role.")
    content = tuple(content for output in listed for content in output.content)
    return ComponentOutput(role=roles.pop() if roles else OutputRole.TOOL, content=content)


def _payload(kind: ContentType, text: object) -> Mapping[str, Any]:
    payload = PAYLOADS[kind]
    if isinstance(text, str):
        if not payload.text_key:
            raise ContractBreach(
                f"The type {kind} takes no bare text. Give an object with its keys."
            )
        return {payload.text_key: text}
    if not isinstance(text, Mapping):
        raise ContractBreach(f"text must be str or dict, not {type(text).__name__}.")
    missing = ", ".join(key for key in payload.required if key not in text)
    if missing:
        keys = ", ".join(payload.required)
        raise ContractBreach(f"The type {kind} needs the keys {keys}; missing: {missing}.")
    if kind in (ContentType.JSON, ContentType.CHART) and isinstance(text["data"], dict | list):
        try:
            return {**text, "data": json.dumps(text["data"], ensure_ascii=False, allow_nan=False)}
        except (ValueError, TypeError, RecursionError) as error:
            raise ContractBreach(f"The data of a {kind} is not JSON: {error}.") from error
    return text


def _first_error(error: ValidationError) -> str:
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), message)))
