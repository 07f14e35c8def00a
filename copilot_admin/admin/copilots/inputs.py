"""Inputs of the Build page that the configuration model describes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from django import forms
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.rows import RowForm, RowsField
from copilot_admin.admin.common.widgets import (
    DescribedRadio,
    SwitchesWidget,
)
from copilot_admin.admin.copilots.data_rows import DataNoteRow
from copilot_admin.admin.copilots.rows import (
    CallLimitRow,
    CustomFeatureRow,
    FallbackRow,
    ModelChoiceRow,
    StepRow,
)
from copilot_admin.agent.components.registry import LATEST, registry
from copilot_admin.agent.server_tools import title_of
from copilot_admin.copilots import config_form, config_records
from copilot_admin.copilots.config import FORM_FIELDS, ConfigField, fields_in
from copilot_admin.copilots.config_form import ACCESS_AND_LOGGING, Choice, Input, Option
from copilot_admin.copilots.config_types import StoredRecord

ROW_FORMS: Mapping[type[StoredRecord], type[RowForm]] = {
    config_records.ModelEntry: ModelChoiceRow,
    config_records.FallbackEntry: FallbackRow,
    config_records.CustomFeatureEntry: CustomFeatureRow,
    config_records.CallLimitEntry: CallLimitRow,
    config_records.StepEntry: StepRow,
    config_records.DataNoteEntry: DataNoteRow,
}
# On the Settings tab once the copilot exists.
LIVE_COLUMNS = tuple(field.column for field in fields_in(ACCESS_AND_LOGGING))
SETTINGS_PREFIX = "now"


class SwitchesField(forms.MultipleChoiceField):
    """Things that are on; its value is what differs from the defaults."""

    def __init__(self, switches: Sequence[Option], **options: Any) -> None:
        super().__init__(
            required=False,
            choices=[(one.value, one.label) for one in switches],
            widget=SwitchesWidget({one.value: one.help for one in switches}),
            **options,
        )
        self.switches = switches

    def clean(self, value: Any) -> dict[str, bool]:
        on = super().clean(value)
        return {
            one.value: one.value in on
            for one in self.switches
            if (one.value in on) is not one.default
        }

    def to_input(self, stored: Mapping[str, bool]) -> list[str]:
        return [one.value for one in self.switches if stored.get(one.value, one.default)]


class ComponentsField(forms.MultipleChoiceField):
    """Built-in tools that are on, as `name@version`; the value is the rows of a draft."""

    stored: Sequence[Mapping[str, Any]] = ()

    def offer(self, stored: Sequence[Mapping[str, Any]]) -> None:
        """Offer every known version, and those of the draft, which aren't lost by a save."""
        self.stored = stored
        self.help = {f"{one.name}@{one.version}": one.summary() for one in registry().all()}
        for pin in self.to_input(stored):
            self.help.setdefault(pin, _describe_other(pin))
        self.choices = [(pin, _label_component(pin)) for pin in self.help]

    def clean(self, value: Any) -> list[dict[str, Any]]:
        """Return the rows with their settings.

        Raises:
            ValidationError: Two versions of one tool are on.
        """
        rows: dict[str, dict[str, Any]] = {}
        settings = {row["name"]: row["config"] for row in self.stored if row.get("config")}
        for pin in super().clean(value):
            name, _at, version = pin.partition("@")
            if name in rows:
                text = _("Choose one version of “%(name)s”.")
                raise forms.ValidationError(text, params={"name": title_of(name)})
            config = {"config": settings[name]} if name in settings else {}
            rows[name] = {"name": name, "version": version, **config}
        return list(rows.values())

    def to_input(self, stored: Sequence[Mapping[str, Any]]) -> list[str]:
        return [f"{row['name']}@{row['version']}" for row in stored]


def _describe_other(pin: str) -> str:
    name, _at, version = pin.partition("@")
    if version == LATEST and name in registry().names():
        return str(_("Always the newest version"))
    return str(_("Unknown on this server. Turn it off."))


def _label_component(pin: str) -> str:
    name, _at, version = pin.partition("@")
    is_only = len(registry().versions(name)) == 1 and version != LATEST
    return title_of(name) if is_only else f"{title_of(name)} {version}"


