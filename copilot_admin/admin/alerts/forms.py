"""Forms of alert rules and weekly digests."""

import re
from typing import Any, ClassVar

from django import forms
from django.core.validators import MaxLengthValidator, validate_email
from django.db.models import Q
from django.utils.dates import WEEKDAYS
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.widgets import DatalistInput
from copilot_admin.alerts.deliveries import can_send_mail
from copilot_admin.alerts.rules import WINDOW_LABELS, RuleKind, Unit
from copilot_admin.copilots.config_types import tag_fault
from copilot_admin.copilots.names import known_tags
from copilot_admin.models import Copilot
from copilot_admin.models.alerts import MAX_MAIL_ADDRESS_LENGTH
from copilot_admin.pricing.cost import format_exact

MAX_MAIL_ADDRESSES = 20
RECIPIENTS = ("mails", "webhook")
SCOPE = ("copilot", "tag")
HELP: dict[str, str | Promise] = {
    "copilot": gettext_lazy("Leave blank for all copilots, or for those with the tag."),
    "tag": gettext_lazy("All copilots with this tag, counted together."),
    "mails": gettext_lazy("One email address per line."),
}
UNITS: dict[Unit, str | Promise] = {
    Unit.NUMBER: gettext_lazy("number"),
    Unit.PERCENT: gettext_lazy("%"),
    Unit.DOLLARS: gettext_lazy("US dollars"),
}
_NO_MAIL = gettext_lazy(
    "This server can't send email. Set EMAIL_HOST and EMAIL_FROM, or choose a webhook."
)


class RecipientsForm(forms.ModelForm[Any]):
    """A form with the copilots that are watched and the recipients of messages."""

    WIDGETS: ClassVar[dict[str, Any]] = {
        "tag": DatalistInput,
        "mails": forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "dir": "ltr"}),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not set(RECIPIENTS + SCOPE) <= set(self.fields):
            return  # read-only
        fields: dict[str, Any] = self.fields
        offered = Copilot.objects.filter(
            Q(archived_at=None) | Q(pk=self.instance.copilot_id), deletion_requested_at=None
        )
        fields["copilot"].queryset = offered.only("name").by_name()
        fields["copilot"].empty_label = _("All copilots")
        fields["tag"].widget.suggestions = tuple(known_tags(Copilot.objects.all()))
        if not can_send_mail():
            fields["mails"].help_text = _NO_MAIL

    def clean_tag(self) -> str:
        tag = " ".join(self.cleaned_data["tag"].split())
        if tag and (wrong := tag_fault(tag)):
            raise forms.ValidationError(str(wrong), code="tag")
        return tag

    def clean_mails(self) -> str:
        """Return the addresses, one per line and each once."""
        typed = re.split(r"[\s,;]+", self.cleaned_data["mails"].strip())
        found = {address.casefold(): address for address in typed if address}
        for address in found.values():
            try:
                MaxLengthValidator(MAX_MAIL_ADDRESS_LENGTH)(address)
                validate_email(address)
            except forms.ValidationError:
                shown = _("“%(text)s” isn't a mail address.") % {"text": address[:80]}
                raise forms.ValidationError(shown, code="mails") from None
        if len(found) > MAX_MAIL_ADDRESSES:
            text = _("At most %(max)d addresses are allowed. Use a mailing list for more.")
            raise forms.ValidationError(text % {"max": MAX_MAIL_ADDRESSES}, code="mails")
        mails = "\n".join(found.values())
        if mails and mails != self.instance.mails and not can_send_mail():
            raise forms.ValidationError(_NO_MAIL, code="no-mail-server")
        return mails

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or self.cleaned_data
        if found.get("copilot") and found.get("tag"):
            self.add_error("tag", _("Choose a copilot or a tag, not both."))
        if not any(found.get(name) or name in self.errors for name in RECIPIENTS):
            self.add_error("mails", _("Enter an email address or choose a webhook."))
        return found


class RuleForm(RecipientsForm):
    """A rule of one kind, which a subclass names."""

    kind: ClassVar[RuleKind | None] = None

    class Meta:
        widgets: ClassVar[dict[str, Any]] = {
            **RecipientsForm.WIDGETS,
            "threshold": forms.NumberInput(attrs={"step": "any", "min": "0"}),
        }
        help_texts: ClassVar[dict[str, str | Promise]] = {
            **HELP,
            "muted_until": gettext_lazy(
                "No messages are sent until then. Alerts still open and close."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind, fields = self.kind, self.fields
        if kind is None or "window" not in fields:
            return
        fields["window"] = forms.ChoiceField(
            label=_("Period"),
            choices=[(one.value, WINDOW_LABELS[one]) for one in kind.windows],
            help_text=_("Includes the current hour."),
        )
        label = _("At most (%(unit)s)") if kind.is_low_bad else _("At least (%(unit)s)")
        fields["threshold"].label = label % {"unit": UNITS[kind.unit]}
        fields["threshold"].help_text = str(kind.help)
        if kind.minimum_label:
            fields["minimum"].label = _("Minimum %(what)s") % {"what": kind.minimum_label}
            fields["minimum"].help_text = _("With fewer, no alert opens.")
        if self.instance.pk:
            self.initial["threshold"] = format_exact(self.instance.threshold)
        else:
            self.initial.update(threshold=kind.threshold, minimum=kind.minimum)

    def clean_threshold(self) -> Any:
        threshold, kind = self.cleaned_data["threshold"], self.kind
        if kind is None:
            return threshold
        if not threshold and not kind.is_low_bad:
            raise forms.ValidationError(
                _("With 0 the alert would always be open. Enter a higher value."), code="zero"
            )
        if kind.unit is Unit.PERCENT and threshold > 100:
            raise forms.ValidationError(_("Enter at most 100 %."), code="percent")
        return threshold


class DigestForm(RecipientsForm):
    weekday = forms.TypedChoiceField(
        label=gettext_lazy("Day"), coerce=int, choices=list(WEEKDAYS.items())
    )
    hour = forms.TypedChoiceField(
        label=gettext_lazy("Hour (UTC)"),
        coerce=int,
        choices=[(hour, f"{hour:02}:00") for hour in range(24)],
        initial=7,
    )

    class Meta:
        widgets: ClassVar[dict[str, Any]] = RecipientsForm.WIDGETS
        help_texts: ClassVar[dict[str, str | Promise]] = HELP
