"""The rows of a copilot's lists: models, parameters, custom features, steps."""

from collections.abc import Mapping
import json
from typing import Any, ClassVar

from django import forms
from django.core.validators import RegexValidator
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.rows import RowForm
from copilot_admin.engine.values.spec import StepPlace
from protocol.events import StatusLevel
from protocol.features import FEATURE_KEYS, CustomFeatureType

KEY = RegexValidator(
    r"^[a-z0-9]+([-_][a-z0-9]+)*\Z",
    _("Use lower-case letters and digits, with single hyphens between them: deep-research."),
)
PARAMETER_NAME = RegexValidator(
    r"^[A-Za-z][A-Za-z0-9_]*\Z",
    _("Use letters, digits and underscores, as the provider's manual does: frequency_penalty."),
)


class ModelChoiceRow(RowForm):
    """A model that people may pick in Workspace."""

    noun = _("model")
    id = forms.CharField(label=_("Model"), max_length=200)
    name = forms.CharField(
        label=_("Shown as"), max_length=100, required=False, help_text=_("Empty: the model's id.")
    )

    def row(self) -> dict[str, Any]:
        """The row to store: a name is never empty."""
        model = self.cleaned_data["id"]
        return {"id": model, "name": self.cleaned_data["name"] or model}


class ParameterRow(RowForm):
    """A parameter of the provider that has no field of its own."""

    TEXT, NUMBER, SWITCH, STRUCTURE = "text", "number", "switch", "structure"
    KINDS: ClassVar[list[tuple[str, str | Promise]]] = [
        (TEXT, _("Text")),
        (NUMBER, _("Number")),
        (SWITCH, _("Yes or no")),
        (STRUCTURE, _("List or group, as imported")),
    ]

    noun = _("parameter")
    name = forms.CharField(label=_("Name"), max_length=60, validators=[PARAMETER_NAME])
    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS, initial=NUMBER)
    value = forms.CharField(label=_("Value"), max_length=4000)

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        """The name, and the value as text beside its kind."""
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
        if self["kind"].value() != self.STRUCTURE:  # nobody is asked to write one
            kind = self.fields["kind"]
            kind.widget.choices = self.KINDS[:-1]

    def clean(self) -> dict[str, Any]:
        """Reads the value by the kind that was chosen for it."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if "value" in values and "kind" in values:
            try:
                values["value"] = self._read(values["kind"], values["value"].strip())
            except forms.ValidationError as error:
                self.add_error("value", error)
        return values

    def row(self) -> dict[str, Any]:
        """Name and value; the kind is in the value."""
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
    """A control of the builder's own in Workspace's settings of a chat."""

    noun = _("control")
    label = forms.CharField(label=_("Label"), max_length=100)
    key = forms.CharField(
        label=_("Key"),
        max_length=60,
        required=False,
        validators=[KEY],
        help_text=_("Its name in the prompt. Empty: made from the label."),
    )
    type = forms.ChoiceField(
        label=_("Kind"),
        choices=[
            (CustomFeatureType.TOGGLE.value, _("Switch")),
            (CustomFeatureType.SELECT.value, _("Choice")),
            (CustomFeatureType.TEXT.value, _("Text")),
        ],
        initial=CustomFeatureType.TOGGLE.value,
    )
    default_on = forms.BooleanField(label=_("On at the start"), required=False)
    default = forms.CharField(label=_("Value at the start"), max_length=500, required=False)
    description = forms.CharField(label=_("Description"), max_length=300, required=False)
    state_on = forms.CharField(
        label=_("Text when on"),
        max_length=500,
        required=False,
        help_text=_("What {{ options.key.state }} says."),
    )
    state_off = forms.CharField(label=_("Text when off"), max_length=500, required=False)
    model = forms.CharField(
        label=_("Model when on"),
        max_length=200,
        required=False,
        help_text=_(
            "Another model of the provider answers while it is on, such as one that searches the web."
        ),
    )
    provider = forms.CharField(
        label=_("Its provider"),
        max_length=100,
        required=False,
        help_text=_("By name. Empty: the copilot's own provider has the model."),
    )
    options = forms.CharField(
        label=_("Choices"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_(
            "One per line. Write “Short = brief” to show Short and put brief in the prompt."
        ),
    )
    placeholder = forms.CharField(
        label=_("Example in the empty field"), max_length=200, required=False
    )

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        """The stored control, its choices as lines."""
        states = row.get("states") or {}
        default = row.get("default")
        return {
            **{name: row.get(name, "") for name in ("key", "label", "description", "placeholder")},
            "type": row.get("type", CustomFeatureType.TOGGLE.value),
            "default_on": default is True,
            "default": default if isinstance(default, str) else "",
            "state_on": states.get("on", ""),
            "state_off": states.get("off", ""),
            "model": row.get("model", ""),
            "provider": row.get("provider", ""),
            "options": "\n".join(_option_line(option) for option in row.get("options") or []),
        }

    def clean(self) -> dict[str, Any]:
        """Makes the key where there is none, and looks at what the kind needs."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if "label" in values and not values.get("key") and "key" not in self.errors:
            values["key"] = slugify(values["label"]) or "option"
        if values.get("key") in FEATURE_KEYS | {"streaming"}:
            self.add_error(
                "key", _("Workspace has a feature of its own with this key. Choose another.")
            )
        if values.get("provider", "").strip() and not values.get("model", "").strip():
            self.add_error("model", _("Name the model of this provider that answers."))
        if values.get("type") == CustomFeatureType.SELECT and "options" not in self.errors:
            self._check_options(values)
        return values

    def row(self) -> dict[str, Any]:
        """The control to store: only what its kind has."""
        values = self.cleaned_data
        row = {"key": values["key"], "label": values["label"], "type": values["type"]}
        if values["description"]:
            row["description"] = values["description"]
        match CustomFeatureType(values["type"]):
            case CustomFeatureType.TOGGLE:
                row["default"] = values["default_on"]
                states = {"on": values["state_on"], "off": values["state_off"]}
                if any(states.values()):
                    row["states"] = {name: text or name for name, text in states.items()}
                for name in ("model", "provider"):
                    if values[name].strip():
                        row[name] = values[name].strip()
            case CustomFeatureType.SELECT:
                row["options"] = _options(values["options"])
                row["default"] = values["default"] or row["options"][0]["value"]
            case CustomFeatureType.TEXT:
                row["default"] = values["default"]
                if values["placeholder"]:
                    row["placeholder"] = values["placeholder"]
        return row

    def _check_options(self, values: Mapping[str, Any]) -> None:
        options = _options(values["options"])
        if not options:
            self.add_error("options", _("Write at least one choice, each on a line of its own."))
            return
        known = [option["value"] for option in options]
        if len(set(known)) < len(known):
            self.add_error("options", _("Two choices have the same value. Make them differ."))
        if values["default"] and values["default"] not in known:
            self.add_error(
                "default",
                _("No choice has this value. Use one of: %(known)s.") % {"known": ", ".join(known)},
            )


