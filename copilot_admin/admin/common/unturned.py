"""Texts of forms whose signs stand in the order in which they are shown."""

from django import forms
from django.utils.text import capfirst

from copilot_admin.copilots.fields.text_checks import turning_sign_fault


def unturned(text: str) -> str:
    """The text, unless a sign in it turns its direction."""
    if wrong := turning_sign_fault(text):
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
