"""The records of which a draft has lists: models, components, data notes, steps."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator

from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.agent.components.registry import LATEST, registry
from copilot_admin.agent.values.spec import MAX_CALL_LIMIT
from copilot_admin.copilots.fields.shape import StoredRecord, fault
from copilot_admin.copilots.fields.shown import Shown
from protocol.json_schema import schema_fault

Line = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class ModelEntry(StoredRecord):
    """A model of the client's picker."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=200), Shown(label=_("Model"))]
    name: Annotated[
        str,
        StringConstraints(max_length=100),
        Shown(label=_("Shown as"), help=_("Empty: the model's id.")),
    ] = ""

    def row(self) -> dict[str, Any]:
        """The row that a draft stores: a name is never empty."""
        return {"id": self.id, "name": self.name or self.id}


class FallbackEntry(StoredRecord):
    """A model that is tried when those before it fail before their first word."""

    model: Annotated[str, StringConstraints(min_length=1, max_length=200), Shown(label=_("Model"))]
    provider: Annotated[
        str,
        StringConstraints(max_length=100),
        Shown(label=_("Provider"), help=_("Its name. Empty: the copilot's own provider.")),
    ] = ""


def _usable_schema(schema: JsonValue) -> JsonValue:
    found = schema_fault(schema)
    if found:
        raise fault(_("is no JSON Schema: %(fault)s") % {"fault": found})
    return schema


class ComponentEntry(StoredRecord):
    """A component that the model is offered; "calculator@v1" says the same in short."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    version: Annotated[str, StringConstraints(min_length=1, max_length=40)] = LATEST
    config: dict[str, JsonValue] = {}

    @model_validator(mode="before")
    @classmethod
    def _in_short(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        name, _at, version = value.partition("@")
        return {"name": name, "version": version or LATEST}

    @model_validator(mode="after")
    def _is_known(self) -> Self:
        known = registry()
        if self.name not in known.names():
            names = ", ".join(known.names())
            sentence = _("there is no component '%(name)s'. Use one of: %(known)s.")
            raise fault(sentence % {"name": self.name, "known": names})
        if known.find(self.name, self.version) is None:
            versions = ", ".join((*known.versions(self.name), LATEST))
            sentence = _("'%(name)s' has no version '%(version)s'. Use one of: %(known)s.")
            about = {"name": self.name, "version": self.version, "known": versions}
            raise fault(sentence % about)
        return self

    def row(self) -> dict[str, Any]:
        """The row that a draft stores."""
        row: dict[str, Any] = {"name": self.name, "version": self.version}
        return row | {"config": self.config} if self.config else row


def short_forms(rows: Sequence[Mapping[str, Any]]) -> list[str | Mapping[str, Any]]:
    """Stored rows of components as a file has them: in short where that says it all."""
    return [row if row.get("config") else f"{row['name']}@{row['version']}" for row in rows]


class DataNoteEntry(StoredRecord):
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


def _known_function(name: str) -> str:
    if name not in labels():
        sentence = _("Workspace has no function '%(name)s'. Use one of: %(known)s.")
        raise fault(sentence % {"name": name, "known": ", ".join(labels())})
    return name


class CallLimitEntry(StoredRecord):
    """How often one function of Workspace may be called for a question."""

    function: Annotated[
        str,
        AfterValidator(_known_function),
        Shown(label=_("What"), options=tuple((name, _(label)) for name, label in labels().items())),
    ]
    most: Annotated[int, Field(ge=1, le=MAX_CALL_LIMIT), Shown(label=_("Most often"))]


class StepEntry(StoredRecord):
    """A fixed status update."""

    at: Annotated[
        Literal["start", "fetch", "read", "end"],
        Shown(
            label=_("When"),
            options=(
                ("start", _("Before the answer")),
                ("fetch", _("While data is fetched, with the names of the widgets")),
                ("read", _("When data has come")),
                ("end", _("After the answer")),
            ),
        ),
    ]
    type: Annotated[
        Literal["INFO", "WARNING"],
        Shown(label=_("Kind"), options=(("INFO", _("Information")), ("WARNING", _("Warning")))),
    ] = "INFO"
    message: Annotated[Line, Shown(label=_("Text"))]
    details: Annotated[
        dict[str, JsonValue],
        Shown(label=_("Details"), help=_("One per line, as “name: value”."), longest=4000, lines=2),
    ] = Field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The row that a draft stores."""
        row: dict[str, Any] = {"at": self.at, "type": self.type, "message": self.message}
        return row | {"details": self.details} if self.details else row
