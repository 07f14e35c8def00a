"""Prices as tests write them: two numbers, as a value or as a row."""

from datetime import date
from decimal import Decimal
from typing import Any

from copilot_admin.models import ModelPrice, Provider
from copilot_admin.pricing.prices import Price
from tests.factories import make_provider


def price(given: str, made: str, **others: Any) -> Price:
    """What a million tokens cost, of those read and of those written."""
    kinds = {
        name: Decimal(value) if isinstance(value, str) else value for name, value in others.items()
    }
    return Price(input=Decimal(given), output=Decimal(made), **kinds)


def make_price(provider: Provider | None = None, **changes: Any) -> ModelPrice:
    """A price that is valid since 2026."""
    return ModelPrice.objects.create(
        **{
            "provider": provider or make_provider(kind="openai_compatible"),
            "model": "gpt",
            "valid_from": date(2026, 1, 1),
            "input": Decimal(2),
            "output": Decimal(8),
            **changes,
        }
    )
