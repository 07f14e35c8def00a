"""Form fields that the admin shares."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.text import capfirst

from copilot_admin.copilots.config_types import bidi_fault


def with_plain_newlines(data: QueryDict) -> QueryDict:
    """What a browser sent, with the lines of every text as they were typed.

    HTML sends each end of a line as two characters. Kept so, a text that came of a file would differ
    in all its lines once somebody has saved it.
    """
    plain = data.copy()
    for name, values in data.lists():
        plain.setlist(name, [_plain(value) for value in values])
    return plain


def _plain(value: str) -> str:
    return value.replace("\r\n", "\n")


def unturned(text: str) -> str:
    """The text, unless a sign in it turns its direction."""
    if wrong := bidi_fault(text):
        raise forms.ValidationError(capfirst(wrong))
    return text


def check_unturned(text: str) -> None:
    """The same as a validator of a field."""
    unturned(text)


def refuse_turned(form: forms.BaseForm) -> None:
    """Refuses such a text in each field of a form that takes texts."""
    for field in form.fields.values():
        if isinstance(field, forms.CharField):
            field.validators.append(check_unturned)


class SeveralFiles(forms.FileInput):
    """An input that takes several files."""

    allow_multiple_selected = True


class UploadsField(forms.FileField):
    """Several files, each validated like one."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        clean = super().clean
        return [clean(one, initial) for one in data or [None]]
