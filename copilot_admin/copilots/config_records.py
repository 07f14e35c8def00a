"""Records of which a copilot has lists: models, options, components, context data, steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator
from pydantic.fields import FieldInfo

from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.agent.components.registry import LATEST, registry
from copilot_admin.agent.values.spec import MAX_CALL_LIMIT
from copilot_admin.copilots.config_types import (
    Line,
    StoredRecord,
    fault,
    refuse_repeated,
    to_stored,
    without,
)
from protocol.features import FEATURE_KEYS
from protocol.json_schema import schema_fault

Text: TypeAlias = str | Promise
RESERVED_OPTION_KEYS = FEATURE_KEYS | {"streaming"}


STEP_PLACES: Mapping[str, Text] = {
    "start": gettext_lazy("Before the answer"),
    "fetch": gettext_lazy("While data is fetched, with widget names"),
    "read": gettext_lazy("After data has arrived"),
    "end": gettext_lazy("After the answer"),
}
STEP_LEVELS: Mapping[str, Text] = {
    "INFO": gettext_lazy("Information"),
    "WARNING": gettext_lazy("Warning"),
}
_OPTION_TYPES: Mapping[str, Text] = {
    "toggle": gettext_lazy("Switch"),
    "select": gettext_lazy("Choice"),
    "text": gettext_lazy("Text"),
}


@dataclass(frozen=True, slots=True)
class Labels:
    """Label of a key of a record, and of its values."""

    key: Text
    values: Mapping[str, Text] = field(default_factory=dict)


def labels_of(info: FieldInfo | None) -> Labels | None:
    """Return the labels of a key, if it has some."""
    metadata = info.metadata if info else ()
    return next((one for one in metadata if isinstance(one, Labels)), None)


class ModelEntry(StoredRecord):
    """A model of the client's picker."""

    id: Annotated[
        str, StringConstraints(min_length=1, max_length=200), Labels(gettext_lazy("Model"))
    ]
    name: Annotated[
        str, StringConstraints(max_length=100), Labels(gettext_lazy("Display name"))
    ] = ""

    def row(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name or self.id}


class FallbackEntry(StoredRecord):
    """A model to try when those before it fail before their first token."""

    model: Annotated[
        str, StringConstraints(min_length=1, max_length=200), Labels(gettext_lazy("Model"))
    ]
    provider: Annotated[
        str, StringConstraints(max_length=100), Labels(gettext_lazy("Provider"))
    ] = ""


