"""The form with which an export of a filtered list is begun."""

from django import forms
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.transcripts.way import LIST
from copilot_admin.transcripts.exports.formats import FORMATS
from copilot_admin.transcripts.exports.reading import ExportOptions

PROMPTS = "copilot_admin.view_copilot"  # who may see what a copilot is told


class ExportForm(forms.Form):
    """The format, what is wanted beside what was said, and the filters of the list.

    Args:
        with_prompts: Whether system prompts are for this person.
    """

    format = forms.ChoiceField(label=_("Written as"), widget=forms.RadioSelect)
    with_data = forms.BooleanField(
        label=_("With data"),
        required=False,
        help_text=_(
            "What Workspace sent back for function calls, what tools gave, tables and charts. Without "
            "it the file says where something was left out. A CSV file never has it."
        ),
    )
    with_prompts = forms.BooleanField(
        label=_("With system prompts"),
        required=False,
        help_text=_(
            "Of the version that answered, as the first message of a chat. JSONL alone has it."
        ),
    )

    def __init__(self, *args: object, with_prompts: bool, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as the stubs of forms have it
        choices = [(one.name, f"{one.label}: {one.help}") for one in FORMATS.values()]
        self.fields["format"] = forms.ChoiceField(
            label=_("Written as"), choices=choices, initial="csv", widget=forms.RadioSelect
        )
        if not with_prompts:
            del self.fields["with_prompts"]
        self.fields[LIST] = forms.CharField(required=False, widget=forms.HiddenInput)

    @property
    def options(self) -> ExportOptions:
        """What is wanted, of a form that is valid."""
        wanted = self.cleaned_data
        return ExportOptions(
            with_data=wanted["with_data"], with_prompts=wanted.get("with_prompts", False)
        )
