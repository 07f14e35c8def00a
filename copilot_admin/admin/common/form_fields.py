"""Shared form fields and checks."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.text import capfirst

from copilot_admin.copilots.config_types import bidi_fault


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
