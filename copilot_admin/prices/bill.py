"""What a run cost: each model that it asked at the price it had when the run started."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from copilot_admin.engine.values.model_call import Usage
from copilot_admin.models import Outcome
from copilot_admin.prices.book import price_at
from copilot_admin.prices.cost import (
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


def bill_of(
    usages: Sequence[Usage], *, provider: str, model: str, at: datetime, outcome: Outcome
) -> Bill:
    """What a run cost; may read the database.

    Args:
        usages: A sum for each model that was asked.
        provider: That answered, by name; empty: nobody was asked.
        model: That answered.
        at: When the run started.
        outcome: How it ended.
    """
    if not provider:
        return Bill(NOTHING)
    price = price_at(provider, model, at)
    if not usages:
        # A leg that fetches data asks no model; where one was asked, a whole answer has its tokens.
        return Bill(NOTHING if outcome is Outcome.COMPLETED else cost_of(None, price), price)
    cost = together(_of(usage, provider=provider, model=model, at=at) for usage in usages)
    return Bill(cost if outcome in _WHOLE else at_best_estimated(cost), price)


def _of(usage: Usage, *, provider: str, model: str, at: datetime) -> Cost:
    """What one model cost; components say nothing of cached tokens, so theirs is a guess."""
    cost = cost_of(usage, price_at(provider, usage.model or model, at))
    return at_best_estimated(cost) if usage.model else cost
