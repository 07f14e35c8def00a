"""Lets the uploaded image of a version come with the version that was put into the form."""

from typing import TYPE_CHECKING, Any

from django import forms

from copilot_admin.models import Copilot

if TYPE_CHECKING:
    _Form = forms.ModelForm[Copilot]
else:
    _Form = object  # a mixin: the form below it is made of the model


class VersionImage(_Form):
    """A form of a copilot that carries the number of the version whose image it shows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["image_of"] = forms.IntegerField(
            required=False, min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput
        )

    def take_image(self) -> None:
        """Gives the draft the uploaded image of that version; none where that has none."""
        number = self.cleaned_data.get("image_of")
        found = self.instance.versions.filter(number=number).first() if number else None
        if found is not None:
            drawn = Copilot()
            drawn.picture = str(found.document.get("image") or "")
            self.instance.image = drawn.image.name
