"""A run that has ended is charged once, with what is known of its cost."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.limits.admission import Admission
from copilot_admin.limits.rules import LimitSubject, build_rules
from copilot_admin.limits.usage import Usage as LimitUsage
from copilot_admin.limits.usage import get_budgets
from copilot_admin.models import CostConfidence, LimitScope
from copilot_admin.pricing.cost import UNKNOWN_COST, ZERO_COST, Cost, RunCost
from copilot_admin.runs.tasks import settle
from copilot_admin.storage.errors import DatabaseUnavailable

pytestmark = pytest.mark.django_db
USAGES = [Usage(input_tokens=5, output_tokens=2), Usage(input_tokens=1)]
TWO_DOLLARS = Cost(Decimal(2), CostConfidence.EXACT)


@dataclass(slots=True)
class Charged(Admission):
    """An admission that keeps what it is charged."""

    charges: list[LimitUsage | None] = field(default_factory=list)

    async def end(self, usage: LimitUsage | None = None) -> None:
        self.charges.append(usage)


def of(**limits: int) -> dict[str, object]:
    rules = build_rules(LimitSubject(LimitScope.SERVER), limits)
    return {"id": "a", "budgets": get_budgets(rules, datetime(2026, 1, 1, tzinfo=UTC))}


def charges(
    admission: Charged,
    *,
    cost: Cost | None,
    reckon: Callable[[], RunCost],
    usages: Sequence[Usage] = USAGES,
) -> list[LimitUsage | None]:
    asyncio.run(settle(admission, usages, cost=cost, reckon=reckon))
    return admission.charges


def nobody_asks() -> RunCost:
    raise AssertionError("what it cost is known, or nobody's business")


def two_dollars() -> RunCost:
    return RunCost(TWO_DOLLARS)


def nobody_knows() -> RunCost:
    raise DatabaseUnavailable


@pytest.mark.parametrize(
    ("cost", "usage"),
    [
        (TWO_DOLLARS, LimitUsage(tokens=8, nano_usd=2 * 10**9)),
        (ZERO_COST, LimitUsage(tokens=8)),
        (UNKNOWN_COST, LimitUsage(tokens=8, unpriced=1)),
    ],
)
def test_the_tokens_of_all_calls_and_the_cost_are_charged(cost: Cost, usage: LimitUsage) -> None:
    admission = Charged(**of(usd_per_day=1))
    assert charges(admission, cost=cost, reckon=nobody_asks) == [usage]


def test_what_is_over_or_was_never_limited_is_not_charged() -> None:
    assert charges(Charged(), cost=None, reckon=nobody_asks) == []
    over = Charged(**of(usd_per_day=1), _has_ended=True)
    assert charges(over, cost=None, reckon=nobody_asks) == []


@pytest.mark.parametrize(
    ("limits", "reckon", "nano_usd", "unpriced"),
    [
        ({"usd_per_day": 1}, two_dollars, 2 * 10**9, 0),
        ({"usd_per_day": 1}, nobody_knows, 0, 1),
        ({"tokens_per_day": 1}, nobody_asks, 0, 1),
    ],
    ids=["money is counted", "and the database is away", "tokens alone are counted"],
)
def test_a_cost_that_the_journal_did_not_reckon_is_reckoned_where_money_is_counted(
    limits: dict[str, int], reckon: Callable[[], RunCost], nano_usd: int, unpriced: int
) -> None:
    usage = LimitUsage(tokens=8, nano_usd=nano_usd, unpriced=unpriced)
    assert charges(Charged(**of(**limits)), cost=None, reckon=reckon) == [usage]
