"""Forms of alert rules and digests."""

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.widgets import DatalistInput
from copilot_admin.alerts.deliveries import can_send_mail, parse_mail_addresses
from copilot_admin.alerts.rules import WINDOW_LABELS, RuleKind, Unit
from copilot_admin.copilots.config_types import tag_fault
from copilot_admin.copilots.tags import known_tags
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import AlertRule, Copilot
from copilot_admin.pricing.money import format_exact

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


UNITS: dict[Unit, str | Promise] = {
    Unit.NUMBER: gettext_lazy("number"),
    Unit.PERCENT: gettext_lazy("per cent"),
    Unit.DOLLARS: gettext_lazy("US dollars"),
}


class RuleForm(ToldForm):
    """A rule of one kind, which a subclass names."""

    kind: ClassVar[RuleKind | None] = None
    muted_until = forms.DateTimeField(  # the admin's own is two inputs
        label=gettext_lazy("Muted until"),
        required=False,
        help_text=gettext_lazy(
            "Until then nobody is told; alerts still open and close. The time is UTC."
        ),
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S"
        ),
    )

    class Meta:
        model = AlertRule
        fields: ClassVar[list[str]] = [
            "name",
            "threshold",
            "window",
            "minimum",
            "copilot",
            "tag",
            "mails",
            "webhook",
            "muted_until",
            "enabled",
        ]
        widgets: ClassVar[dict[str, Any]] = {
            **ToldForm.WIDGETS,
            "threshold": forms.NumberInput(attrs={"step": "any", "min": "0"}),
        }
        help_texts: ClassVar[dict[str, str | Promise]] = HELP

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind, fields = self.kind, self.fields
        if kind is None or "window" not in fields:
            return
        choices = [(one.value, WINDOW_LABELS[one]) for one in kind.windows]
        fields["window"] = forms.ChoiceField(
            label=_("Within"),
            choices=choices,
            help_text=_("The hour that runs counts too, beside the full ones before it."),
        )
        label = _("At most (%(unit)s)") if kind.is_low_bad else _("From (%(unit)s)")
        fields["threshold"].label = label % {"unit": UNITS[kind.unit]}
        fields["threshold"].help_text = str(kind.help)
        if kind.minimum_label:
            fields["minimum"].label = _("With at least (%(what)s)") % {"what": kind.minimum_label}
            fields["minimum"].help_text = _("With fewer nobody is told.")
        if self.instance.pk:
            self.initial["threshold"] = format_exact(self.instance.threshold)
        else:
            self.initial.update(threshold=kind.threshold, minimum=kind.minimum)

    def clean_threshold(self) -> Any:
        """Refuses a threshold that is always reached."""
        threshold = self.cleaned_data["threshold"]
        kind = self.kind
        if kind is None:
            return threshold
        if not threshold and not kind.is_low_bad:
            raise forms.ValidationError(_("At 0 it would always tell. Enter more."))
        if kind.unit is Unit.PERCENT and threshold > 100:
            raise forms.ValidationError(_("More than 100 per cent is never reached."))
        return threshold