class ComponentEntry(StoredRecord):
    """A built-in tool offered to the model; "calculator@v1" is the short form."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    version: Annotated[str, StringConstraints(min_length=1, max_length=40)] = LATEST
    config: dict[str, JsonValue] = {}

    @model_validator(mode="before")
    @classmethod
    def _read_short_form(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        name, _at, version = value.partition("@")
        return {"name": name, "version": version or LATEST}

    @model_validator(mode="after")
    def _check_known(self) -> Self:
        known = registry()
        if self.name not in known.names():
            sentence = _("there is no component '%(name)s'. Use one of: %(known)s.")
            raise fault(
                sentence % {"name": self.name, "known": ", ".join(known.names())},
                "unknown_component",
            )
        if known.find(self.name, self.version) is None:
            versions = ", ".join((*known.versions(self.name), LATEST))
            sentence = _("'%(name)s' has no version '%(version)s'. Use one of: %(known)s.")
            about = {"name": self.name, "version": self.version, "known": versions}
            raise fault(sentence % about, "unknown_version")
        return self

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"name": self.name, "version": self.version}
        return row | {"config": self.config} if self.config else row


def to_short_forms(rows: Sequence[str | Mapping[str, Any]]) -> list[str | Mapping[str, Any]]:
    """Return rows of components as a file has them, short where possible."""
    return [
        row if isinstance(row, str) or row.get("config") else f"{row['name']}@{row['version']}"
        for row in rows
    ]


def _check_schema(schema: JsonValue) -> JsonValue:
    if found := schema_fault(schema):
        raise fault(_("is not a valid JSON Schema: %(fault)s") % {"fault": found}, "schema")
    return schema


class DataNoteEntry(StoredRecord):
    """Context data that the model sees with every question.

    `data` may be null, which differs from absent. Data that doesn't fit its schema is accepted:
    several notes of one kind are merged before the schema applies.
    """

    kind: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")] = "data"
    description: Annotated[str, StringConstraints(max_length=1000)] = ""
    data: JsonValue = None
    schema_: Annotated[JsonValue, AfterValidator(_check_schema)] = Field(
        default=None, alias="schema"
    )
    instance: Annotated[str, StringConstraints(max_length=100, pattern=r"^[^\r\n]*$")] = ""
    enabled: bool = True

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"kind": self.kind}
        if self.description:
            row["description"] = self.description
        if "data" in self.model_fields_set:
            row["data"] = self.data
        if self.schema_ is not None:
            row["schema"] = self.schema_
        if self.instance:
            row["instance"] = self.instance
        return row if self.enabled else {**row, "enabled": False}


def _function_fault(name: str) -> str:
    if name in labels():
        return ""
    words = {"name": name, "known": ", ".join(labels())}
    return _("Workspace has no function '%(name)s'. Use one of: %(known)s.") % words


class CallLimitEntry(StoredRecord):
    """Calls of one Workspace function allowed per question."""

    function: Annotated[
        str,
        without(_function_fault, "unknown_function"),
        Labels(gettext_lazy("Function"), labels()),
    ]
    most: Annotated[int, Field(ge=1, le=MAX_CALL_LIMIT), Labels(gettext_lazy("Maximum calls"))]


class StepEntry(StoredRecord):
    """A fixed status update."""

    at: Annotated[
        Literal["start", "fetch", "read", "end"], Labels(gettext_lazy("When"), STEP_PLACES)
    ]
    type: Annotated[Literal["INFO", "WARNING"], Labels(gettext_lazy("Type"), STEP_LEVELS)] = "INFO"
    message: Annotated[Line, Labels(gettext_lazy("Text"))]
    details: Annotated[dict[str, JsonValue], Labels(gettext_lazy("Details"))] = {}

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"at": self.at, "type": self.type, "message": self.message}
        return row | {"details": self.details} if self.details else row


class States(StoredRecord):
    """Values of `{{ options.<key>.state }}` for a switch."""

    on: Annotated[Line, Labels(gettext_lazy("Text when on"))] = "on"
    off: Annotated[Line, Labels(gettext_lazy("Text when off"))] = "off"


class OptionEntry(StoredRecord):
    """A choice of a select."""

    label: Line
    value: Line


class CustomFeatureEntry(StoredRecord):
    """A custom option in the chat settings."""

    key: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$", max_length=60),
        Labels(gettext_lazy("Key")),
    ]
    label: Annotated[
        str, StringConstraints(min_length=1, max_length=100), Labels(gettext_lazy("Label"))
    ]
    type: Annotated[
        Literal["toggle", "select", "text"], Labels(gettext_lazy("Type"), _OPTION_TYPES)
    ] = "toggle"
    default: Annotated[JsonValue, Labels(gettext_lazy("Default value"))] = None
    description: Annotated[
        str, StringConstraints(max_length=300), Labels(gettext_lazy("Description"))
    ] = ""
    states: States | None = None
    model: Annotated[
        str, StringConstraints(max_length=200), Labels(gettext_lazy("Model when on"))
    ] = ""
    provider: Annotated[
        str, StringConstraints(max_length=100), Labels(gettext_lazy("Provider of that model"))
    ] = ""
    options: Annotated[list[OptionEntry], Labels(gettext_lazy("Choices"))] = []
    placeholder: Annotated[
        str,
        StringConstraints(max_length=200),
        Labels(gettext_lazy("Placeholder of the empty field")),
    ] = ""

    # Keys that only one type has, and the order in which rows are stored.
    _TYPE_OF: ClassVar[Mapping[str, str]] = {
        "states": "toggle",
        "model": "toggle",
        "provider": "toggle",
        "options": "select",
        "placeholder": "text",
    }
    _ORDER: ClassVar[tuple[str, ...]] = (
        *("key", "label", "type", "description", "options", "default"),
        *("states", "model", "provider", "placeholder"),
    )

    @model_validator(mode="after")
    def _check_type(self) -> Self:
        if self.key in RESERVED_OPTION_KEYS:
            sentence = _("the key '%(key)s' is used by Workspace. Choose another.")
            raise fault(sentence % {"key": self.key}, "reserved")
        for key in ("states", "model", "options"):
            if getattr(self, key) and self.type != self._TYPE_OF[key]:
                words = {"type": self.type, "key": key}
                raise fault(_("a %(type)s has no %(key)s. Remove the key.") % words, "other_type")
        if self.provider and not self.model:
            raise fault(_("has a provider but no model. Enter the model."), "model_missing")
        self._check_default()
        return self

    def row(self) -> dict[str, Any]:
        values = {**dict(self), "default": self._get_default()}
        return {
            key: to_stored(values[key])
            for key in self._ORDER
            if key == "default" or (values[key] and self._TYPE_OF.get(key, self.type) == self.type)
        }

    def _get_default(self) -> JsonValue:
        if self.type == "toggle":
            return self.default is True
        if self.type == "select":
            return self.default or self.options[0].value
        return self.default or ""

    def _check_default(self) -> None:
        values = [option.value for option in self.options]
        if self.type == "select" and not values:
            raise fault(_("a select needs options. List at least one."), "options_missing")
        if self.default is None:
            return
        if self.type == "toggle" and not isinstance(self.default, bool):
            raise fault(_("the default of a toggle is true or false."), "default_type")
        if self.type == "text" and not isinstance(self.default, str):
            raise fault(_("the default of a text is text. Put it in quotes."), "default_type")
        if self.type == "select":
            refuse_repeated(values, what=_("option value"))
            if self.default not in ("", *values):
                sentence = _("the default is not an option. Use one of: %(known)s.")
                raise fault(sentence % {"known": ", ".join(values)}, "default_unknown")
