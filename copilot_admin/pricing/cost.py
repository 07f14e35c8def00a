"""Cost of tokens and of runs: exact, estimated or unknown, and unknown is not 0."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import CostConfidence, Outcome
from copilot_admin.models.pricing import PRICED_TOKENS
from copilot_admin.pricing.prices import Price, get_price

# All model requests of such runs reported their tokens, or these were estimated.
_COMPLETE_OUTCOMES = frozenset({Outcome.COMPLETED, Outcome.TRUNCATED})


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars; None if unknown, which is not 0."""

    amount: Decimal | None
    confidence: CostConfidence


UNKNOWN_COST = Cost(None, CostConfidence.UNKNOWN)
ZERO_COST = Cost(Decimal(0), CostConfidence.EXACT)


@dataclass(frozen=True, slots=True)
class RunCost:
    """Cost of a run, and the price of the model that answered."""

    cost: Cost
    price: Price | None = None

    @property
    def price_fields(self) -> Mapping[str, Decimal | None]:
        """Copy of the price for the run's row: later changes of a price don't change the past."""
        kinds = ("input", "cached", "output", "reasoning")
        return {
            f"{kind}_price": getattr(self.price, kind) if self.price else None for kind in kinds
        }


def calculate_cost(usage: Usage | None, price: Price | None) -> Cost:
    """Calculate what the tokens of one model cost, unless the provider reported it.

    As OpenAI counts, cached tokens are part of the input and reasoning tokens part of the output, so
    no token is paid twice.
    """
    if usage is not None and usage.cost is not None:
        return Cost(usage.cost, CostConfidence.REPORTED)
    if price is None:
        return UNKNOWN_COST
    if price.is_free:
        return ZERO_COST
    if usage is None:
        return UNKNOWN_COST
    cached = min(usage.cached_tokens, usage.input_tokens)
    reasoning = min(usage.reasoning_tokens, usage.output_tokens)
    parts = (
        (usage.input_tokens - cached) * price.input,
        cached * (price.input if price.cached is None else price.cached),
        (usage.output_tokens - reasoning) * price.output,
        reasoning * (price.output if price.reasoning is None else price.reasoning),
    )
    is_estimated = (
        usage.source is UsageSource.ESTIMATED
        or (cached > 0 and price.cached is None)
        or (reasoning > 0 and price.reasoning is None)
        or (price.exact_up_to is not None and usage.input_tokens > price.exact_up_to)
    )
    confidence = CostConfidence.ESTIMATED if is_estimated else CostConfidence.EXACT
    return Cost(sum(parts, Decimal(0)) / PRICED_TOKENS, confidence)


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """Add costs: unknown if one of them is, otherwise estimated if one of them is.

    They are reported by the provider if all of them are.
    """
    found = tuple(costs)
    amounts = [cost.amount for cost in found if cost.amount is not None]
    if len(amounts) < len(found):
        return UNKNOWN_COST
    kinds = {cost.confidence for cost in found}
    confidence = kinds.pop() if len(kinds) == 1 else CostConfidence.EXACT
    if CostConfidence.ESTIMATED in kinds:
        confidence = CostConfidence.ESTIMATED
    return Cost(sum(amounts, Decimal(0)), confidence)


def mark_estimated(cost: Cost) -> Cost:
    """Lower the confidence of a cost that may lack something; 0 stays 0."""
    return replace(cost, confidence=CostConfidence.ESTIMATED) if cost.amount else cost


def calculate_run_cost(
    usages: Sequence[Usage],
    *,
    provider: str,
    model: str,
    at: datetime,
    outcome: Outcome,
    stored_price: Price | None = None,
) -> RunCost:
    """Calculate what a run cost at the prices of its start; may read the database.

    `usages` has a sum for each model. `provider` is "" if none was asked.
    """
    if not provider:
        return RunCost(ZERO_COST)
    price = stored_price or get_price(provider, model, at)
    if not usages:
        # A completed step without tokens only fetched data; otherwise a model may have been asked.
        is_free = outcome is Outcome.COMPLETED
        return RunCost(ZERO_COST if is_free else calculate_cost(None, price), price)
    costs = []
    for usage in usages:
        if usage.model:  # of a component, which doesn't report cached tokens
            component_price = get_price(provider, usage.model, at)
            cost = calculate_cost(usage, component_price)
            is_reported = cost.confidence is CostConfidence.REPORTED
            costs.append(cost if is_reported else mark_estimated(cost))
        else:
            costs.append(calculate_cost(usage, price))
    cost = sum_costs(costs)
    if cost.confidence is CostConfidence.REPORTED:
        price = None  # nothing was calculated with it
    return RunCost(cost if outcome in _COMPLETE_OUTCOMES else mark_estimated(cost), price)
