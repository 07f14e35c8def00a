"""The inputs of the form that the table of draft fields describes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from django import forms
from django.utils.functional import Promise
from django.utils.text import capfirst

from copilot_admin.admin.common.base import Fieldsets
from copilot_admin.admin.common.rows import RowForm, RowsField
from copilot_admin.admin.common.widgets import (
    BoundedText,
    DatalistInput,
    DescribedRadio,
    SwitchesWidget,
)
from copilot_admin.admin.copilots.components_field import ComponentsField
from copilot_admin.admin.copilots.data_rows import DataNoteRow
from copilot_admin.admin.copilots.prompt import PromptWidget
from copilot_admin.admin.copilots.rows import (
    CallLimitRow,
    CustomFeatureRow,
    FallbackRow,
    ModelChoiceRow,
    StepRow,
)
from copilot_admin.copilots import config_form, config_records
from copilot_admin.copilots.config import FORM_FIELDS, ConfigField, Line, fields_in
from copilot_admin.copilots.config_form import ACCESS_AND_LOGGING, SECTIONS, Choice, Input, Option
from copilot_admin.copilots.config_types import MAX_DESCRIPTION_LENGTH, StoredRecord

ROW_FORMS: Mapping[type[StoredRecord], type[RowForm]] = {
    config_records.ModelEntry: ModelChoiceRow,
    config_records.FallbackEntry: FallbackRow,
    config_records.CustomFeatureEntry: CustomFeatureRow,
    config_records.CallLimitEntry: CallLimitRow,
    config_records.StepEntry: StepRow,
    config_records.DataNoteEntry: DataNoteRow,
}
# What has a panel of its own once there is a copilot: no version holds it.
AT_ONCE = tuple(field.column for field in fields_in(ACCESS_AND_LOGGING))
AT_ONCE_PREFIX = "now"


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

    def shown(self, stored: Mapping[str, bool]) -> list[str]:
        """What is on in a stored draft."""
        return [one.value for one in self.switches if stored.get(one.value, one.default)]


class TextsField(RowsField):
    """A list of short texts, edited as rows of one input."""

    def clean(self, value: Any) -> list[str]:  # type: ignore[override]  # texts, not records
        return [row["text"] for row in super().clean(value)]

    def shown(self, stored: Sequence[str]) -> list[dict[str, str]]:
        """The rows that show stored texts."""
        return [{"text": text} for text in stored]


def inputs_of_the_table() -> dict[str, forms.Field]:
    """The inputs that are more than what Django draws for a column, by name."""
    found = {field.column: _input_of(field) for field in FORM_FIELDS}
    return {name: input for name, input in found.items() if input is not None}


def anchor_of(name: str) -> str:
    """The part of the address of a copilot's page that leads to an input."""
    return f"id_{AT_ONCE_PREFIX}-{name}" if name in AT_ONCE else f"id_{name}"


def shown(input: forms.Field, stored: Any) -> Any:
    """What an input shows of a stored value."""
    if isinstance(input, SwitchesField | TextsField | ComponentsField):
        return input.shown(stored)
    return stored


def widgets() -> dict[str, forms.Widget]:
    """The widgets of those columns that Django would draw otherwise."""
    found = {field.column: _widget_of(field) for field in FORM_FIELDS}
    return {name: widget for name, widget in found.items() if widget is not None}


def plain_columns() -> list[str]:
    """The columns of which Django makes inputs or at least stores the value."""
    return [field.column for field in FORM_FIELDS if _is_plain(field) or _widget_of(field)]


def _is_plain(field: ConfigField) -> bool:
    return isinstance(field.editor, Choice) or field.editor is Input.COLUMN


def labels() -> dict[str, str | Promise]:
    """The labels of the columns' own inputs."""
    return {field.column: field.label for field in FORM_FIELDS if _input_of(field) is None}


def help_texts() -> dict[str, str | Promise]:
    """The help of the columns' own inputs."""
    found = {field.column: field.help for field in FORM_FIELDS if _input_of(field) is None}
    return {name: text for name, text in found.items() if text}


def sections() -> Fieldsets:
    """The sections of the form, each with its lines of inputs."""
    return [
        (
            section.title,
            {
                "fields": _lines(fields_in(section)),
                **({"description": section.description} if section.description else {}),
            },
        )
        for section in SECTIONS
    ]


def _lines(fields: Sequence[ConfigField]) -> list[Line]:
    lines: list[Line] = []
    for field in fields:
        if field.is_beside:
            before = lines.pop()
            before = (before,) if isinstance(before, str) else before
            lines.append((*before, field.column))
        else:
            lines.extend(field.lines)
    return lines


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
        described["validators"] = [_refusing(texts.find_fault)]
    text = forms.CharField(**described)
    return type("TextRow", (RowForm,), {"noun": texts.noun, "text": text})


def _refusing(fault_of: Callable[[str], str | Promise]) -> Callable[[str], None]:
    def check(text: str) -> None:
        wrong = fault_of(text)
        if wrong:
            raise forms.ValidationError(capfirst(str(wrong)))

    return check


def _widget_of(field: ConfigField) -> forms.Widget | None:
    match field.editor:
        case Input.PARAGRAPH:
            return BoundedText(rows=3, most=MAX_DESCRIPTION_LENGTH)
        case Input.PROMPT:
            return PromptWidget()
        case Input.SUGGESTIONS:
            return DatalistInput()
        case Input.ADDRESS:
            return forms.TextInput(attrs={"inputmode": "url"})
        case _:
            return None
