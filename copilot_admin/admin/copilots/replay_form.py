"""The form that begins a replay: which questions, who is asked, and the most that it may cost."""

from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.evaluation.replay_targets import WantedTarget
from copilot_admin.models import Copilot, Provider, ReplayTarget, SavedQuestion
from copilot_admin.models.pricing import COST

ALL = "all"
LABEL = "label:"
MOST_VERSIONS = 50  # that can be chosen, the newest
_CENTS = 6


class ReplayForm(forms.Form):
    """What a replay is begun with: which questions, who is asked, what it may cost."""

    questions = forms.ChoiceField(label=gettext_lazy("Questions"))
    target = forms.ChoiceField(
        label=gettext_lazy("Ask"),
        choices=ReplayTarget.choices,
        initial=ReplayTarget.DRAFT,
        widget=forms.RadioSelect,
    )
    version = forms.ChoiceField(label=gettext_lazy("Version"), required=False)
    provider = forms.ModelChoiceField(
        label=gettext_lazy("Provider of the other model"),
        queryset=Provider.objects.all(),
        required=False,
        empty_label=gettext_lazy("That of the draft"),
    )
    model = forms.CharField(
        label=gettext_lazy("Other model"), max_length=200, required=False, strip=True
    )
    most_cost = forms.DecimalField(
        label=gettext_lazy("Most that it may cost, in US dollars"),
        min_value=Decimal(0),
        max_digits=COST["max_digits"],
        decimal_places=_CENTS,
        required=False,
        help_text=gettext_lazy(
            "It stops before a question that would go beyond. Answers of unknown cost count nothing."
        ),
    )

    def __init__(self, copilot: Copilot, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # as the stubs of forms have it
        self.copilot = copilot
        rows = SavedQuestion.objects.filter(copilot=copilot).exclude(label="")
        labels = rows.order_by("label").values_list("label", flat=True).distinct()
        numbers = copilot.versions.order_by("-number").values_list("number", flat=True)
        fields: Any = self.fields
        fields["questions"].choices = [(ALL, _("All")), *((LABEL + one, one) for one in labels)]
        newest = [(str(one), str(one)) for one in numbers[:MOST_VERSIONS]]
        fields["version"].choices = [("", "–"), *newest]  # noqa: RUF001  # a dash

    def wanted(self) -> WantedTarget:
        """What the form asks a replay to do."""
        given = self.cleaned_data
        return WantedTarget(
            target=ReplayTarget(given["target"]),
            version_number=int(given["version"] or 0),
            provider=given["provider"],
            model=given["model"],
            most_cost=given["most_cost"],
        )

    @property
    def label(self) -> str:
        """The label of the questions that were chosen; empty: all."""
        which: str = self.cleaned_data["questions"]
        return which.removeprefix(LABEL) if which.startswith(LABEL) else ""

    def chosen(self) -> QuerySet[SavedQuestion]:
        """The questions that are asked."""
        rows = SavedQuestion.objects.filter(copilot=self.copilot)
        return rows.filter(label=self.label) if self.label else rows
