"""The form of a rule: what it asks depends on what is watched."""

from typing import Any, ClassVar

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.alerts.told_form import HELP, ToldForm
from copilot_admin.alerts.rules import WINDOW_LABELS, RuleKind, Unit
from copilot_admin.models import AlertRule
from copilot_admin.pricing.money import format_exact

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
