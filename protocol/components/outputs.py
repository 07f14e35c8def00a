"""What a component gives back: outputs of content items, each with a type and a reader.

Source: `ComponentOutput` and its returned fields in AppBuilder's component contract.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
import json
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_serializer,
    field_validator,
)
from pydantic_core.core_schema import ValidationInfo

from protocol.components.payloads import PAYLOADS, ContentType, Payload
from protocol.json import JsonObject

_JSON_TEXTS = (ContentType.JSON, ContentType.CHART)  # their `data` is JSON text on the wire


class ContractBreach(AssertionError, ValueError):
    """A component gives what the contract does not allow; the text says what would be right."""


class VisibleScope(StrEnum):
    """Who is meant to see a content item. A hint for showing it, no secrecy."""

    ALL = "all"
    LLM = "llm"
    USER = "user"


class OutputRole(StrEnum):
    """Who speaks in an output; components that think or answer speak as the assistant."""

    TOOL = "tool"
    USER = "user"
    ASSISTANT = "assistant"


class Content(BaseModel):
    """One element of an output; its payload stands in `text`, whatever its type.

    Attributes:
        name: Keeps streams apart that a component yields side by side.
        visible_scope: Who is meant to see it; empty means everybody.
        raw_data: For developers; neither model nor user is shown it.
        usage: Tokens of a model, counted up to here; a list where several models were asked.
        metrics: Times and the like.
        type: Decides the keys of the payload.
        text: The payload.
    """

    model_config = ConfigDict(frozen=True)

    name: str = ""
    visible_scope: VisibleScope = VisibleScope.ALL
    raw_data: dict[str, Any] = Field(default_factory=dict)
    usage: dict[str, Any] | list[dict[str, Any]] = Field(default_factory=dict)
    metrics: dict[str, Any] = Field(default_factory=dict)
    type: ContentType = ContentType.TEXT
    text: SerializeAsAny[Payload] = Field(default_factory=Payload, validate_default=True)

    @field_validator("visible_scope", mode="before")
    @classmethod
    def _everybody_by_default(cls, value: object) -> object:
        return value or VisibleScope.ALL

    @field_validator("raw_data", "usage", "metrics", mode="before")
    @classmethod
    def _nothing_by_default(cls, value: object) -> object:
        return {} if value is None else value

    @field_validator("text", mode="before")
    @classmethod
    def _payload_of_the_type(cls, value: object, info: ValidationInfo) -> object:
        kind = info.data.get("type")
        if kind is None:  # the fault is the type's
            return Payload()
        given = value.model_dump() if isinstance(value, Payload) else value
        try:
            return PAYLOADS[kind].model.model_validate(given)
        except ValidationError as error:
            raise ValueError(_first_fault(error)) from error


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
        """The output as it stands on the wire."""
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
    """Makes an output of exactly one content item.

    Args:
        type: One of `ContentType`.
        text: The payload, or the bare text of a type that is one. The `data` of `json` and
            `chart` may be a JSON value; it becomes JSON text.
        role: `tool` or `assistant`.
        name: Keeps this stream apart from others of the component.
        visible_scope: `all`, `llm` or `user`.
        raw_data: For developers.
        usage: Tokens of a model: prompt_tokens, completion_tokens, total_tokens, name; or a list
            of such objects, one for each model.
        metrics: Times and the like.

    Raises:
        ContractBreach: The type, the role or the scope is unknown, a key that the type needs is
            missing, or the text is not what the type takes. It is a ValueError as well.

    Examples:
        >>> create_output("text", "hi").to_json()["content"][0]["text"]
        {'info': 'hi'}
        >>> create_output("json", {"data": {"n": 1}}).to_json()["content"][0]["text"]
        {'data': '{"n": 1}'}
    """
    if role not in (OutputRole.TOOL, OutputRole.ASSISTANT):
        raise ContractBreach(f"The role of an output is 'tool' or 'assistant', not {role!r}.")
    kind = _content_type(type)
    values = {
        "type": kind,
        "text": _payload(kind, text),
        "name": name,
        "visible_scope": visible_scope,
        "raw_data": dict(raw_data or {}),
        "usage": dict(usage) if isinstance(usage, Mapping) else usage,
        "metrics": dict(metrics or {}),
    }
    try:
        content = Content.model_validate(values)
    except ValidationError as error:
        raise ContractBreach(
            f"Content of the type {kind} is wrong: {_first_fault(error)}."
        ) from error
    return ComponentOutput(role=OutputRole(role), content=(content,))


def create_outputs(outputs: Iterable[ComponentOutput]) -> ComponentOutput:
    """Puts several outputs into one event, such as the links of a list.

    Raises:
        ContractBreach: The outputs have different roles.

    Examples:
        >>> links = [create_output("urls", f"https://example.org/{n}") for n in (1, 2)]
        >>> len(create_outputs(links).content)
        2
    """
    listed = list(outputs)
    roles = list(dict.fromkeys(output.role for output in listed))
    if len(roles) > 1:
        raise ContractBreach("All elements of an output have one role.")
    content = tuple(content for output in listed for content in output.content)
    return ComponentOutput(role=roles[0] if roles else OutputRole.TOOL, content=content)


def _content_type(name: str) -> ContentType:
    try:
        return ContentType(name)
    except ValueError:
        known = ", ".join(ContentType)
        raise ContractBreach(f"Unknown type {name!r}. Use one of: {known}.") from None


def _payload(kind: ContentType, text: object) -> Mapping[str, Any]:
    rule = PAYLOADS[kind]
    if isinstance(text, str):
        if rule.wraps is None:
            raise ContractBreach(
                f"The type {kind} takes no bare text. Give an object with its keys."
            )
        return {rule.wraps: text}
    if not isinstance(text, Mapping):
        raise ContractBreach(f"text must be str or dict, not {type(text).__name__}.")
    missing = [key for key in rule.required if key not in text]
    if missing:
        keys = ", ".join(rule.required)
        raise ContractBreach(
            f"The type {kind} needs the keys {keys}; missing: {', '.join(missing)}."
        )
    if kind in _JSON_TEXTS and isinstance(text["data"], dict | list):
        return {**text, "data": _json_text(kind, text["data"])}
    return text


def _json_text(kind: ContentType, data: object) -> str:
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise ContractBreach(f"The data of a {kind} is no JSON: {error}.") from error


def _first_fault(error: ValidationError) -> str:
    first = error.errors()[0]
    said = first["msg"].removeprefix("Value error, ")
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), said)))
