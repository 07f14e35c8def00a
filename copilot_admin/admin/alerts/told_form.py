"""What the forms of rules and digests share: which copilots, and who is told."""

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.widgets import DatalistInput
from copilot_admin.alerts.deliveries import can_send_mail, parse_mail_addresses
from copilot_admin.copilots.fields.values import tag_fault
from copilot_admin.copilots.tags import known_tags
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot

if TYPE_CHECKING:
    _ModelForm = forms.ModelForm[Any]
else:
    _ModelForm = forms.ModelForm

WHO = ("mails", "webhook")
WHICH = ("copilot", "tag")
HELP: dict[str, str | Promise] = {
    "copilot": gettext_lazy("None: those with the tag, or all."),
    "tag": gettext_lazy("Copilots with this tag, all taken together."),
    "mails": gettext_lazy("An address a line. Each gets a mail of its own."),
}


class ToldForm(_ModelForm):
    """A form with copilots and recipients."""

    WIDGETS: ClassVar[dict[str, Any]] = {
        "tag": DatalistInput,
        "mails": forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "dir": "ltr"}),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not set(WHO + WHICH) <= set(self.fields):
            return  # somebody who may only look
        fields: dict[str, Any] = self.fields
        # What is in the archive is offered only where it is chosen.
        offered = Copilot.objects.filter(
            Q(archived_at=None) | Q(pk=self.instance.copilot_id), deletion_requested_at=None
        )
        fields["copilot"].queryset = offered.only("name").by_name()
        fields["copilot"].empty_label = _("All, or those with the tag")
        tags = known_tags(Copilot.objects.all())
        fields["tag"].widget.suggestions = tuple(one.tag for one in tags)
        if not can_send_mail():
            sentence = _("This server sends no mail: EMAIL_HOST and EMAIL_FROM are not set.")
            fields["mails"].help_text = sentence

    def clean_tag(self) -> str:
        """A tag on one line."""
        tag = " ".join(self.cleaned_data["tag"].split())
        if tag and (wrong := tag_fault(tag)):
            raise forms.ValidationError(str(wrong))
        return tag

    def clean_mails(self) -> str:
        """Addresses, one a line."""
        try:
            return "\n".join(parse_mail_addresses(self.cleaned_data["mails"]))
        except ConfigurationError as error:
            raise forms.ValidationError(error.public) from error

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or self.cleaned_data
        if found.get("copilot") and found.get("tag"):
            self.add_error("tag", _("Choose a copilot or a tag, not both."))
        if not any(found.get(name) or name in self.errors for name in WHO):
            self.add_error(
                "mails", _("Nobody would be told. Enter an address or choose a webhook.")
            )
        return found
