"""What a run cost is written with its end: in its row, its turn, its conversation and its day."""

from decimal import Decimal
from typing import Any

import pytest

from copilot_admin.agent.values.model_call import Finish, Usage, UsageSource
from copilot_admin.models import Conversation, CostConfidence, DailyUsage, ModelPrice, Outcome, Turn
from tests.factories import make_provider
from tests.pricing.pricing import make_price
from tests.transcripts.store.journaling import Asked, Client, ending

TOLD = Usage(input_tokens=1000, cached_tokens=400, output_tokens=100)
GUESSED = Usage(input_tokens=1000, output_tokens=100, source=UsageSource.ESTIMATED)
SUM = Decimal("0.0022")  # what `TOLD` costs
REPORTED, EXACT, ESTIMATED, UNKNOWN = CostConfidence


def set_price(**changes: Any) -> ModelPrice:
    """A price of the model that all runs of these tests name."""
    provider = make_provider(name="Provider", kind="openai_compatible")
    return make_price(provider, **{"model": "small-1", "cached": Decimal("0.5"), **changes})


def ended(asked: Asked, *outputs: Any, outcome: Outcome = Outcome.COMPLETED) -> Asked:
    """A run that was answered, with what is said of its tokens among the outputs."""
    said = ("Hello", *outputs, Finish("stop"))
    return asked.answer(*said, ended=ending(outcome), counted=False)


def cost(asked: Asked) -> tuple[Decimal | None, str]:
    """What a run cost, and how sure that is."""
    run = asked.run
    return run.cost, run.cost_confidence


pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_a_run_keeps_its_cost_and_a_copy_of_the_price():
    row = set_price()
    asked = ended(Client().ask("Hi"), TOLD)
    row.input = Decimal(99)
    row.save()
    run = asked.run
    assert (run.cost, run.cost_confidence) == (SUM, EXACT)
    prices = (run.input_price, run.cached_price, run.output_price, run.reasoning_price)
    assert prices == (Decimal(2), Decimal("0.5"), Decimal(8), None)
    names = ("cost", "n_unpriced", "cost_is_estimated")
    for rows in (Turn.objects, Conversation.objects):
        assert rows.values_list(*names).get() == (SUM, 0, False)
    assert DailyUsage.objects.values_list("cost", "unpriced").get() == (SUM, 0)


@pytest.mark.parametrize(
    ("usages", "outcome", "expected"),
    [
        # A leg that fetches data before any model is asked.
        ((), Outcome.COMPLETED, (Decimal(0), EXACT)),
        ((), Outcome.TRUNCATED, (None, UNKNOWN)),
        ((), Outcome.CANCELLED, (None, UNKNOWN)),
        ((), Outcome.FAILED, (None, UNKNOWN)),
        ((TOLD,), Outcome.TRUNCATED, (SUM, EXACT)),
        # The first round was counted; of the second one, which broke, nobody said anything.
        ((TOLD,), Outcome.CANCELLED, (SUM, ESTIMATED)),
        ((TOLD,), Outcome.FAILED, (SUM, ESTIMATED)),
        ((TOLD, TOLD), Outcome.COMPLETED, (2 * SUM, EXACT)),
        ((TOLD, GUESSED), Outcome.COMPLETED, (Decimal("0.0050"), ESTIMATED)),
    ],
)
def test_a_cost_is_no_surer_than_its_tokens(usages, outcome, expected):
    set_price()
    asked = ended(Client().ask("Hi"), *usages, outcome=outcome)
    assert cost(asked) == expected
