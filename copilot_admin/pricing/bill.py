"""What a run cost: each model that it asked at the price it had when the run started."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.models import Outcome
from copilot_admin.pricing.book import price_at
from copilot_admin.pricing.cost import (
    NOTHING,
    Cost,
    Price,
    at_best_estimated,
    cost_of,
    together,
)

# Of these the tokens of every question to a model were told, or estimated, by their end.
_WHOLE = frozenset({Outcome.COMPLETED, Outcome.TRUNCATED})


@dataclass(frozen=True, slots=True)
class Bill:
    """A cost, and the price of the model that answered."""

    cost: Cost
    price: Price | None = None

    @property
    def prices(self) -> Mapping[str, Decimal | None]:
        """The copy of a price that a run keeps, so that no later change of it changes the past."""
        kinds = ("input", "cached", "output", "reasoning")
        return {
            f"{kind}_price": getattr(self.price, kind) if self.price else None for kind in kinds
        }


def bill_of(
    usages: Sequence[Usage],
    *,
    provider: str,
    model: str,
    at: datetime,
    outcome: Outcome,
    kept: Price | None = None,
) -> Bill:
    """What a run cost; may read the database.

    Args:
        usages: A sum for each model that was asked.
        provider: That answered, by name; empty: nobody was asked.
        model: That answered.
        at: When the run started.
        outcome: How it ended.
        kept: The copy of its price that it has already; None: it has none.
    """
    if not provider:
        return Bill(NOTHING)
    price = kept or price_at(provider, model, at)
    if not usages:
        # A leg that fetches data asks no model; where one was asked, a whole answer has its tokens.
        return Bill(NOTHING if outcome is Outcome.COMPLETED else cost_of(None, price), price)
    cost = together(
        _of(usage, price_at(provider, usage.model, at) if usage.model else price)
        for usage in usages
    )
    return Bill(cost if outcome in _WHOLE else at_best_estimated(cost), price)


def _of(usage: Usage, price: Price | None) -> Cost:
    """What one model cost; components say nothing of cached tokens, so theirs is a guess."""
    cost = cost_of(usage, price)
    return at_best_estimated(cost) if usage.model else cost
