"""Parse the document of a copilot version: the versioned part of its entry in a copilot file."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from copilot_admin.agent.values.spec import (
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
from protocol.data import DataMessage
from protocol.events import StatusLevel
from protocol.features import CustomFeature, CustomFeatureType

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
