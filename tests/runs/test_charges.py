"""A run that has ended is charged once, with what is known of its cost."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from copilot_admin.agent.values.model_call import Finish, Usage
from copilot_admin.limits.admission import Admission
from copilot_admin.limits.rules import LimitSubject, build_rules
from copilot_admin.limits.usage import Usage as LimitUsage
from copilot_admin.limits.usage import get_budgets
from copilot_admin.models import CostConfidence, LimitScope
from copilot_admin.pricing.cost import UNKNOWN_COST, ZERO_COST, Cost, RunCost
from copilot_admin.runs import open_run as opening
from copilot_admin.runs import run as run_task
from copilot_admin.storage.errors import DatabaseUnavailable
from protocol.events import MessageChunk
from tests.runs.running import play, said

USED = (Usage(input_tokens=5, output_tokens=2), Usage(input_tokens=1, model="small"))
SCRIPT = [MessageChunk("Hello"), *USED, Finish("stop")]
TWO_DOLLARS = Cost(Decimal(2), CostConfidence.EXACT)


@dataclass(slots=True)
class Charged(Admission):
    """An admission that keeps what it is charged."""

    charges: list[LimitUsage | None] = field(default_factory=list)

    async def end(self, usage: LimitUsage | None = None) -> None:
        if self.is_open:
            self.charges.append(usage)
            self.slots, self.budgets = (), ()


@pytest.fixture
def charged(noted, monkeypatch):
    """Charges of an answer: what is limited, what the store calculated, what the database knows."""

    def answer(limits, *, cost, calculated=None):
        class Reader:
            async def run(self, job):
                if calculated is None:
                    raise DatabaseUnavailable
                return RunCost(calculated)

        rules = build_rules(LimitSubject(LimitScope.SERVER), limits)
        budgets = get_budgets(rules, datetime(2026, 1, 1, tzinfo=UTC))
        admission = Charged(id="a", budgets=budgets)

        async def admit(*_, **__):
            return admission

        monkeypatch.setattr(run_task, "READER", Reader())
        monkeypatch.setattr(opening, "admit_request", admit)
        play(monkeypatch, noted, SCRIPT)
        noted.cost = cost
        said()
        return admission.charges

    return answer


@pytest.mark.parametrize(
    ("limits", "cost", "calculated", "usage"),
    [
        ({"usd_per_day": 1}, TWO_DOLLARS, None, LimitUsage(nano_usd=2 * 10**9)),
        ({"usd_per_day": 1}, ZERO_COST, None, LimitUsage()),
        ({"usd_per_day": 1}, UNKNOWN_COST, None, LimitUsage(unpriced=1)),
        # The store could not calculate it: the run is in the spool.
        ({"usd_per_day": 1}, None, TWO_DOLLARS, LimitUsage(nano_usd=2 * 10**9)),
        ({"usd_per_day": 1}, None, None, LimitUsage(unpriced=1)),
        ({"tokens_per_day": 1}, None, TWO_DOLLARS, LimitUsage(unpriced=1)),
    ],
)
def test_the_tokens_of_all_calls_and_the_cost_are_charged(charged, limits, cost, calculated, usage):
    assert charged(limits, cost=cost, calculated=calculated) == [replace(usage, tokens=8)]
