"""Records of which a copilot has lists: models, options, components, context data, steps."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from django.core.validators import RegexValidator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator

from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.agent.components.registry import LATEST, registry
from copilot_admin.agent.values.spec import MAX_CALL_LIMIT
from copilot_admin.copilots.config_types import (
    Line,
    StoredRecord,
    Text,
    fault,
    labelled,
    matching,
    refuse_repeated,
    unknown_fault,
    without,
)
from protocol.data import KIND
from protocol.features import FEATURE_KEYS
from protocol.json_schema import schema_fault

RESERVED_OPTION_KEYS = FEATURE_KEYS | {"streaming"}
STEP_PLACES: Mapping[str, Text] = {
    "start": _("Before the answer"),
    "fetch": _("While data is fetched, with widget names"),
    "read": _("After data has arrived"),
    "end": _("After the answer"),
}
STEP_LEVELS: Mapping[str, Text] = {"INFO": _("Information"), "WARNING": _("Warning")}
OPTION_TYPES: Mapping[str, Text] = {
    "toggle": _("Switch"),
    "select": _("Choice"),
    "text": _("Text"),
}
# Labels of the values of keys, whatever the record.
VALUE_LABELS: Mapping[str, Mapping[str, Text]] = {
    "at": STEP_PLACES,
    "type": {**STEP_LEVELS, **OPTION_TYPES},
    "function": labels(),
}
OPTION_KEY = RegexValidator(
    r"^[a-z0-9]+([-_][a-z0-9]+)*\Z",
    _("Use lower-case letters, digits and single hyphens, for example deep-research."),
)
KIND_RULE = RegexValidator(
    rf"^{KIND.pattern}\Z",
    _("Start with a letter. Use letters, digits, '.', '-' and '_', for example house-rules."),
)
_ONE_LINE = RegexValidator(r"^[^\r\n]*\Z", _("Use a single line."))
_Text100 = Annotated[str, StringConstraints(max_length=100)]
_Text200 = Annotated[str, StringConstraints(max_length=200)]
_Text300 = Annotated[str, StringConstraints(max_length=300)]
_Model = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class ModelEntry(StoredRecord):
    id: _Model = labelled(..., _("Model"))
    name: _Text100 = labelled("", _("Display name"))

    def row(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name or self.id}


class FallbackEntry(StoredRecord):
    """A model to try when those before it fail before their first token."""

    model: _Model = labelled(..., _("Model"))
    provider: _Text100 = labelled("", _("Provider"))


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
        if registry().find(self.name, self.version) is None:
            known = ", ".join(f"{one.name}@{one.version}" for one in registry().all())
            sentence = gettext("there is no component '%(pin)s'. Use one of: %(known)s.")
            pin = f"{self.name}@{self.version}"
            raise fault(sentence % {"pin": pin, "known": known}, "unknown_component")
        return self

    def row(self) -> dict[str, Any]:
        return self.model_dump(exclude=set() if self.config else {"config"})


def to_short_forms(rows: Sequence[str | Mapping[str, Any]]) -> list[str | Mapping[str, Any]]:
    """Return rows of components as a file has them, short where possible."""
    return [
        row if isinstance(row, str) or row.get("config") else f"{row['name']}@{row['version']}"
        for row in rows
    ]


def _check_schema(schema: JsonValue) -> JsonValue:
    if found := schema_fault(schema):
        raise fault(gettext("is not a valid JSON Schema: %(fault)s") % {"fault": found}, "schema")
    return schema


class DataNoteEntry(StoredRecord):
    """Context data that the model sees with every question.

    `data` may be null, which differs from absent. Data that doesn't fit its schema is accepted:
    several notes of one kind are merged before the schema applies.
    """

    kind: Annotated[str, StringConstraints(max_length=64), matching(KIND_RULE)] = "data"
    description: Annotated[str, StringConstraints(max_length=1000)] = labelled("", _("Description"))
    data: JsonValue = None
    schema_: Annotated[JsonValue, AfterValidator(_check_schema)] = Field(
        default=None, alias="schema"
    )
    instance: Annotated[str, StringConstraints(max_length=100), matching(_ONE_LINE)] = labelled(
        "", _("Instance")
    )
    enabled: bool = True

    def row(self) -> dict[str, Any]:
        data = {"data": self.data} if "data" in self.model_fields_set else {}
        given = self.model_dump(exclude_defaults=True, by_alias=True)
        order = ("kind", "description", "data", "schema", "instance", "enabled")
        row = {"kind": self.kind, **given, **data}
        return {key: row[key] for key in order if key in row}


def _function_fault(name: str) -> str:
    sentence = gettext("Workspace has no function '%(name)s'. Use one of: %(known)s.")
    return unknown_fault(name, labels(), sentence)


class CallLimitEntry(StoredRecord):
    """Calls of one Workspace function allowed per question."""

    function: Annotated[str, without(_function_fault, "unknown_function")] = labelled(
        ..., _("Function")
    )
    most: Annotated[int, Field(ge=1, le=MAX_CALL_LIMIT)] = labelled(..., _("Maximum calls"))


class StepEntry(StoredRecord):
    at: Literal["start", "fetch", "read", "end"] = labelled(..., _("When"))
    type: Literal["INFO", "WARNING"] = labelled("INFO", _("Type"))
    message: Line = labelled(..., _("Text"))
    details: dict[str, JsonValue] = labelled({}, _("Details"))

    def row(self) -> dict[str, Any]:
        return self.model_dump(exclude=set() if self.details else {"details"})


class States(StoredRecord):
    """Values of `{{ options.<key>.state }}` for a switch."""

    on: Line = labelled("on", _("Text when on"))
    off: Line = labelled("off", _("Text when off"))


class OptionEntry(StoredRecord):
    label: Line
    value: Line


class CustomFeatureEntry(StoredRecord):
    key: Annotated[str, StringConstraints(max_length=60), matching(OPTION_KEY)] = labelled(
        ..., _("Key")
    )
    label: Annotated[str, StringConstraints(min_length=1, max_length=100)] = labelled(
        ..., _("Label")
    )
    type: Literal["toggle", "select", "text"] = labelled("toggle", _("Type"))
    description: _Text300 = labelled("", _("Description"))
    options: list[OptionEntry] = labelled([], _("Choices"))
    default: JsonValue = labelled(None, _("Default value"))
    states: States | None = None
    model: _Text200 = labelled("", _("Model when on"))
    provider: _Text100 = labelled("", _("Provider of that model"))
    placeholder: _Text200 = labelled("", _("Placeholder of the empty field"))

    # Keys that only one type has.
    TYPE_OF: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("states", "model", "provider"), "toggle"),
        "options": "select",
        "placeholder": "text",
    }

    @model_validator(mode="after")
    def _check_type(self) -> Self:
        if self.key in RESERVED_OPTION_KEYS:
            sentence = gettext("the key '%(key)s' is used by Workspace. Choose another.")
            raise fault(sentence % {"key": self.key}, "reserved")
        for key in ("states", "model", "options"):
            if getattr(self, key) and self.type != self.TYPE_OF[key]:
                sentence = gettext("a %(type)s has no %(key)s. Remove the key.")
                raise fault(sentence % {"type": self.type, "key": key}, "other_type")
        if self.provider and not self.model:
            raise fault(gettext("has a provider but no model. Enter the model."), "model_missing")
        self._check_default()
        return self

    def _check_default(self) -> None:
        values = [option.value for option in self.options]
        if self.type == "select" and not values:
            raise fault(gettext("a select needs options. List at least one."), "options_missing")
        if self.default is None:
            return
        if self.type == "toggle" and not isinstance(self.default, bool):
            raise fault(gettext("the default of a toggle is true or false."), "default_type")
        if self.type == "text" and not isinstance(self.default, str):
            raise fault(gettext("the default of a text is text. Put it in quotes."), "default_type")
        if self.type == "select":
            refuse_repeated(values, what=gettext("option value"))
            sentence = gettext("the default is not an option. Use one of: %(known)s.")
            if self.default not in ("", *values):
                raise fault(sentence % {"known": ", ".join(values)}, "default_unknown")

    def row(self) -> dict[str, Any]:
        if self.type == "toggle":
            default: JsonValue = self.default is True
        else:
            default = self.default or (self.options[0].value if self.type == "select" else "")
        return {
            key: value
            for key, value in (self.model_dump() | {"default": default}).items()
            if key == "default" or (value and self.TYPE_OF.get(key, self.type) == self.type)
        }
