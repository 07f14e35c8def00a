"""Form field for a list of records: its value is a list of dicts, its widget a formset.

Without JavaScript there are blank rows, a number for the order and a box for removal.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.forms.formsets import (
    DELETION_FIELD_NAME,
    ORDERING_FIELD_NAME,
    BaseFormSet,
    formset_factory,
)
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

MAX_ROWS = 100  # of one list
LIST_FIELDS = frozenset({DELETION_FIELD_NAME, ORDERING_FIELD_NAME})
Row = Mapping[str, Any]


class RowForm(forms.Form):
    """The fields of one row; `noun` names it on buttons and groups."""

    noun: ClassVar[str | Promise] = _("row")
    use_required_attribute = False

    @classmethod
    def initial_of(cls, row: Row) -> dict[str, Any]:
        """Return the values of the fields that show a stored row."""
        return dict(row)

    def has_changed(self) -> bool:
        return bool(set(self.changed_data) - LIST_FIELDS)

    def row(self) -> dict[str, Any]:
        """Return the row to store, from `cleaned_data`."""
        return {name: self.cleaned_data[name] for name in self.fields if name not in LIST_FIELDS}

    def own_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in LIST_FIELDS]


class RowFormSet(BaseFormSet):  # type: ignore[type-arg]  # generic in the stubs only
    """Rows that can be added, removed and ordered; values of the field `unique` must differ."""

    unique: ClassVar[str] = ""
    form: type[RowForm]

    def add_fields(self, form: forms.Form, index: int | None) -> None:
        super().add_fields(form, index)
        form.fields[ORDERING_FIELD_NAME].label = _("Position")
        form.fields[DELETION_FIELD_NAME].label = _("Remove")

    def clean(self) -> None:
        if not self.unique or not self.is_valid():
            return
        seen: set[str] = set()
        for form in self.ordered_forms:
            value = str(form.cleaned_data.get(self.unique, "")).lower()
            if value in seen:
                form.add_error(self.unique, _("Another row has this already. Choose another."))
                raise ValidationError(_("Two rows are the same."))
            seen.add(value)

    def rows(self) -> list[dict[str, Any]]:
        return [form.row() for form in self.ordered_forms]

    def initial_form_count(self) -> int:
        # No row that was sent must be filled: an emptied row is one less.
        return 0 if self.is_bound else super().initial_form_count()


class RowsWidget(forms.Widget):
    template_name = "admin/widgets/rows.html"
    use_fieldset = True

    def __init__(self, formset: type[RowFormSet], *, add_label: str | Promise) -> None:
        super().__init__()
        self.formset = formset
        self.add_label = add_label

    def value_from_datadict(self, data: Mapping[str, Any], files: object, name: str) -> RowFormSet:
        return self.formset(data, prefix=name)

    def value_omitted_from_data(self, data: Mapping[str, Any], files: object, name: str) -> bool:
        return f"{name}-TOTAL_FORMS" not in data

    def get_context(self, name: str, value: object, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, None, attrs)
        formset = value if isinstance(value, RowFormSet) else self.unbound(name, value)
        context["widget"] |= {
            "formset": formset,
            "add_label": self.add_label,
            "pattern": _pattern(self.formset, name, get_language()),
            "rows": [_render(row, number=str(i)) for i, row in enumerate(formset.forms, start=1)],
        }
        return context

    def unbound(self, name: str, value: object) -> RowFormSet:
        rows = value if isinstance(value, list) else []
        initial = [self.formset.form.initial_of(row) for row in rows if isinstance(row, dict)]
        return self.formset(initial=initial, prefix=name)

    def id_for_label(self, id_: str) -> str:
        return ""


@lru_cache(maxsize=256)
def _pattern(formset: type[RowFormSet], name: str, language: str | None) -> SafeString:
    """Render the row that scripts add, once: a long one takes 5 ms."""
    return _render(formset(prefix=name).empty_form, number="")


def _render(row: RowForm, *, number: str) -> SafeString:
    values = {"row": row, "noun": row.noun, "number": number}
    return render_to_string("admin/widgets/row.html", values)


class RowsField(forms.Field):
    widget: RowsWidget

    def __init__(
        self,
        form: type[RowForm],
        *,
        add_label: str | Promise,
        unique: str = "",
        blank_rows: int = 1,
        **options: Any,
    ) -> None:
        formset: type[RowFormSet] = formset_factory(  # type: ignore[assignment]  # of the class given
            form,
            formset=type(f"{form.__name__}Set", (RowFormSet,), {"unique": unique}),
            extra=blank_rows,
            can_order=True,
            can_delete=True,
            max_num=MAX_ROWS,
            validate_max=True,
        )
        super().__init__(required=False, widget=RowsWidget(formset, add_label=add_label), **options)

    def clean(self, value: RowFormSet) -> list[dict[str, Any]]:
        """Return the rows to store; the form of a wrong row has its errors."""
        if not value.is_valid():
            raise ValidationError([*value.non_form_errors(), _("See the marked rows below.")])
        return value.rows()

    def has_changed(self, initial: Sequence[Row] | None, data: Any) -> bool:
        return not data.is_valid() or data.rows() != list(initial or [])
