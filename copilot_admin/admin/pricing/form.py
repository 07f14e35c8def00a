"""Forms of a price and of a price file."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.forms import ModelForm
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.copilots.providers import ask_all, known_models
from copilot_admin.models import ModelPrice, Provider
from copilot_admin.pricing.cost import format_exact
from copilot_admin.pricing.imports import MAX_FILE_BYTES

PRICES = ("input", "cached", "output", "reasoning")


def today() -> date:
    """Return the current day in UTC, in which prices start."""
    return datetime.now(UTC).date()


def _date_input() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class PriceForm(ModelForm[ModelPrice]):
    class Meta:
        model = ModelPrice
        fields: ClassVar[list[str]] = [
            *("provider", "model", "valid_from", *PRICES, "exact_up_to", "note")
        ]
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "valid_from": _date_input(),
            **{kind: forms.NumberInput(attrs={"step": "any", "min": "0"}) for kind in PRICES},
        }
        help_texts: ClassVar[dict[str, str | Promise]] = {
            "model": gettext_lazy("The exact model ID."),
            "valid_from": gettext_lazy("From midnight UTC until the next price of the model."),
            "input": gettext_lazy("Enter 0 if it is free."),
            "cached": gettext_lazy("Leave blank to bill cached tokens as normal input (estimate)."),
            "output": gettext_lazy("Enter 0 if it is free."),
            "reasoning": gettext_lazy("Leave blank to bill reasoning as normal output (estimate)."),
            "exact_up_to": gettext_lazy(
                "Input tokens up to which the price applies. Costs above it are estimates. Leave blank "
                "if there is no such limit."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in PRICES:
            amount = self.initial.get(kind)
            if isinstance(amount, Decimal):
                self.initial[kind] = format_exact(amount)

    def clean_model(self) -> str:
        return str(self.cleaned_data["model"]).strip()


class PriceFileForm(forms.Form):
    """Price file, and the prices of it to import."""

    provider = forms.ModelChoiceField(
        label=gettext_lazy("Provider"),
        queryset=Provider.objects.order_by("name"),
        empty_label=gettext_lazy("Select…"),
    )
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "LiteLLM's model_prices_and_context_window.json, or a file like it."
        ),
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )
    only_listed = forms.BooleanField(
        label=gettext_lazy("Only models of the provider"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Compared with the provider's model list."),
    )
    vendor = forms.CharField(
        label=gettext_lazy("Vendor"),
        required=False,
        max_length=100,
        help_text=gettext_lazy(
            "The litellm_provider of the file, for example openai or azure. Leave blank for all."
        ),
    )
    day = forms.DateField(
        label=gettext_lazy("Valid from"),
        initial=today,
        widget=_date_input(),
        help_text=gettext_lazy("From midnight UTC. Earlier answers keep their cost."),
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        provider, file = values.get("provider"), values.get("file")
        if provider and values.get("only_listed") and (why := _explain_unlisted(provider)):
            self.add_error("only_listed", why)
        if file and file.size > MAX_FILE_BYTES:
            self.add_error("file", _("The file is larger than 20 MB."))
        return values


def _explain_unlisted(provider: Provider) -> str:
    if known_models(provider.pk):
        return ""
    why = ask_all({provider.name: provider}).get(provider.name, "")
    if known_models(provider.pk):
        return ""
    sentence = _(
        "The provider's model list isn't available. Import all models of the file instead."
    )
    return f"{sentence} {why}".strip()


class ChosenPricesForm(forms.Form):
    """Confirmed prices, sent back as a file."""

    provider = forms.ModelChoiceField(
        queryset=Provider.objects.order_by("name"), widget=forms.HiddenInput
    )
    day = forms.DateField(widget=forms.HiddenInput)
    text = forms.CharField(widget=forms.HiddenInput, max_length=MAX_FILE_BYTES)
