"""Rows of a copilot's lists: models, parameters, custom options, steps."""

from collections.abc import Mapping
import json
from typing import Any, ClassVar

from anyascii import anyascii
from django import forms
from django.core.validators import RegexValidator
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.record_rows import RecordRow
from copilot_admin.admin.common.rows import RowForm
from copilot_admin.copilots.config_records import (
    RESERVED_OPTION_KEYS,
    CallLimitEntry,
    CustomFeatureEntry,
    FallbackEntry,
    ModelEntry,
    OptionEntry,
    StepEntry,
)
from protocol.features import CustomFeatureType

PARAMETER_NAME = RegexValidator(
    r"^[A-Za-z][A-Za-z0-9_]*\Z",
    _("Use letters, digits and underscores, for example frequency_penalty."),
)


class ModelChoiceRow(RecordRow):
    """A model that users can choose in Workspace."""

    noun = _("model")
    record = ModelEntry


class FallbackRow(RecordRow):
    """A model that is tried if those before it failed."""

    noun = _("fallback")
    record = FallbackEntry


class ParameterRow(RowForm):
    """A parameter without a field of its own."""

    TEXT, NUMBER, SWITCH, STRUCTURE = "text", "number", "switch", "structure"
    KINDS: ClassVar[list[tuple[str, str | Promise]]] = [
        (TEXT, _("Text")),
        (NUMBER, _("Number")),
        (SWITCH, _("Yes or no")),
        (STRUCTURE, _("JSON, as imported")),
    ]

    noun = _("parameter")
    name = forms.CharField(label=_("Name"), max_length=60, validators=[PARAMETER_NAME])
    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS, initial=NUMBER)
    value = forms.CharField(label=_("Value"), max_length=4000, required=False)

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        value = row["value"]
        match value:
            case bool():
                kind, text = cls.SWITCH, "yes" if value else "no"
            case int() | float():
                kind, text = cls.NUMBER, str(value)
            case str():
                kind, text = cls.TEXT, value
            case _:
                kind, text = cls.STRUCTURE, json.dumps(value, ensure_ascii=False)
        return {"name": row["name"], "kind": kind, "value": text}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self["kind"].value() != self.STRUCTURE:  # only imported files have one
            kind = self.fields["kind"]
            kind.widget.choices = self.KINDS[:-1]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if "value" in values and "kind" in values:
            if not values["value"] and values["kind"] != self.TEXT:
                self.add_error("value", _("Enter a value."))
                return values
            try:
                values["value"] = self._read(values["kind"], values["value"].strip())
            except forms.ValidationError as error:
                self.add_error("value", error)
        return values

    def row(self) -> dict[str, Any]:
        return {"name": self.cleaned_data["name"], "value": self.cleaned_data["value"]}

    def _read(self, kind: str, text: str) -> object:
        match kind:
            case self.NUMBER:
                return _number(text)
            case self.SWITCH:
                return _switch(text)
            case self.STRUCTURE:
                return _structure(text)
            case _:
                return text