class StepRow(RowForm):
    """A step that is shown with every answer."""

    noun = _("step")
    at = forms.ChoiceField(
        label=_("When"),
        choices=[
            (StepPlace.START.value, _("Before the answer")),
            (StepPlace.END.value, _("After the answer")),
        ],
        initial=StepPlace.START.value,
    )
    type = forms.ChoiceField(
        label=_("Kind"),
        choices=[
            (StatusLevel.INFO.value, _("Information")),
            (StatusLevel.WARNING.value, _("Warning")),
        ],
        initial=StatusLevel.INFO.value,
    )
    message = forms.CharField(label=_("Text"), max_length=500)
    details = forms.CharField(
        label=_("Details"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One per line, as “name: value”."),
    )

    @classmethod
    def initial_of(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        """The stored step, its details as lines."""
        details = row.get("details") or {}
        lines = (f"{name}: {_detail_text(value)}" for name, value in details.items())
        return {**row, "details": "\n".join(lines)}

    def clean_details(self) -> dict[str, Any]:
        """The details as a record."""
        details: dict[str, Any] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["details"].splitlines())):
            name, colon, text = line.partition(":")
            if not colon or not name.strip():
                raise forms.ValidationError(
                    _("Write “name: value”; this line has no colon: %(line)s"),
                    params={"line": line},
                )
            details[name.strip()] = _detail(text.strip())
        return details

    def row(self) -> dict[str, Any]:
        """The step to store."""
        row = super().row()
        return row if row["details"] else {key: row[key] for key in row if key != "details"}


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text.replace(",", "."))
    except ValueError as error:
        raise forms.ValidationError(_("This is no number. Write 0.5 or 200.")) from error
    if number != number or number in (float("inf"), float("-inf")):
        raise forms.ValidationError(_("This number has no end. Write 0.5 or 200."))
    return number


def _switch(text: str) -> bool:
    match text.lower():
        case "yes" | "on" | "true":
            return True
        case "no" | "off" | "false":
            return False
        case _:
            raise forms.ValidationError(_("Write yes or no."))


def _structure(text: str) -> object:
    try:
        return _plain_json(text)
    except ValueError as error:
        raise forms.ValidationError(
            _("This list or group cannot be read. Take it over as it was, or choose another kind.")
        ) from error


def _plain_json(text: str) -> object:
    """Reads JSON that every database can store: no NUL, no half characters, no endless numbers.

    Raises:
        ValueError: It is none.
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
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _detail(text: str) -> object:
    """Numbers, true and false, lists and groups as JSON has them; anything else is text."""
    try:
        return _plain_json(text)
    except ValueError:
        return text
