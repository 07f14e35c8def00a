"""Dated prices of the models of a provider, in US dollars."""

from typing import TypedDict

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import CASCADE
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Provider

PRICED_TOKENS = 1_000_000  # a price is that of so many
MAX_PRICE = 100_000  # dollars; what is more was meant for something else than a million tokens


class DecimalOptions(TypedDict):
    max_digits: int
    decimal_places: int


# Six decimals of a price per million tokens are twelve per token, so costs are stored exactly.
PRICE = DecimalOptions(max_digits=12, decimal_places=6)
COST = DecimalOptions(max_digits=24, decimal_places=12)
PRICE_VALIDATORS = [MinValueValidator(0), MaxValueValidator(MAX_PRICE)]


class ModelPrice(models.Model):
    """The price of a million tokens of a model, valid from a day (UTC) until its next price.

    Without their own price, cached tokens cost as input and reasoning tokens as output; the cost is
    then an estimate.
    """

    provider = models.ForeignKey(
        Provider, CASCADE, related_name="prices", db_index=False, verbose_name=_("provider")
    )
    model = models.CharField(_("model"), max_length=200)
    valid_from = models.DateField(_("valid from"))
    input = models.DecimalField(_("input"), **PRICE, validators=PRICE_VALIDATORS)
    cached = models.DecimalField(
        _("cached input"), **PRICE, null=True, blank=True, validators=PRICE_VALIDATORS
    )
    output = models.DecimalField(_("output"), **PRICE, validators=PRICE_VALIDATORS)
    reasoning = models.DecimalField(
        _("reasoning"), **PRICE, null=True, blank=True, validators=PRICE_VALIDATORS
    )
    exact_up_to = models.PositiveIntegerField(_("exact up to"), null=True, blank=True)
    note = models.CharField(_("note"), max_length=200, blank=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        ordering = ["provider__name", "model", "-valid_from"]
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "model", "valid_from"],
                name="price_once_a_day",
                violation_error_message=_(
                    "This model has a price that begins on this day. Change that one."
                ),
            ),
            models.CheckConstraint(
                condition=models.Q(input__gte=0)
                & models.Q(output__gte=0)
                & (models.Q(cached=None) | models.Q(cached__gte=0))
                & (models.Q(reasoning=None) | models.Q(reasoning__gte=0)),
                name="price_not_negative",
                violation_error_message=_("A price is not less than 0."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.valid_from})"
