"""Reads the document of a copilot version: the versioned part of a copilot file's entry.

Documents were checked when they were published. What an older release published and this one no
longer knows is a clear error, never a wrong answer.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from copilot_admin.engine.values.spec import (
    CitationMode,
    ComponentUse,
    CopilotSpec,
    DataMessagePolicy,
    FixedStep,
    ProviderSpec,
    StepPlace,
    WidgetDataMode,
)
from copilot_admin.errors import ConfigurationError
from protocol.data import MISSING, DataMessage
from protocol.events import StatusLevel
from protocol.features import CustomFeature, CustomFeatureType
from protocol.json import Json

_Row = TypeVar("_Row")
_Choice = TypeVar("_Choice", bound=StrEnum)


def spec_from_document(
    slug: str, document: Mapping[str, Json], provider: ProviderSpec
) -> CopilotSpec:
    """The picture of a copilot that the engine answers from.

    Args:
        slug: Of the copilot; it never changes with a version.
        document: The versioned part of its entry in a copilot file.
        provider: Where its model is.

    Raises:
        ConfigurationError: The document holds what this release does not know.
    """
    try:
        return CopilotSpec(
            slug=slug,
            name=_text(document, "name") or slug,
            provider=provider,
            model=_text(document, "model"),
            description=_text(document, "description"),
            system_prompt=_text(document, "system_prompt"),
            models=_rows(document, "models", lambda row: (_text(row, "id"), _text(row, "name"))),
            parameters=_object(document.get("parameters")),
            widget_data=_choice(document, "widget_data", WidgetDataMode.ASK),
            features=_switched_on(_object(document.get("features"))),
            custom_features=_rows(document, "custom_features", custom_feature),
            tools=tuple(str(name) for name in _list(document.get("tools"))),
            components=_rows(document, "components", component_use),
            stream_all_text=document.get("stream_all_text") is True,
            citations=_choice(document, "citations", CitationMode.WIDGETS),
            show_steps=document.get("show_steps") is not False,
            reasoning_steps=document.get("reasoning_steps") is True,
            sees_images=document.get("images") is True,
            max_data_tokens=_count(document.get("max_data_tokens")),
            steps=_rows(document, "steps", _step),
            data=_rows(
                {"data": [row for row in _list(document.get("data")) if _is_on(row)]},
                "data",
                data_note,
            ),
            data_messages=_policy(_object(document.get("data_messages"))),
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigurationError(
            f"Copilot '{slug}' cannot be read by this release: {error}. Publish it again."
        ) from error


def custom_feature(row: Mapping[str, Json]) -> CustomFeature:
    """Reads one custom feature.

    Raises:
        ValueError: Its type is unknown.
    """
    states = _object(row.get("states"))
    default = row.get("default", False)
    key = _text(row, "key")
    return CustomFeature(
        key=key,
        label=_text(row, "label") or key,
        type=_choice(row, "type", CustomFeatureType.TOGGLE),
        default=default if isinstance(default, bool | str) else False,
        description=_text(row, "description"),
        placeholder=_text(row, "placeholder"),
        options=_rows(row, "options", lambda each: (_text(each, "label"), _text(each, "value"))),
        state_on=_text(states, "on") or "on",
        state_off=_text(states, "off") or "off",
        model=_text(row, "model"),
        provider=_text(row, "provider"),
    )


def component_use(row: Mapping[str, Json]) -> ComponentUse:
    """Reads one component that is switched on."""
    return ComponentUse(
        name=_text(row, "name"),
        version=_text(row, "version"),
        config=_object(row.get("config")),
    )


def data_note(row: Mapping[str, Json]) -> DataMessage:
    """Reads one data note."""
    return DataMessage(
        kind=_text(row, "kind") or "data",
        description=_text(row, "description"),
        data=row.get("data", MISSING),
        schema=row.get("schema", MISSING),
        instance=_text(row, "instance") or None,
    )


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _is_on(row: Json) -> bool:
    return isinstance(row, Mapping) and row.get("enabled") is not False


def _policy(switches: Mapping[str, Json]) -> DataMessagePolicy:
    names = ("widgets", "context", "results", "workspace", "options")
    return DataMessagePolicy(
        **{name: switches.get(name) is True for name in names},
        merge=switches.get("merge") is not False,
    )


def _step(row: Mapping[str, Json]) -> FixedStep:
    return FixedStep(
        at=_choice(row, "at", StepPlace.START),
        message=_text(row, "message"),
        type=_choice(row, "type", StatusLevel.INFO),
        details=_object(row.get("details")),
    )


def _text(row: Mapping[str, Json], key: str) -> str:
    value = row.get(key, "")
    return value if isinstance(value, str) else ""


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _rows(
    row: Mapping[str, Json], key: str, read: Callable[[Mapping[str, Json]], _Row]
) -> tuple[_Row, ...]:
    return tuple(read(each) for each in _list(row.get(key)) if isinstance(each, Mapping))


def _choice(row: Mapping[str, Json], key: str, default: _Choice) -> _Choice:
    return type(default)(str(row.get(key, default.value)))


def _switched_on(features: Mapping[str, Json]) -> frozenset[str]:
    return frozenset(key for key, value in features.items() if value is True)