class CustomFeatureRow(RecordRow):
    """An option in the chat settings of Workspace."""

    noun = _("option")
    record = CustomFeatureEntry
    field_order = ("label",)  # then the others, as in a file

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        states = row.get("states") or {}
        default = row.get("default")
        return {
            **{name: row.get(name, "") for name in cls.base_fields},
            "type": row.get("type", CustomFeatureType.TOGGLE.value),
            "default_on": default is True,
            "default": default if isinstance(default, str) else "",
            "state_on": states.get("on", ""),
            "state_off": states.get("off", ""),
            "options": "\n".join(_option_line(option) for option in row.get("options") or []),
        }

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if "label" in values and not values.get("key") and "key" not in self.errors:
            values["key"] = slugify(anyascii(values["label"])) or self._key_by_place()
        if values.get("key") in RESERVED_OPTION_KEYS:
            self.add_error("key", _("Workspace uses this key itself. Choose another one."))
        if values.get("provider", "").strip() and not values.get("model", "").strip():
            self.add_error("model", _("Enter a model of this provider."))
        if values.get("type") == CustomFeatureType.SELECT and "options" not in self.errors:
            self._check_options(values)
        return values

    def values(self) -> dict[str, Any]:
        values = super().values()
        states = {"on": values.pop("state_on"), "off": values.pop("state_off")}
        if any(states.values()):
            values["states"] = {name: text or name for name, text in states.items()}
        is_on = values.pop("default_on")
        if values["type"] == CustomFeatureType.TOGGLE:
            values["default"] = is_on
        values["options"] = [
            OptionEntry.model_construct(label=option["label"], value=option["value"])
            for option in _options(values["options"])
        ]
        return values

    def _key_by_place(self) -> str:
        place = (self.prefix or "").rpartition("-")[2]
        return f"option-{int(place) + 1}" if place.isdecimal() else "option"

    def _check_options(self, values: Mapping[str, Any]) -> None:
        options = _options(values["options"])
        if not options:
            self.add_error("options", _("Enter at least one choice, one per line."))
            return
        known = [option["value"] for option in options]
        if len(set(known)) < len(known):
            self.add_error("options", _("Two choices have the same value. Change one."))
        if values["default"] and values["default"] not in known:
            self.add_error(
                "default",
                _("Not one of the choices. Use one of: %(known)s.") % {"known": ", ".join(known)},
            )


class CallLimitRow(RecordRow):
    """A limit for the calls of one function."""

    noun = _("limit")
    record = CallLimitEntry


class StepRow(RecordRow):
    """A step that is shown with every answer."""

    noun = _("step")
    record = StepEntry

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        details = row.get("details") or {}
        lines = (f"{name}: {_detail_text(value)}" for name, value in details.items())
        return {**row, "details": "\n".join(lines)}

    def clean_details(self) -> dict[str, Any]:
        details: dict[str, Any] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["details"].splitlines())):
            name, colon, text = line.partition(":")
            if not colon or not name.strip():
                raise forms.ValidationError(
                    _("Enter “name: value”. This line has no colon: %(line)s"),
                    params={"line": line},
                )
            details[name.strip()] = _detail(text.strip())
        return details


def _number(text: str) -> int | float:
    try:
        number = float(text.replace(",", "."))
    except ValueError as error:
        raise forms.ValidationError(_("Enter a number, for example 0.5.")) from error
    if number != number or number in (float("inf"), float("-inf")):
        raise forms.ValidationError(_("Enter a finite number, for example 0.5."))
    try:
        return int(text)
    except ValueError:
        return number


def _switch(text: str) -> bool:
    match text.lower():
        case "yes" | "on" | "true":
            return True
        case "no" | "off" | "false":
            return False
        case _:
            raise forms.ValidationError(_("Enter yes or no."))


def _structure(text: str) -> object:
    try:
        return _plain_json(text)
    except ValueError as error:
        raise forms.ValidationError(
            _("Not valid JSON. Restore the original value or choose another type.")
        ) from error


def _plain_json(text: str) -> object:
    """Parse JSON that every database can store: no NUL, surrogates or infinite numbers.

    Raises:
        ValueError: The text is not such JSON.
    """
    if "\\u" in text:  # text has its characters as they are; escapes are how the bad ones come in
        raise ValueError(text)
    try:
        value = json.loads(text, parse_float=_number, parse_constant=_number)
    except (RecursionError, forms.ValidationError) as error:
        raise ValueError(text) from error
    return value


def _option_line(option: Mapping[str, str]) -> str:
    label, value = option.get("label", ""), option.get("value", "")
    return value if label == value else f"{label} = {value}"


def _options(text: str) -> list[dict[str, str]]:
    options = []
    for line in filter(None, map(str.strip, text.splitlines())):
        label, equals, value = (part.strip() for part in line.partition("="))
        options.append({"label": label or value, "value": value if equals and value else label})
    return options


def _detail_text(value: object) -> str:
    is_plain = isinstance(value, str) and _detail(value) == value
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)


def _detail(text: str) -> object:
    try:
        return _plain_json(text)
    except ValueError:
        return text
