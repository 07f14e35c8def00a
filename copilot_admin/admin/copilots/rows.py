"""Rows of a copilot's lists: models, parameters, custom options, context data, steps."""

from collections.abc import Mapping
import json
from typing import Any, ClassVar

from anyascii import anyascii
from django import forms
from django.utils.text import capfirst, slugify
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from copilot_admin.admin.common.rows import RowForm
from copilot_admin.admin.copilots.fields import area, text_of
from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.agent.values.spec import MAX_CALL_LIMIT
from copilot_admin.copilots.config_records import (
    KIND_RULE,
    OPTION_KEY,
    OPTION_TYPES,
    STEP_LEVELS,
    STEP_PLACES,
    CallLimitEntry,
    CustomFeatureEntry,
    DataNoteEntry,
    FallbackEntry,
    ModelEntry,
    States,
    StepEntry,
)
from copilot_admin.copilots.config_types import PARAMETER_NAME, Text
from copilot_admin.import_export.errors import describe
from copilot_admin.import_export.formats import describe_json_error
from protocol.data import MISSING
from protocol.json import MalformedJson, layout, loads
from protocol.json_schema import data_faults, schema_fault

MAX_DATA_LENGTH = 200_000  # characters of one note: half of what a model is given in all
# A pattern such as `(a+)+$` or doubling references could block the server: data isn't checked then.
SLOW_KEYWORDS = ('"pattern"', '"patternProperties"', '"$ref"', '"$dynamicRef"')


class ModelChoiceRow(RowForm):
    noun = _("model")
    id = text_of(ModelEntry, "id")
    name = text_of(ModelEntry, "name", _("Leave blank to show the model ID."))

    def row(self) -> dict[str, Any]:
        return ModelEntry.model_construct(**super().row()).row()


class FallbackRow(RowForm):
    noun = _("fallback")
    model = text_of(FallbackEntry, "model")
    provider = text_of(FallbackEntry, "provider", _("Leave blank to use the copilot's provider."))


class ParameterRow(RowForm):
    noun = _("parameter")
    name = forms.CharField(label=_("Name"), max_length=60, validators=[PARAMETER_NAME])
    value = forms.CharField(
        label=_("Value"),
        max_length=4000,
        required=False,
        help_text=_("A number, true, false, JSON or text. Put text like “1” in quotes."),
    )

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return {"name": row["name"], "value": write_value(row["value"])}

    def clean_value(self) -> object:
        return read_value(self.cleaned_data["value"])


