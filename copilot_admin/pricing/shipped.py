"""The price that comes with the product: the built-in rehearsal asks no model and costs nothing.

It is a row as any other, which people see and may change, and no rule of its own: a cost of 0 is said
only where somebody said that the price is 0.
"""

from datetime import date
from decimal import Decimal

from copilot_admin.agent.providers.rehearsal import MODEL, Rehearsal
from copilot_admin.models import ModelPrice, Provider

ALWAYS = date(2000, 1, 1)


def price_new_rehearsal(*, instance: Provider, created: bool, raw: bool, **_: object) -> None:
    """Gives a provider that rehearses its price when it is made."""
    if not created or raw or instance.kind != Rehearsal.kind:
        return
    free = Decimal(0)
    ModelPrice.objects.create(
        provider=instance,
        model=MODEL,
        valid_from=ALWAYS,
        input=free,
        cached=free,
        output=free,
        reasoning=free,
    )