class TextsField(RowsField):
    """List of short texts, edited as rows of one input."""

    def clean(self, value: Any) -> list[str]:  # type: ignore[override]  # texts, not records
        return [row["text"] for row in super().clean(value)]

    def to_input(self, stored: Sequence[str]) -> list[dict[str, str]]:
        return [{"text": text} for text in stored]


def build_inputs() -> dict[str, forms.Field]:
    """Return the inputs that aren't Django's default for a column, by name."""
    found = {field.column: _input_of(field) for field in FORM_FIELDS}
    return {name: input for name, input in found.items() if input is not None}


def anchor_of(name: str) -> str:
    """Return the id of an input on the Build or Settings page."""
    return f"id_{SETTINGS_PREFIX}-{name}" if name in LIVE_COLUMNS else f"id_{name}"


def to_input(input: forms.Field, stored: Any) -> Any:
    """Return the value of an input for a stored value."""
    if isinstance(input, SwitchesField | TextsField | ComponentsField):
        return input.to_input(stored)
    return stored


def build_widgets() -> dict[str, forms.Widget]:
    """Return the widgets that differ from Django's defaults."""
    found = {field.column: _widget_of(field) for field in FORM_FIELDS}
    return {name: widget for name, widget in found.items() if widget is not None}


def get_plain_columns() -> list[str]:
    """Return the columns whose values Django stores."""
    return [field.column for field in FORM_FIELDS if _is_plain(field) or _widget_of(field)]


def _is_plain(field: ConfigField) -> bool:
    return isinstance(field.editor, Choice) or field.editor is Input.COLUMN


def get_labels() -> dict[str, str | Promise]:
    return {field.column: field.label for field in FORM_FIELDS if _input_of(field) is None}


def get_help_texts() -> dict[str, str | Promise]:
    found = {field.column: field.help for field in FORM_FIELDS if _input_of(field) is None}
    return {name: text for name, text in found.items() if text}


def _input_of(field: ConfigField) -> forms.Field | None:
    common: dict[str, Any] = {"label": field.label, "help_text": field.help}
    match field.editor:
        case config_form.Choice(options):
            return forms.ChoiceField(
                choices=[(one.value, one.label) for one in options],
                widget=DescribedRadio({one.value: one.help for one in options}),
                **common,
            )
        case config_form.Switches(options):
            return SwitchesField(options, **common)
        case config_form.Rows() as rows:
            form = ROW_FORMS[rows.record]
            return RowsField(form, add_label=rows.add_label, unique=rows.unique, **common)
        case config_form.Texts() as texts:
            unique = "text" if texts.differ else ""
            return TextsField(_row_of(texts), add_label=texts.add_label, unique=unique, **common)
        case Input.TOOLS:
            return forms.MultipleChoiceField(required=False, **common)
        case Input.COMPONENTS:
            return ComponentsField(required=False, **common)
        case Input():
            return None
        case _:
            assert_never(field.editor)


def _row_of(texts: config_form.Texts) -> type[RowForm]:
    described: dict[str, Any] = {"label": texts.label, "max_length": texts.max_length}
    if texts.find_fault is not None:
        described["validators"] = [_build_validator(texts.find_fault)]
    text = forms.CharField(**described)
    return type("TextRow", (RowForm,), {"noun": texts.noun, "text": text})


def _build_validator(fault_of: Callable[[str], str | Promise]) -> Callable[[str], None]:
    def check(text: str) -> None:
        wrong = fault_of(text)
        if wrong:
            raise forms.ValidationError(capfirst(str(wrong)))

    return check


def _widget_of(field: ConfigField) -> forms.Widget | None:
    match field.editor:
        case Input.PARAGRAPH:
            return forms.Textarea({"rows": 2, "class": "ca-input", "dir": "auto"})
        case Input.PROMPT:
            return forms.Textarea({"rows": 12, "spellcheck": "true", "class": "ca-prompt__text"})
        case Input.SUGGESTIONS:
            return forms.TextInput(
                {"class": "ca-input", "autocomplete": "off", "spellcheck": "false"}
            )
        case Input.ADDRESS:
            return forms.TextInput({"class": "ca-input", "inputmode": "url"})
        case _:
            return None
