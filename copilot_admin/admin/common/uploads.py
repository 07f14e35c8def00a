"""Field and widget of several uploaded files."""

from typing import Any

from django import forms


class SeveralFiles(forms.FileInput):
    """An input that takes several files."""

    allow_multiple_selected = True


class UploadsField(forms.FileField):
    """Several files, each validated like one."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        clean = super().clean
        return [clean(one, initial) for one in data or [None]]
