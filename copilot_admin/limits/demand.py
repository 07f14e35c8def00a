"""What one request asks of the counters, and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from limits import RateLimitItem, RateLimitItemPerMinute

from copilot_admin.limits.rules import LimitMeasure, LimitRule
from copilot_admin.limits.windows import BudgetPeriod, LimitWindow, window_at


@dataclass(frozen=True, slots=True)
class Budget:
    """A rule in one window of the calendar."""

    rule: LimitRule
    window: LimitWindow

    @property
    def key(self) -> str:
        """The name of its counter; a changed amount counts on."""
        return f"budget:{self.rule.subject.counter}:{self.rule.kind.key}:{self.window.name}"

    @property
    def unpriced_key(self) -> str:
        """The counter of answers that it cannot count, as nobody knows what they cost."""
        return f"{self.key}:unpriced"

    @property
    def takes(self) -> int:
        """What every request takes at once; tokens and money are known at its end."""
        return int(self.rule.counts_requests)

    @property
    def is_lasting(self) -> bool:
        """Whether what was used is looked up when the counters have lost it."""
        return self.rule.kind.period is not BudgetPeriod.MINUTE


def seat_key(rule: LimitRule) -> str:
    """The name of the counter of what goes on at once."""
    return f"seats:{rule.subject.counter}"


def rate_item(rule: LimitRule) -> RateLimitItem:
    """A rate as the library that counts it calls it; a changed rate begins anew."""
    return RateLimitItemPerMinute(rule.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Everything that has to have room for one request."""

    id: str
    budgets: tuple[Budget, ...] = ()
    seats: tuple[LimitRule, ...] = ()
    rates: tuple[LimitRule, ...] = ()

    @property
    def taken(self) -> Mapping[str, int]:
        """What the request takes of budgets by beginning."""
        return {one.key: one.takes for one in self.budgets if one.takes}


def demand_of(id: str, rules: tuple[LimitRule, ...], *, now: datetime, zone: tzinfo) -> Demand:
    """What a request asks of the counters.

    Args:
        id: Of the request.
        rules: That hold for it.
        now: Aware.
        zone: In which days begin at midnight.
    """
    return Demand(
        id=id,
        budgets=tuple(
            Budget(rule, window_at(rule.kind.period, now, zone))
            for rule in rules
            if rule.is_budget and rule.kind.period
        ),
        seats=tuple(rule for rule in rules if rule.is_seat),
        rates=tuple(rule for rule in rules if rule.is_rate),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandAnswer:
    """What the counters say to a demand.

    Attributes:
        full: The first rule that has no room; nothing was taken.
        missing: Budgets that they know nothing of; nothing was taken.
        used: How much is used of each rule now, with this request.
    """

    full: LimitRule | None = None
    missing: tuple[Budget, ...] = ()
    used: Mapping[LimitRule, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What an answer took.

    Attributes:
        nano_usd: Billionths of a dollar; None: nobody knows.
    """

    tokens: int = 0
    nano_usd: int | None = 0

    def on(self, budget: Budget) -> tuple[str, int]:
        """The counter that it adds to, and how much."""
        match budget.rule.kind.measure:
            case LimitMeasure.TOKENS:
                return budget.key, self.tokens
            case LimitMeasure.USD if self.nano_usd is None:
                return budget.unpriced_key, 1
            case LimitMeasure.USD:
                return budget.key, self.nano_usd or 0
            case _:
                return budget.key, 0
