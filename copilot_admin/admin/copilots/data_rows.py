"""Rows of a copilot's context data, as JSON."""

from collections.abc import Mapping
import json
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.rows import RowForm
from copilot_admin.import_export.reading import describe_json_error
from protocol.data import KIND, MISSING, Missing
from protocol.json import Json, MalformedJson, clean_json, layout, loads
from protocol.json_schema import data_faults, schema_fault

KIND_RULE = RegexValidator(
    rf"^{KIND.pattern}\Z",
    _("Start with a letter. Use letters, digits, '.', '-' and '_', for example house-rules."),
)
MAX_CHARACTERS = 200_000  # of one note: half of what a model is given in all
# A pattern such as `(a+)+$` or doubling references could block the server: data isn't checked then.
SLOW_KEYWORDS = ('"pattern"', '"patternProperties"', '"$ref"', '"$dynamicRef"')


class DataNoteRow(RowForm):
    """Data that the model sees with every question."""

    noun = _("entry")
    kind = forms.CharField(
        label=_("Kind"),
        max_length=64,
        validators=[KIND_RULE],
        help_text=_(
            "Topic. Entries of the same kind are merged; later values override earlier ones."
        ),
    )
    instance = forms.CharField(
        label=_("Instance"),
        max_length=100,
        required=False,
        help_text=_("Keeps entries of one kind separate. Usually blank."),
    )
    description = forms.CharField(label=_("Description"), max_length=1000, required=False)
    data = forms.CharField(  # type: ignore[assignment]  # a field, not what was sent
        label=_("Data"),
        required=False,
        max_length=MAX_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=_("JSON. Text needs quotes."),
    )
    schema = forms.CharField(
        label=_("Schema"),
        required=False,
        max_length=MAX_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=_("JSON Schema that describes the fields."),
    )
    off = forms.BooleanField(label=_("Disabled"), required=False)

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        texts = {key: layout(row[key]) for key in ("data", "schema") if key in row}
        return {**row, "off": row.get("enabled") is False, **texts}

    def clean_data(self) -> str:
        return self._checked("data")

    def clean_schema(self) -> str:
        text = self._checked("schema")
        found = schema_fault(loads(text.encode())) if text else ""
        if found:
            raise forms.ValidationError(
                _("Not a valid JSON Schema. %(fault)s"), params={"fault": found}
            )
        return text

    @property
    def warnings(self) -> list[str | Promise]:
        """Mismatches between data and schema; entries of one kind may only fit together."""
        data, schema = (self._value_of(name) for name in ("data", "schema"))
        if isinstance(data, Missing) or isinstance(schema, Missing) or schema_fault(schema):
            return []
        if any(word in json.dumps(schema) for word in SLOW_KEYWORDS):
            return []
        text = _("The data does not match the schema. %(fault)s")
        return [text % {"fault": one} for one in data_faults(data, schema)]

    def row(self) -> dict[str, Any]:
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
                _("Not valid JSON. %(fault)s"), params={"fault": describe_json_error(error)}
            ) from error
        return layout(clean_json(value))
