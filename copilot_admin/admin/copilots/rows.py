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

from copilot_admin.admin.common.rows import RowForm
from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.agent.values.spec import MAX_CALL_LIMIT
from copilot_admin.copilots.config_records import (
    RESERVED_OPTION_KEYS,
    STEP_LEVELS,
    STEP_PLACES,
    CustomFeatureEntry,
    OptionEntry,
    States,
)
from protocol.features import CustomFeatureType

PARAMETER_NAME = RegexValidator(
    r"^[A-Za-z][A-Za-z0-9_]*\Z",
    _("Use letters, digits and underscores, for example frequency_penalty."),
)
OPTION_KEY = RegexValidator(
    r"^[a-z0-9]+([-_][a-z0-9]+)*\Z",
    _("Use lower-case letters, digits and single hyphens, for example deep-research."),
)


class ModelChoiceRow(RowForm):
    """A model that users can choose in Workspace."""

    noun = _("model")
    id = forms.CharField(label=_("Model"), max_length=200)
    name = forms.CharField(
        label=_("Display name"),
        max_length=100,
        required=False,
        help_text=_("Leave blank to show the model ID."),
    )

    def row(self) -> dict[str, Any]:
        values = super().row()
        return {"id": values["id"], "name": values["name"] or values["id"]}


class FallbackRow(RowForm):
    """A model that is tried if those before it failed."""

    noun = _("fallback")
    model = forms.CharField(label=_("Model"), max_length=200)
    provider = forms.CharField(
        label=_("Provider"),
        max_length=100,
        required=False,
        help_text=_("Leave blank to use the copilot's provider."),
    )


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


class CustomFeatureRow(RowForm):
    """An option in the chat settings of Workspace."""

    noun = _("option")
    label = forms.CharField(label=_("Label"), max_length=100)
    key = forms.CharField(
        label=_("Key"),
        max_length=60,
        required=False,
        validators=[OPTION_KEY],
        help_text=_("Name in the prompt. Leave blank to create it from the label."),
    )
    type = forms.ChoiceField(
        label=_("Type"),
        choices=[("toggle", _("Switch")), ("select", _("Choice")), ("text", _("Text"))],
        initial="toggle",
    )
    default_on = forms.BooleanField(label=_("On by default"), required=False)
    default = forms.CharField(label=_("Default value"), max_length=500, required=False)
    description = forms.CharField(label=_("Description"), max_length=300, required=False)
    state_on = forms.CharField(
        label=_("Text when on"),
        max_length=500,
        required=False,
        help_text=_("Value of {{ options.key.state }}."),
    )
    state_off = forms.CharField(label=_("Text when off"), max_length=500, required=False)
    model = forms.CharField(
        label=_("Model when on"),
        max_length=200,
        required=False,
        help_text=_("Answers while the switch is on, for example one with web search."),
    )
    provider = forms.CharField(
        label=_("Provider of that model"),
        max_length=100,
        required=False,
        help_text=_("Leave blank to use the copilot's provider."),
    )
    options = forms.CharField(
        label=_("Choices"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One per line. “Short = brief” shows Short and puts brief into the prompt."),
    )
    placeholder = forms.CharField(
        label=_("Placeholder of the empty field"), max_length=200, required=False
    )

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
            values["key"] = slugify(anyascii(values["label"])) or self._key_from_position()
        if values.get("key") in RESERVED_OPTION_KEYS:
            self.add_error("key", _("Workspace uses this key itself. Choose another one."))
        if values.get("provider", "").strip() and not values.get("model", "").strip():
            self.add_error("model", _("Enter a model of this provider."))
        if values.get("type") == CustomFeatureType.SELECT and "options" not in self.errors:
            self._check_options(values)
        return values

    def row(self) -> dict[str, Any]:
        values = super().row()
        on, off = values.pop("state_on"), values.pop("state_off")
        if on or off:
            values["states"] = States(on=on or "on", off=off or "off")
        is_on = values.pop("default_on")
        if values["type"] == CustomFeatureType.TOGGLE:
            values["default"] = is_on
        values["options"] = [
            OptionEntry.model_construct(label=option["label"], value=option["value"])
            for option in _options(values["options"])
        ]
        return CustomFeatureEntry.model_construct(**values).row()

    def _key_from_position(self) -> str:
        position = (self.prefix or "").rpartition("-")[2]
        return f"option-{int(position) + 1}" if position.isdecimal() else "option"

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


class CallLimitRow(RowForm):
    """A limit for the calls of one function."""

    noun = _("limit")
    function = forms.ChoiceField(
        label=_("Function"), choices=tuple(labels().items()), initial=next(iter(labels()))
    )
    most = forms.IntegerField(label=_("Maximum calls"), min_value=1, max_value=MAX_CALL_LIMIT)


class StepRow(RowForm):
    """A step that is shown with every answer."""

    noun = _("step")
    at = forms.ChoiceField(label=_("When"), choices=tuple(STEP_PLACES.items()), initial="start")
    type = forms.ChoiceField(label=_("Type"), choices=tuple(STEP_LEVELS.items()), initial="INFO")
    message = forms.CharField(label=_("Text"), max_length=500)
    details = forms.CharField(
        label=_("Details"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One per line, as “name: value”."),
    )

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

    def row(self) -> dict[str, Any]:
        row = super().row()
        details = row.pop("details")
        return row | {"details": details} if details else row


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
