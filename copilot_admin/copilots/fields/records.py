"""The records of which a draft has lists: controls, steps, models, components, data notes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, assert_never

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator

from copilot_admin.copilots.fields.shape import Record, Shape, fault, refuse_repeated
from copilot_admin.engine.components.registry import LATEST, registry
from protocol.features import FEATURE_KEYS
from protocol.json_schema import schema_fault

Line = Annotated[str, StringConstraints(min_length=1, max_length=500)]
FeatureKey = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$", max_length=60)
]
TAKEN_KEYS = FEATURE_KEYS | {"streaming"}


class ModelEntry(Record):
    """A model of the client's picker."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    name: Annotated[str, StringConstraints(max_length=100)] = ""

    def row(self) -> dict[str, Any]:
        """The row that a draft stores: a name is never empty."""
        return {"id": self.id, "name": self.name or self.id}


class States(Shape):
    """What `{{ options.<key>.state }}` says for a toggle."""

    on: Line = "on"
    off: Line = "off"


class OptionEntry(Shape):
    """A choice of a select."""

    label: Line
    value: Line


class CustomFeatureEntry(Record):
    """A control of the builder's own."""

    key: FeatureKey
    label: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    type: Literal["toggle", "select", "text"] = "toggle"
    default: JsonValue = None
    description: Annotated[str, StringConstraints(max_length=300)] = ""
    states: States | None = None
    model: Annotated[str, StringConstraints(max_length=200)] = ""
    provider: Annotated[str, StringConstraints(max_length=100)] = ""
    options: list[OptionEntry] = []
    placeholder: Annotated[str, StringConstraints(max_length=200)] = ""

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        if self.key in TAKEN_KEYS:
            raise fault(f"the key '{self.key}' belongs to Workspace. Choose another.")
        if self.states and self.type != "toggle":
            raise fault(f"a {self.type} has no states. Leave them out.")
        if self.model and self.type != "toggle":
            raise fault(f"a {self.type} has no model. Leave it out, or make it a toggle.")
        if self.provider and not self.model:
            raise fault("has a provider but no model. Name the model that answers.")
        if self.options and self.type != "select":
            raise fault(f"a {self.type} has no options. Leave them out.")
        self._check_default()
        return self

    def row(self) -> dict[str, Any]:
        """The row that a draft stores: only what the type has."""
        row: dict[str, Any] = {"key": self.key, "label": self.label, "type": self.type}
        if self.description:
            row["description"] = self.description
        match self.type:
            case "toggle":
                row["default"] = self.default is True
                if self.states:
                    row["states"] = self.states.model_dump()
                if self.model:
                    row["model"] = self.model
                if self.provider:
                    row["provider"] = self.provider
            case "select":
                row["options"] = [option.model_dump() for option in self.options]
                row["default"] = self.default or self.options[0].value
            case "text":
                row["default"] = self.default or ""
                if self.placeholder:
                    row["placeholder"] = self.placeholder
            case _:
                assert_never(self.type)
        return row

    def _check_default(self) -> None:
        if self.default is None:
            if self.type == "select" and not self.options:
                raise fault("a select needs options. List at least one.")
            return
        match self.type:
            case "toggle" if not isinstance(self.default, bool):
                raise fault("the default of a toggle is true or false.")
            case "text" if not isinstance(self.default, str):
                raise fault("the default of a text is text. Put it in quotes.")
            case "select":
                self._check_options()
            case _:
                pass

    def _check_options(self) -> None:
        values = [option.value for option in self.options]
        if not values:
            raise fault("a select needs options. List at least one.")
        refuse_repeated(values, what="option value")
        if self.default not in ("", *values):
            raise fault(f"the default is no option. Use one of: {', '.join(values)}.")


def _usable_schema(schema: JsonValue) -> JsonValue:
    found = schema_fault(schema)
    if found:
        raise fault(f"is no JSON Schema: {found}")
    return schema


class ComponentEntry(Record):
    """A component that the model is offered; "calculator@v1" says the same in short."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    version: Annotated[str, StringConstraints(min_length=1, max_length=40)] = LATEST
    config: dict[str, JsonValue] = {}

    @model_validator(mode="before")
    @classmethod
    def _in_short(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        name, _, version = value.partition("@")
        return {"name": name, "version": version or LATEST}

    @model_validator(mode="after")
    def _is_known(self) -> Self:
        known = registry()
        if self.name not in known.names():
            names = ", ".join(known.names())
            raise fault(f"there is no component '{self.name}'. Use one of: {names}.")
        if known.find(self.name, self.version) is None:
            versions = ", ".join((*known.versions(self.name), LATEST))
            raise fault(f"'{self.name}' has no version '{self.version}'. Use one of: {versions}.")
        return self

    def row(self) -> dict[str, Any]:
        """The row that a draft stores."""
        row: dict[str, Any] = {"name": self.name, "version": self.version}
        return row | {"config": self.config} if self.config else row


def short_forms(rows: Sequence[Mapping[str, Any]]) -> list[str | Mapping[str, Any]]:
    """Stored rows of components as a file has them: in short where that says it all."""
    return [row if row.get("config") else f"{row['name']}@{row['version']}" for row in rows]


class DataNoteEntry(Record):
    """A note of data that the model always sees.

    `data` may be null, which is not the same as absent. Data that does not fit its schema is no
    fault: a schema says what may be there, and several notes of one kind are merged.
    """

    kind: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")] = "data"
    description: Annotated[str, StringConstraints(max_length=1000)] = ""
    data: JsonValue = None
    schema_: Annotated[JsonValue, AfterValidator(_usable_schema)] = Field(
        default=None, alias="schema"
    )
    instance: Annotated[str, StringConstraints(max_length=100, pattern=r"^[^\r\n]*$")] = ""
    enabled: bool = True

    def row(self) -> dict[str, Any]:
        """The row that a draft stores: data and schema only where they are given."""
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


class StepEntry(Record):
    """A fixed status update."""

    at: Literal["start", "end"]
    type: Literal["INFO", "WARNING"] = "INFO"
    message: Line
    details: dict[str, JsonValue] = Field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The row that a draft stores."""
        row: dict[str, Any] = {"at": self.at, "type": self.type, "message": self.message}
        return row | {"details": self.details} if self.details else row
