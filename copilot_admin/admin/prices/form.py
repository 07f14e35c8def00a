"""The form of a price, and that of a file of prices."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.forms import ModelForm
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.copilots.model_lists import ask_all, known_models
from copilot_admin.models import ModelPrice, Provider
from copilot_admin.pricing.litellm import MAX_FILE_BYTES
from copilot_admin.pricing.money import format_exact

PRICES = ("input", "cached", "output", "reasoning")


def today() -> date:
    """The day that it is in UTC, by which prices begin."""
    return datetime.now(UTC).date()


def _date_input() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class PriceForm(ModelForm[ModelPrice]):
    """A price of a model from a day on."""

    class Meta:
        model = ModelPrice
        fields: ClassVar[list[str]] = [
            "provider",
            "model",
            "valid_from",
            *PRICES,
            "exact_up_to",
            "note",
        ]
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "valid_from": _date_input(),
            **{kind: forms.NumberInput(attrs={"step": "any", "min": "0"}) for kind in PRICES},
        }
        help_texts: ClassVar[dict[str, str | Promise]] = {
            "model": gettext_lazy("The id by which copilots name it, letter by letter."),
            "valid_from": gettext_lazy(
                "From midnight UTC of this day on, until the day of the model's next price."
            ),
            "input": gettext_lazy("US dollars for a million tokens. 0: it is free."),
            "cached": gettext_lazy(
                "Empty: cached tokens are reckoned as other input, and the cost is an estimate."
            ),
            "output": gettext_lazy("US dollars for a million tokens. 0: it is free."),
            "reasoning": gettext_lazy(
                "Empty: reasoning is reckoned as other output, and the cost is an estimate. Where "
                "the provider takes the same for both, enter the same."
            ),
            "exact_up_to": gettext_lazy(
                "Tokens of input above which the provider takes other prices: costs above it are "
                "estimates. Empty: there is no such limit."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in PRICES:
            amount = self.initial.get(kind)
            if isinstance(amount, Decimal):
                self.initial[kind] = format_exact(amount)

    def clean_model(self) -> str:
        """The id without blanks around it."""
        return str(self.cleaned_data["model"]).strip()


class PriceFileForm(forms.Form):
    """Which prices of a file are taken, and from when on."""

    provider = forms.ModelChoiceField(
        label=gettext_lazy("Provider"), queryset=Provider.objects.order_by("name")
    )
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "LiteLLM's model_prices_and_context_window.json, or one of its form."
        ),
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )
    only_listed = forms.BooleanField(
        label=gettext_lazy("Only models that the provider lists"),
        required=False,
        initial=True,
        help_text=gettext_lazy(
            "As they were when its models were last fetched; else it is asked now."
        ),
    )
    vendor = forms.CharField(
        label=gettext_lazy("Only entries of"),
        required=False,
        max_length=100,
        help_text=gettext_lazy(
            "As the file names it under litellm_provider: openai, azure, mistral. Empty: all."
        ),
    )
    day = forms.DateField(
        label=gettext_lazy("Valid from"),
        initial=today,
        widget=_date_input(),
        help_text=gettext_lazy(
            "From midnight UTC of this day on. Earlier answers keep their cost."
        ),
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        provider, file = values.get("provider"), values.get("file")
        if provider and values.get("only_listed") and (why := _why_unlisted(provider)):
            self.add_error("only_listed", why)
        if file and file.size > MAX_FILE_BYTES:
            self.add_error("file", _("The file is larger than 20 MB. LiteLLM's has less than 2."))
        return values


def _why_unlisted(provider: Provider) -> str:
    if known_models(provider.pk):
        return ""
    why = ask_all({provider.name: provider}).get(provider.name, "")
    if known_models(provider.pk):
        return ""
    sentence = _(
        "The provider did not say which models it has. Take all models of the file instead."
    )
    return f"{sentence} {why}".strip()


class ChosenPricesForm(forms.Form):
    """What was looked at and shall be taken: the prices once more, as a file."""

    provider = forms.ModelChoiceField(
        queryset=Provider.objects.order_by("name"), widget=forms.HiddenInput
    )
    day = forms.DateField(widget=forms.HiddenInput)
    text = forms.CharField(widget=forms.HiddenInput, max_length=MAX_FILE_BYTES)
