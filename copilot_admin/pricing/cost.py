"""How a cost follows from tokens and a price; nothing here reads anything."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import CostConfidence
from copilot_admin.models.prices import PRICED_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost, in US dollars.

    Attributes:
        cached: Of tokens that are read again; None: as `input`, which is a guess.
        reasoning: Of tokens that are thought; None: as `output`, which is a guess.
        exact_up_to: Tokens read, above which the provider takes other prices.
    """

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    reasoning: Decimal | None = None
    exact_up_to: int | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether every token is free, so that nobody needs to count them."""
        return not (self.input or self.output or self.cached or self.reasoning)


@dataclass(frozen=True, slots=True)
class Cost:
    """What something cost, in US dollars; `amount` None: nobody knows, which is not 0."""

    amount: Decimal | None
    confidence: CostConfidence

    @property
    def is_known(self) -> bool:
        """Whether there is an amount."""
        return self.amount is not None


UNKNOWN = Cost(None, CostConfidence.UNKNOWN)
NOTHING = Cost(Decimal(0), CostConfidence.EXACT)


def cost_of(usage: Usage | None, price: Price | None) -> Cost:
    """What the tokens of a model cost.

    Cached tokens are some of those read, and those of reasoning some of those written, as OpenAI
    counts: none is paid twice.

    Args:
        usage: The tokens; None: nobody counted them.
        price: That was valid; None: there was none.
    """
    if price is None:
        return UNKNOWN
    if price.is_nothing:
        return NOTHING
    if usage is None:
        return UNKNOWN
    cached = min(usage.cached_tokens, usage.input_tokens)
    reasoning = min(usage.reasoning_tokens, usage.output_tokens)
    parts = (
        (usage.input_tokens - cached) * price.input,
        cached * (price.input if price.cached is None else price.cached),
        (usage.output_tokens - reasoning) * price.output,
        reasoning * (price.output if price.reasoning is None else price.reasoning),
    )
    is_guess = (
        usage.source is UsageSource.ESTIMATED
        or (cached > 0 and price.cached is None)
        or (reasoning > 0 and price.reasoning is None)
        or (price.exact_up_to is not None and usage.input_tokens > price.exact_up_to)
    )
    confidence = CostConfidence.ESTIMATED if is_guess else CostConfidence.EXACT
    return Cost(sum(parts, Decimal(0)) / PRICED_TOKENS, confidence)


def together(costs: Iterable[Cost]) -> Cost:
    """What several things cost; unknown if one of them is, and a guess if one of them is."""
    found = tuple(costs)
    amounts = [cost.amount for cost in found if cost.amount is not None]
    if len(amounts) < len(found):
        return UNKNOWN
    is_guess = any(cost.confidence is CostConfidence.ESTIMATED for cost in found)
    confidence = CostConfidence.ESTIMATED if is_guess else CostConfidence.EXACT
    return Cost(sum(amounts, Decimal(0)), confidence)


def at_best_estimated(cost: Cost) -> Cost:
    """A cost of which something may be missing; nothing stays nothing."""
    if not cost.amount:
        return cost
    return replace(cost, confidence=CostConfidence.ESTIMATED)