class CustomFeatureRow(RowForm):
    # Inputs of the errors that concern a whole record.
    INPUTS: ClassVar[Mapping[str, str]] = {
        "reserved": "key",
        "model_missing": "model",
        "options_missing": "options",
        "repeated": "options",
        "default_unknown": "default",
    }

    noun = _("option")
    label = text_of(CustomFeatureEntry, "label")
    key = text_of(
        CustomFeatureEntry,
        "key",
        _("Name in the prompt. Leave blank to create it from the label."),
        required=False,
        validators=[OPTION_KEY],
    )
    type = forms.ChoiceField(label=_("Type"), choices=[*OPTION_TYPES.items()], initial="toggle")
    default_on = forms.BooleanField(label=_("On by default"), required=False)
    default = forms.CharField(label=_("Default value"), max_length=500, required=False)
    description = text_of(CustomFeatureEntry, "description")
    state_on = text_of(States, "on", _("Value of {{ options.key.state }}."))
    state_off = text_of(States, "off")
    model = text_of(
        CustomFeatureEntry,
        "model",
        _("Answers while the switch is on, for example one with web search."),
    )
    provider = text_of(
        CustomFeatureEntry, "provider", _("Leave blank to use the copilot's provider.")
    )
    options = forms.CharField(
        label=_("Choices"),
        max_length=4000,
        required=False,
        widget=area(3),
        help_text=_("One per line. “Short = brief” shows Short and puts brief into the prompt."),
    )
    placeholder = text_of(CustomFeatureEntry, "placeholder")

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        states, default = row.get("states") or {}, row.get("default")
        pairs = ((one["label"], one["value"]) for one in row.get("options") or [])
        return {
            **{name: row.get(name, "") for name in cls.base_fields},
            "type": row.get("type", "toggle"),
            "default_on": default is True,
            "default": default if isinstance(default, str) else "",
            "state_on": states.get("on", ""),
            "state_off": states.get("off", ""),
            "options": "\n".join(" = ".join(dict.fromkeys(pair)) for pair in pairs),
        }

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if "label" in values and "key" in values:
            values["key"] = values["key"] or slugify(anyascii(values["label"])) or self._number()
        if not self.errors:
            try:
                values["record"] = CustomFeatureEntry.model_validate(self._entry(values))
            except ValidationError as error:
                for one in error.errors():
                    name = self.INPUTS.get(one["type"]) or (one["loc"] or ("label",))[0]
                    self.add_error(str(name), capfirst(describe(one)))
        return values

    def row(self) -> dict[str, Any]:
        record: CustomFeatureEntry = self.cleaned_data["record"]
        return record.row()

    def _entry(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the entry of a file, without keys that the type doesn't have."""
        kind, on, off = values["type"], values["state_on"], values["state_off"]
        entry = {
            **{key: values[key] for key in values if key in CustomFeatureEntry.model_fields},
            "default": values["default_on"] if kind == "toggle" else values["default"],
            "states": {"on": on or "on", "off": off or "off"} if on or off else None,
            "options": [],
        }
        for line in filter(None, map(str.strip, values["options"].splitlines())):
            label, _equals, value = map(str.strip, line.partition("="))
            entry["options"].append({"label": label or value, "value": value or label})
        type_of = CustomFeatureEntry.TYPE_OF
        return {key: value for key, value in entry.items() if type_of.get(key, kind) == kind}

    def _number(self) -> str:
        return f"option-{int((self.prefix or '-0').rpartition('-')[2] or 0) + 1}"


class DataNoteRow(RowForm):
    noun = _("entry")
    kind = forms.CharField(
        label=_("Kind"),
        max_length=64,
        validators=[KIND_RULE],
        help_text=_(
            "Topic. Entries of the same kind are merged; later values override earlier ones."
        ),
    )
    instance = text_of(
        DataNoteEntry, "instance", _("Keeps entries of one kind separate. Usually blank.")
    )
    description = text_of(DataNoteEntry, "description")
    data = forms.CharField(  # type: ignore[assignment]  # a field, not what was sent
        label=_("Data"),
        required=False,
        max_length=MAX_DATA_LENGTH,
        widget=area(6, spellcheck="false"),
        help_text=_("JSON. Text needs quotes."),
    )
    schema = forms.CharField(
        label=_("Schema"),
        required=False,
        max_length=MAX_DATA_LENGTH,
        widget=area(6, spellcheck="false"),
        help_text=_("JSON Schema that describes the fields."),
    )
    off = forms.BooleanField(label=_("Disabled"), required=False)

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        texts = {key: layout(row[key]) for key in ("data", "schema") if key in row}
        return {**row, "off": row.get("enabled") is False, **texts}

    def clean_data(self) -> object:
        return self._parse("data")

    def clean_schema(self) -> object:
        schema = self._parse("schema")
        if schema is not MISSING and (found := schema_fault(schema)):
            text = _("Not a valid JSON Schema. %(fault)s")
            raise forms.ValidationError(text, params={"fault": found})
        return schema

    @property
    def warnings(self) -> list[Text]:
        """Mismatches between data and schema; entries of one kind may only fit together."""
        data, schema = (parse_json(str(self[name].value() or "")) for name in ("data", "schema"))
        if data is MISSING or schema is MISSING or schema_fault(schema):
            return []
        if any(word in json.dumps(schema) for word in SLOW_KEYWORDS):
            return []
        text = _("The data does not match the schema. %(fault)s")
        return [text % {"fault": one} for one in data_faults(data, schema)]

    def row(self) -> dict[str, Any]:
        given = {key: one for key, one in self.cleaned_data.items() if one is not MISSING}
        note = {
            key: given[key] for key in ("kind", "instance", "description", "data") if key in given
        }
        schema = given.get("schema")
        return DataNoteEntry.model_construct(**note, schema_=schema, enabled=not given["off"]).row()

    def _parse(self, name: str) -> object:
        text = self.cleaned_data[name].strip()
        try:
            return loads(text.encode()) if text else MISSING
        except (MalformedJson, UnicodeEncodeError) as error:
            raise forms.ValidationError(
                _("Not valid JSON. %(fault)s"), params={"fault": describe_json_error(error)}
            ) from error


class CallLimitRow(RowForm):
    noun = _("limit")
    function = forms.ChoiceField(
        label=_("Function"), choices=tuple(labels().items()), initial=next(iter(labels()))
    )
    most = forms.IntegerField(
        label=CallLimitEntry.model_fields["most"].title, min_value=1, max_value=MAX_CALL_LIMIT
    )


class StepRow(RowForm):
    noun = _("step")
    at = forms.ChoiceField(label=_("When"), choices=tuple(STEP_PLACES.items()), initial="start")
    type = forms.ChoiceField(label=_("Type"), choices=tuple(STEP_LEVELS.items()), initial="INFO")
    message = text_of(StepEntry, "message")
    details = forms.CharField(
        label=_("Details"),
        max_length=4000,
        required=False,
        widget=area(2),
        help_text=_("One per line, as “name: value”."),
    )

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        details = row.get("details") or {}
        lines = (f"{name}: {write_value(value)}" for name, value in details.items())
        return {**row, "details": "\n".join(lines)}

    def clean_details(self) -> dict[str, Any]:
        details: dict[str, Any] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["details"].splitlines())):
            name, colon, text = line.partition(":")
            if not colon or not name.strip():
                sentence = _("Enter “name: value”. This line has no colon: %(line)s")
                raise forms.ValidationError(sentence, params={"line": line})
            details[name.strip()] = read_value(text.strip())
        return details

    def row(self) -> dict[str, Any]:
        return StepEntry.model_construct(**super().row()).row()


def parse_json(text: str) -> Any:
    """Return the value of a JSON text that can be stored, or `MISSING`."""
    try:
        return loads(text.encode())
    except (MalformedJson, UnicodeEncodeError):
        return MISSING


def write_value(value: object) -> str:
    """Return the text of a JSON value in one line; a text is in quotes only if it has to be."""
    is_plain = isinstance(value, str) and "\n" not in value and read_value(value) == value
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)


def read_value(text: str) -> object:
    value = parse_json(text)
    return text if value is MISSING else value
