"""Runs that were answered before their model had a price get their cost when it has one."""

from decimal import Decimal
from typing import Any

import pytest

from copilot_admin.agent.values.answer_request import ComponentCalled
from copilot_admin.agent.values.model_call import Usage
from copilot_admin.jobs.costs import price_unknown_runs
from copilot_admin.models import Conversation, Logging, Outcome, Run, Turn
from tests.pricing.pricing import make_price
from tests.transcripts.store.journaling import Client, call_echo, call_event, result
from tests.transcripts.store.test_end_rows import (
    ESTIMATED,
    EXACT,
    GUESSED,
    SUM,
    TOLD,
    UNKNOWN,
    cost,
    ended,
    set_price,
)
from tests.transcripts.store.test_rollups import full_count, rollups

pytestmark = [pytest.mark.database, pytest.mark.django_db]

TINY = Usage(input_tokens=100, output_tokens=10, model="tiny")
TINY_SUM = Decimal("0.000012")


def called(*usages: Usage, result: str = "") -> ComponentCalled:
    told = tuple(
        {
            "name": one.model,
            "prompt_tokens": one.input_tokens,
            "completion_tokens": one.output_tokens,
        }
        for one in usages
    )
    return ComponentCalled(
        name="c", version="1", arguments={}, result=result, outputs=1, ms=1, usage=told
    )


def fill() -> None:
    list(price_unknown_runs(saving=True))


def written() -> list[Any]:
    """All that is written of costs."""
    names = ("cost", "n_unpriced", "cost_is_estimated")
    counted = [
        rows.order_by("pk").values_list(*names) for rows in (Turn.objects, Conversation.objects)
    ]
    price = ("input_price", "cached_price", "output_price", "reasoning_price")
    runs = Run.objects.order_by("pk").values_list("cost", "cost_confidence", *price)
    return [*map(list, counted), list(runs), rollups()]


def test_runs_from_before_a_price_get_their_full_cost():
    talk = Client(trace_id="chat-1")
    talk.ask("Prices?").answer("Fetching.", call_event(), counted=False)
    ended(talk.ask("Prices?", call_echo(), result()), TOLD)
    estimated = ended(Client().ask("Hi"), GUESSED)
    cut = ended(Client().ask("Hi"), TOLD, outcome=Outcome.CANCELLED)
    tried = ended(Client(principal="playground:1").ask("Hi"), TOLD)
    no_tokens = ended(Client().ask("Hi"), outcome=Outcome.FAILED)
    running = Client().ask("Hi")
    set_price()
    fill()
    assert [cost(one) for one in (estimated, cut, tried, no_tokens, running)] == [
        (Decimal("0.0028"), ESTIMATED),
        (SUM, ESTIMATED),
        (SUM, EXACT),
        (None, UNKNOWN),
        (None, UNKNOWN),
    ]
    conversation = Conversation.objects.get(trace_id="chat-1")
    assert (conversation.cost, conversation.n_unpriced, conversation.cost_is_estimated) == (
        SUM, 0, False,
    )  # fmt: skip
    assert rollups() == full_count()
    so_far = written()
    fill()
    assert written() == so_far


@pytest.mark.parametrize("text", ["", "x" * 20_000], ids=["in the row", "in a blob"])
def test_models_of_components_have_prices_of_their_own(text):
    asked = ended(Client().ask("Hi"), called(TINY, result=text), TINY, TOLD)
    row = set_price()
    fill()
    assert cost(asked) == (None, UNKNOWN)
    make_price(row.provider, model="tiny", input=Decimal("0.1"), output=Decimal("0.2"))
    fill()
    assert cost(asked) == (SUM + TINY_SUM, ESTIMATED)
    assert rollups() == full_count()


def test_without_stored_content_a_cost_is_an_estimate():
    plain = ended(Client(logging=Logging.METADATA).ask("Hi"), TOLD)
    divided = ended(Client(logging=Logging.METADATA).ask("Hi"), called(TINY), TINY, TOLD)
    bare = ended(Client(logging=Logging.NOTHING).ask("Hi"), TOLD)
    set_price()
    fill()
    assert [cost(one) for one in (plain, divided, bare)] == [
        (SUM, EXACT),
        (None, UNKNOWN),
        (SUM, ESTIMATED),
    ]
