"""Runs of a model that may have a price, and what they cost."""

from decimal import Decimal
from typing import Any

from copilot_admin.agent.values.model_call import Finish, Usage, UsageSource
from copilot_admin.models import CostConfidence, ModelPrice, Outcome
from tests.factories import make_provider
from tests.pricing.pricing import make_price
from tests.transcripts.store.journaling import Asked, ending

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
