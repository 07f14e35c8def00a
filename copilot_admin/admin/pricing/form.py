"""Form of a price."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.forms import ModelForm
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from copilot_admin.models import ModelPrice
from copilot_admin.pricing.cost import format_exact

PRICES = ("input", "cached", "output", "reasoning")


def today() -> date:
    """Return the current day in UTC, in which prices start."""
    return datetime.now(UTC).date()


class PriceForm(ModelForm[ModelPrice]):
    class Meta:
        model = ModelPrice
        fields: ClassVar[list[str]] = [
            *("provider", "model", "valid_from", *PRICES, "exact_up_to", "note")
        ]
        widgets: ClassVar[dict[str, forms.Widget]] = {
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
