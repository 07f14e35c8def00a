"""Cost of tokens and of runs: exact, estimated or unknown, and unknown is not 0."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import CostConfidence, Outcome
from copilot_admin.models.pricing import PRICED_TOKENS
from copilot_admin.pricing.prices import Price, get_price

# All model requests of such runs reported their tokens, or these were estimated.
_COMPLETE_OUTCOMES = frozenset({Outcome.COMPLETED, Outcome.TRUNCATED})
_CENT = Decimal("0.01")
_MIN_SHOWN = Decimal("0.000001")
_DIGITS_BELOW_A_CENT = 2


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars; None if unknown, which is not 0."""

    amount: Decimal | None
    confidence: CostConfidence


UNKNOWN_COST = Cost(None, CostConfidence.UNKNOWN)
ZERO_COST = Cost(Decimal(0), CostConfidence.EXACT)


class RunCost(NamedTuple):
    """Cost of a run, and the price of the model that answered."""

    cost: Cost
    price: Price | None = None

    @property
    def price_fields(self) -> Mapping[str, Decimal | None]:
        """Copy of the price for the run's row: later changes of a price don't change the past."""
        kinds = ("input", "cached", "output", "reasoning")
        return {f"{kind}_price": getattr(self.price, kind, None) for kind in kinds}


def calculate_cost(usage: Usage | None, price: Price | None) -> Cost:
    """Calculate what the tokens of one model cost, unless the provider reported it.

    As OpenAI counts, cached tokens are part of the input and reasoning tokens part of the output, so
    no token is paid twice.
    """
    if usage is not None and usage.cost is not None:
        return Cost(usage.cost, CostConfidence.REPORTED)
    if price is not None and price.is_free:
        return ZERO_COST
    if price is None or usage is None:
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
    """Add costs: unknown if one of them is, otherwise estimated if one of them is."""
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
    """Calculate what a run cost at the prices of its start; may read the database."""
    if not provider:
        return RunCost(ZERO_COST)
    price = stored_price or get_price(provider, model, at)
    if not usages:
        # A completed step without tokens only fetched data; otherwise a model may have been asked.
        is_free = outcome is Outcome.COMPLETED
        return RunCost(ZERO_COST if is_free else calculate_cost(None, price), price)
    costs = []
    for usage in usages:
        cost = calculate_cost(usage, get_price(provider, usage.model, at) if usage.model else price)
        # A model is named by a component, which doesn't report cached tokens.
        if usage.model and cost.confidence is not CostConfidence.REPORTED:
            cost = mark_estimated(cost)
        costs.append(cost)
    cost = sum_costs(costs)
    if cost.confidence is CostConfidence.REPORTED:
        price = None  # nothing was calculated with it
    return RunCost(cost if outcome in _COMPLETE_OUTCOMES else mark_estimated(cost), price)


class FormattedCost(NamedTuple):
    """Short text for a row, and a sentence with the whole amount."""

    text: str
    sentence: str


def format_cost(amount: Decimal | None, confidence: str) -> FormattedCost:
    if amount is None or confidence == CostConfidence.UNKNOWN:
        sentence = _("Unknown: the model had no price, or its tokens were not counted.")
        return FormattedCost(_("unknown"), sentence)
    text = format_dollars(amount)
    sentence = _("Exactly %(amount)s US dollars.")
    if confidence == CostConfidence.REPORTED:
        sentence = _("The provider charged %(amount)s US dollars.")
    elif confidence == CostConfidence.ESTIMATED:
        text, sentence = f"≈ {text}", _("Estimated: %(amount)s US dollars.")
    return FormattedCost(text, sentence % {"amount": format_exact(amount)})


def format_cost_sums(sums: Any) -> FormattedCost:
    """Format the cost of several runs, such as those of a conversation or a turn."""
    is_estimated = sums.cost_is_estimated
    known = format_cost(
        sums.cost if sums.cost or not sums.n_unpriced else None,
        CostConfidence.ESTIMATED if is_estimated else CostConfidence.EXACT,
    )
    if not (sums.n_unpriced and sums.cost):
        return known
    sentence = _("%(known)s The cost of %(count)d more requests is unknown.")
    return FormattedCost(
        _("at least %(amount)s") % {"amount": known.text},
        sentence % {"known": known.sentence, "count": sums.n_unpriced},
    )


def format_dollars(amount: Decimal) -> str:
    """Format an amount with its significant digits: $12.30, $0.0042, < $0.000001."""
    if amount and amount < _MIN_SHOWN:
        return f"< ${_MIN_SHOWN:f}"
    if not amount or amount >= _CENT:
        return f"${amount.quantize(_CENT, ROUND_HALF_EVEN):,f}"
    places = Decimal(1).scaleb(amount.adjusted() - _DIGITS_BELOW_A_CENT + 1)
    return f"${amount.quantize(max(places, _MIN_SHOWN), ROUND_HALF_EVEN):f}"


def format_exact(amount: Decimal) -> str:
    """Format an amount with all digits but trailing zeros."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
