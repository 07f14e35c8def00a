"""Rows of a list whose inputs are made of what a record says of its keys."""

from typing import Any, ClassVar, get_args

from django import forms
from django.core.validators import RegexValidator
from pydantic.fields import FieldInfo

from copilot_admin.admin.common.rows import RowForm
from copilot_admin.copilots.config_records import Shown, constraints_of, inputs_of
from copilot_admin.copilots.config_types import Shape, StoredRecord


class RecordRow(RowForm):
    """A row that is edited as a form and stored as a record is.

    Attributes:
        record: What one row is.
    """

    record: ClassVar[type[StoredRecord]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.declared_fields = {**form_inputs_of(cls.record), **cls.declared_fields}

    def values(self) -> dict[str, Any]:
        """The values of the record's keys, from `cleaned_data`."""
        return super().row()

    def row(self) -> dict[str, Any]:
        """The row to store: the same as that of a file."""
        return self.record.model_construct(**self.values()).row()


def form_inputs_of(record: type[Shape]) -> dict[str, forms.Field]:
    """The inputs by name, in the order of the record's keys; a group's are among them."""
    found: dict[str, forms.Field] = {}
    for key, field in record.model_fields.items():
        inputs = {shown.name or key: _input_of(field, shown) for shown in inputs_of(field)}
        group = _group_in(field.annotation)
        found |= form_inputs_of(group) if group and not inputs else inputs
    return found


def _group_in(annotation: Any) -> type[Shape] | None:
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, Shape):
            return kind
    return None


def _input_of(field: FieldInfo, shown: Shown) -> forms.Field:
    common: dict[str, Any] = {"label": shown.label, "help_text": shown.help}
    if shown.is_switch:
        return forms.BooleanField(required=False, **common)
    if shown.options:
        return forms.ChoiceField(choices=shown.options, initial=shown.options[0][0], **common)
    if field.annotation is int:
        return forms.IntegerField(**_bounds_of(field), **common)
    limits = constraints_of(field)
    if limits.pattern:
        # In Python a `$` also stands before a line break at the end.
        misfit: Any = shown.mismatch
        pattern = str(limits.pattern).removesuffix("$") + r"\Z"
        common["validators"] = [RegexValidator(pattern, message=misfit)]
    if shown.lines:
        common["widget"] = forms.Textarea(attrs={"rows": shown.lines})
    return forms.CharField(
        required=field.is_required() and not shown.is_optional,
        max_length=shown.max_length or limits.max_length,
        **common,
    )


def _bounds_of(field: FieldInfo) -> dict[str, Any]:
    named = {"ge": "min_value", "le": "max_value"}
    return {
        named[name]: getattr(one, name)
        for one in field.metadata
        for name in named
        if hasattr(one, name)
    }
