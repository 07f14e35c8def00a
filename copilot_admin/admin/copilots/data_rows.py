"""The rows of a copilot's data notes: written as JSON, or as a form once there is a schema."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.rows import RowForm
from copilot_admin.copilots.data_fit import FitNotTold, fit_faults
from copilot_admin.import_export.loading import json_fault
from protocol.data import KIND, MISSING, Missing
from protocol.json import Json, clean_json
from protocol.json_layout import layout
from protocol.json_schema import schema_fault, schema_from
from protocol.strict_json import MalformedJson, loads

KIND_RULE = RegexValidator(
    rf"^{KIND.pattern}\Z",
    _("Begin with a letter, then letters, digits, '.', '-' and '_': house-rules."),
)
SCHEMA_BUTTON = "_schema_from"  # its value is the prefix of a row
MOST_CHARACTERS = 200_000  # of one note: half of what a model is given in all


class DataNoteRow(RowForm):
    """A note of data that the model always sees."""

    noun = _("data note")
    takes_turned_texts = True
    kind = forms.CharField(
        label=_("Kind"),
        max_length=64,
        validators=[KIND_RULE],
        help_text=_("What it is about. Notes of one kind become one; later ones win."),
    )
    instance = forms.CharField(
        label=_("Instance"),
        max_length=100,
        required=False,
        help_text=_("Keeps data of one kind apart. Usually empty."),
    )
    description = forms.CharField(label=_("Description"), max_length=1000, required=False)
    data = forms.CharField(  # type: ignore[assignment]  # a field, not what was sent
        label=_("Data"),
        required=False,
        max_length=MOST_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "data-ca-note": "data"}),
        help_text=_("As JSON; text stands in quotes."),
    )
    schema = forms.CharField(
        label=_("Schema"),
        required=False,
        max_length=MOST_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "data-ca-note": "schema"}),
        help_text=_("JSON Schema: says what each field means. The data then becomes a form."),
    )
    off = forms.BooleanField(label=_("Switched off"), required=False)

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        """The stored note, its data and schema as JSON text."""
        texts = {key: layout(row[key]) for key in ("data", "schema") if key in row}
        return {**row, "off": row.get("enabled") is False, **texts}

    def clean_data(self) -> str:
        """Refuses what is no JSON."""
        return self._checked("data")

    def clean_schema(self) -> str:
        """Refuses what is no JSON Schema, with the place of the fault."""
        text = self._checked("schema")
        found = schema_fault(loads(text.encode())) if text else ""
        if found:
            raise forms.ValidationError(
                _("This is no JSON Schema. %(fault)s"), params={"fault": found}
            )
        return text

    @property
    def warnings(self) -> list[str | Promise]:
        """Where the data does not fit the schema.

        That is no fault: a note may be a part of what the notes of its kind say together.
        """
        data, schema = (self._value_of(name) for name in ("data", "schema"))
        if isinstance(data, Missing) or isinstance(schema, Missing) or schema_fault(schema):
            return []
        try:
            faults = fit_faults(data, schema)
        except FitNotTold:
            return [
                _(
                    "Whether the data fits the schema was not found out: to look took too long. "
                    "Repeat less in its patterns and references, or open the page again in a minute."
                )
            ]
        return [_("The data does not fit the schema. %(fault)s") % {"fault": one} for one in faults]

    def row(self) -> dict[str, Any]:
        """The note to store: data and schema only where they are given."""
        values = self.cleaned_data
        row: dict[str, Any] = {"kind": values["kind"]}
        if values["description"]:
            row["description"] = values["description"]
        for name in ("data", "schema"):
            if values[name]:
                row[name] = loads(values[name].encode())
        if values["instance"]:
            row["instance"] = values["instance"]
        return {**row, "enabled": False} if values["off"] else row

    def _value_of(self, name: str) -> "Json | Missing":
        try:
            return loads(str(self[name].value() or "").encode())
        except (MalformedJson, UnicodeEncodeError):
            return MISSING

    def _checked(self, name: str) -> str:
        text: str = self.cleaned_data[name].strip()
        if not text:
            return ""
        try:
            value = loads(text.encode())
        except (MalformedJson, UnicodeEncodeError) as error:
            raise forms.ValidationError(
                _("This is no JSON. %(fault)s"), params={"fault": json_fault(error)}
            ) from error
        return layout(clean_json(value))


def with_schema(sent: QueryDict) -> QueryDict:
    """The form as it was sent, with a schema made from the data of the row whose button was pressed.

    Data that is no JSON gives none; its field says what is wrong with it.
    """
    prefix = sent[SCHEMA_BUTTON]
    try:
        example = loads(sent.get(f"{prefix}-data", "").encode())
    except (MalformedJson, UnicodeEncodeError):
        return sent
    filled = sent.copy()
    filled[f"{prefix}-schema"] = layout(clean_json(schema_from(example)))
    return filled
