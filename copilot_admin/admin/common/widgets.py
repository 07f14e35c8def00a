"""Widgets with templates of the project, fields and checks that several forms share."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.text import capfirst

from copilot_admin.copilots.config_types import bidi_fault

Text = str | Promise


class DescribedRadio(forms.RadioSelect):
    template_name = "admin/widgets/described_choices.html"
    use_fieldset = True

    def __init__(self, descriptions: Mapping[str, Text], choices: Iterable[Any] = ()) -> None:
        super().__init__(choices=choices)
        self.descriptions = descriptions

    def create_option(self, name: str, value: Any, *rest: Any, **options: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *rest, **options)
        option["description"] = self.descriptions.get(str(value), "")
        if option["description"]:
            option["attrs"]["aria-describedby"] = f"{option['attrs'].get('id', name)}_help"
        return option


class SwitchesWidget(DescribedRadio, forms.CheckboxSelectMultiple):
    """Checkboxes with a description each."""


class DatalistInput(forms.TextInput):
    template_name = "admin/widgets/datalist.html"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self.suggestions: tuple[str, ...] = ()

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        list_id = f"{(attrs or {}).get('id', name)}_list"
        context = super().get_context(name, value, {**(attrs or {}), "list": list_id})
        context["widget"] |= {"list_id": list_id, "suggestions": self.suggestions}
        return context


class Searched(forms.SelectMultiple):
    template_name = "admin/widgets/searched.html"


class SearchedOne(forms.Select):
    """Searchable choice; its first option is blank."""

    template_name = "admin/widgets/searched.html"


def with_plain_newlines(data: QueryDict) -> QueryDict:
    """Return form data with the line ends of Unix instead of those that browsers send.

    Otherwise saving a text from a file would change all its lines.
    """
    plain = data.copy()
    for name, values in data.lists():
        plain.setlist(name, [value.replace("\r\n", "\n") for value in values])
    return plain


def reject_bidi_controls(text: str) -> None:
    if wrong := bidi_fault(text):
        raise forms.ValidationError(capfirst(wrong))


class SeveralFiles(forms.FileInput):
    allow_multiple_selected = True


class UploadsField(forms.FileField):
    """Field for several files, each validated like one."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        clean = super().clean
        return [clean(one, initial) for one in data or [None]]
