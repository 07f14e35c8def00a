"""The field of an uploaded file, which says when the file was too large to reach the form."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files import File
from django.utils.translation import gettext as _

from copilot_admin.http.form_bodies import TOO_LARGE_TYPE


class SeveralFiles(forms.FileInput):
    """An input that takes several files."""

    allow_multiple_selected = True


class UploadField(forms.FileField):
    """A file; of one that the edge left out, nothing has come but its name."""

    def to_python(self, data: Any) -> "File[bytes] | None":
        """The file that was sent, if it was sent whole."""
        if data is not None and data.content_type == TOO_LARGE_TYPE:
            megabytes = settings.MAX_BODY_BYTES / (1024 * 1024)
            raise forms.ValidationError(
                _(
                    "This file is larger than the %(megabytes)g MB this server accepts. Choose a "
                    "smaller one; everything else is as you typed it."
                ),
                params={"megabytes": megabytes},
            )
        return super().to_python(data)


class UploadsField(UploadField):
    """Several files; each as `UploadField` takes one."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        """The files that were sent, if all were sent whole."""
        clean = super().clean
        return [clean(one, initial) for one in data or [None]]
