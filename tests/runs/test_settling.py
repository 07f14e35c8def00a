"""A run that has ended is charged once, with what is known of its cost."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.limits.admission import Admission
from copilot_admin.limits.demand import Charge, Demand, demand_of
from copilot_admin.limits.rules import rules_of
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.models import CostConfidence, LimitScope
from copilot_admin.pricing.bill import Bill
from copilot_admin.pricing.cost import NOTHING, UNKNOWN, Cost
from copilot_admin.runs.settling import settle
from copilot_admin.storage.errors import DatabaseUnavailable

pytestmark = pytest.mark.django_db
USAGES = [Usage(input_tokens=5, output_tokens=2), Usage(input_tokens=1)]
TWO_DOLLARS = Cost(Decimal(2), CostConfidence.EXACT)


@dataclass(slots=True)
class Charged(Admission):
    """An admission that keeps what it is charged."""

    charges: list[Charge | None] = field(default_factory=list)

    async def end(self, charge: Charge | None = None) -> None:
        self.charges.append(charge)


def of(**limits: int) -> Demand:
    rules = rules_of(LimitSubject(LimitScope.SERVER), limits)
    return demand_of("a", rules, now=datetime(2026, 1, 1, tzinfo=UTC), zone=UTC)


def charges(
    admission: Charged,
    *,
    cost: Cost | None,
    reckon: Callable[[], Bill],
    usages: Sequence[Usage] = USAGES,
) -> list[Charge | None]:
    asyncio.run(settle(admission, usages, cost=cost, reckon=reckon))
    return admission.charges


def nobody_asks() -> Bill:
    raise AssertionError("what it cost is known, or nobody's business")


def two_dollars() -> Bill:
    return Bill(TWO_DOLLARS)


def nobody_knows() -> Bill:
    raise DatabaseUnavailable


@pytest.mark.parametrize(
    ("cost", "nano_usd"), [(TWO_DOLLARS, 2 * 10**9), (NOTHING, 0), (UNKNOWN, None)]
)
def test_the_tokens_of_all_calls_and_the_cost_are_charged(cost: Cost, nano_usd: int | None) -> None:
    admission = Charged(of(usd_per_day=1))
    assert charges(admission, cost=cost, reckon=nobody_asks) == [
        Charge(tokens=8, nano_usd=nano_usd)
    ]


def test_what_is_over_or_was_never_limited_is_not_charged() -> None:
    assert charges(Charged(), cost=None, reckon=nobody_asks) == []
    over = Charged(of(usd_per_day=1), _has_ended=True)
    assert charges(over, cost=None, reckon=nobody_asks) == []


@pytest.mark.parametrize(
    ("limits", "reckon", "nano_usd"),
    [
        ({"usd_per_day": 1}, two_dollars, 2 * 10**9),
        ({"usd_per_day": 1}, nobody_knows, None),
        ({"tokens_per_day": 1}, nobody_asks, None),
    ],
    ids=["money is counted", "and the database is away", "tokens alone are counted"],
)
def test_a_cost_that_the_journal_did_not_reckon_is_reckoned_where_money_is_counted(
    limits: dict[str, int], reckon: Callable[[], Bill], nano_usd: int | None
) -> None:
    admission = Charged(of(**limits))
    assert charges(admission, cost=None, reckon=reckon) == [Charge(tokens=8, nano_usd=nano_usd)]
