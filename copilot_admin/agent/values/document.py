"""Reads the document of a copilot version: the versioned part of its entry in a copilot file.

Documents are checked when they are published. A value of the wrong type counts as absent; a choice
that this release doesn't know is an error.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from copilot_admin.agent.values.spec import (
    CALL_LIMITS,
    MAX_CLIENT_CALLS,
    CallLimit,
    CitationMode,
    ComponentUse,
    CopilotSpec,
    DataMessagePolicy,
    Fallback,
    FixedStep,
    ProviderSpec,
    StepPlace,
    WidgetDataMode,
)
from copilot_admin.errors import ConfigurationError
from protocol.data import MISSING, DataMessage
from protocol.events import StatusLevel
from protocol.features import DEFAULT_FEATURES, CustomFeature, CustomFeatureType
from protocol.json import Json, JsonObject, list_of, object_of, objects_of, text_of, whole_number_of

_Choice = TypeVar("_Choice", bound=StrEnum)
_Row = Mapping[str, Json]


def spec_from_document(slug: str, document: _Row, provider: ProviderSpec) -> CopilotSpec:
    """Return the spec of a copilot version.

    Raises:
        ConfigurationError: The document holds something that this release doesn't know.
    """
    try:
        return _read_spec(slug, document, provider)
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigurationError(
            f"Copilot '{slug}' cannot be read by this release: another one made it, with something "
            "that this one does not know. Publish it again."
        ) from error


def custom_feature(row: _Row) -> CustomFeature:
    """Read one custom feature.

    Raises:
        ValueError: Its type is unknown.
    """
    states = object_of(row.get("states"))
    default = row.get("default")
    return CustomFeature(
        key=text_of(row.get("key")),
        label=text_of(row.get("label")) or text_of(row.get("key")),
        type=_choice(row, "type", CustomFeatureType.TOGGLE),
        default=default if isinstance(default, bool | str) else False,
        description=text_of(row.get("description")),
        placeholder=text_of(row.get("placeholder")),
        options=_pairs(row.get("options"), "label", "value"),
        state_on=text_of(states.get("on")) or "on",
        state_off=text_of(states.get("off")) or "off",
        model=text_of(row.get("model")),
        provider=text_of(row.get("provider")),
    )


def data_note(row: _Row) -> DataMessage:
    """Read one data note."""
    return DataMessage(
        kind=text_of(row.get("kind")) or "data",
        description=text_of(row.get("description")),
        data=row.get("data", MISSING),
        schema=row.get("schema", MISSING),
        instance=text_of(row.get("instance")) or None,
    )


def _read_spec(slug: str, document: _Row, provider: ProviderSpec) -> CopilotSpec:
    read = document.get
    max_client_calls = whole_number_of(read("max_client_calls"))
    features = DEFAULT_FEATURES
    if "features" in document:
        switches = object_of(read("features")).items()
        features = frozenset(key for key, is_on in switches if is_on is True)
    notes = (row for row in objects_of(read("data")) if row.get("enabled") is not False)
    return CopilotSpec(
        slug=slug,
        name=text_of(read("name")) or slug,
        provider=provider,
        model=text_of(read("model")),
        description=text_of(read("description")),
        system_prompt=text_of(read("system_prompt")),
        models=_pairs(read("models"), "id", "name"),
        fallbacks=tuple(map(_fallback, objects_of(read("fallbacks")))),
        parameters=object_of(read("parameters")),
        widget_data=_choice(document, "widget_data", WidgetDataMode.ASK),
        features=features,
        custom_features=tuple(map(custom_feature, objects_of(read("custom_features")))),
        tools=_texts(read("tools")),
        html_sources=_texts(read("html_sources")),
        components=tuple(map(_component_use, objects_of(read("components")))),
        stream_all_text=_flag(document, "stream_all_text"),
        citations=_choice(document, "citations", CitationMode.WIDGETS),
        show_steps=_flag(document, "show_steps", default=True),
        reasoning_steps=_flag(document, "reasoning_steps"),
        sees_images=_flag(document, "images"),
        read_links=_flag(document, "read_links", default=True),
        max_data_tokens=whole_number_of(read("max_data_tokens")),
        max_client_calls=MAX_CLIENT_CALLS if max_client_calls is None else max_client_calls,
        client_call_limits=_call_limits(read("client_call_limits")),
        steps=tuple(map(_fixed_step, objects_of(read("steps")))),
        data=tuple(map(data_note, notes)),
        data_messages=_data_message_policy(object_of(read("data_messages"))),
    )


def _fallback(row: _Row) -> Fallback:
    return Fallback(model=text_of(row.get("model")), provider=text_of(row.get("provider")))


def _component_use(row: _Row) -> ComponentUse:
    return ComponentUse(
        name=text_of(row.get("name")),
        version=text_of(row.get("version")),
        config=object_of(row.get("config")),
    )


def _call_limits(value: Json) -> tuple[CallLimit, ...]:
    if not isinstance(value, list | tuple):
        return CALL_LIMITS
    return tuple(
        CallLimit(function=text_of(row.get("function")), most=whole_number_of(row.get("most")) or 0)
        for row in objects_of(value)
    )


def _fixed_step(row: _Row) -> FixedStep:
    return FixedStep(
        at=_choice(row, "at", StepPlace.START),
        message=text_of(row.get("message")),
        type=_choice(row, "type", StatusLevel.INFO),
        details=object_of(row.get("details")),
    )


def _data_message_policy(row: JsonObject) -> DataMessagePolicy:
    return DataMessagePolicy(
        widgets=_flag(row, "widgets"),
        context=_flag(row, "context"),
        results=_flag(row, "results"),
        workspace=_flag(row, "workspace"),
        options=_flag(row, "options"),
        merge=_flag(row, "merge", default=True),
    )


def _flag(row: _Row, key: str, *, default: bool = False) -> bool:
    value = row.get(key)
    return value if isinstance(value, bool) else default


def _choice(row: _Row, key: str, default: _Choice) -> _Choice:
    return type(default)(str(row[key])) if key in row else default


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(map(str, list_of(value)))


def _pairs(value: Json, first: str, second: str) -> tuple[tuple[str, str], ...]:
    rows = objects_of(value)
    return tuple((text_of(row.get(first)), text_of(row.get(second))) for row in rows)
