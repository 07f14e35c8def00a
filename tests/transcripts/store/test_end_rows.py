"""How a run ends: in its row, turn, conversation and day, each with its cost."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from copilot_admin.agent.values.model_call import Finish, Usage, UsageSource
from copilot_admin.models import (
    Blob,
    Conversation,
    CostConfidence,
    DailyUsage,
    Event,
    Logging,
    ModelPrice,
    Node,
    Outcome,
    Run,
    Turn,
    TurnState,
)
from copilot_admin.storage.blobs import MIN_BLOB_BYTES, dump_json
from copilot_admin.transcripts.store.transcript_store import reap
from protocol.events import StatusUpdate
from tests.factories import make_provider
from tests.pricing.pricing import make_price
from tests.transcripts.store.journaling import (
    START,
    Asked,
    Client,
    call_echo,
    call_event,
    ending,
    result,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_events_are_kept_in_order_and_big_ones_as_blobs():
    frame = len(dump_json({"eventType": "INFO", "message": "", "group": "reasoning"}))
    small, big = (StatusUpdate(message="x" * (MIN_BLOB_BYTES - frame + more)) for more in (0, 1))
    asked = Client().ask("Hi").answer(small, "Hello", big)
    events = Event.objects.order_by("ord")
    assert [(one.ord, one.run_id, one.type, one.text_offset, one.at_ms) for one in events] == [
        (0, asked.run_id, "status", 0, 0),
        (1, asked.run_id, "status", 5, 20),
    ]
    assert [one.payload is None for one in events] == [False, True]
    blob = Blob.objects.get(size__gt=MIN_BLOB_BYTES)
    assert [one.blob_id for one in events] == [None, blob.sha256]


@pytest.mark.parametrize(
    ("outcome", "state", "has_error"),
    [
        (Outcome.COMPLETED, TurnState.DONE, False),
        (Outcome.TRUNCATED, TurnState.DONE, False),
        (Outcome.FAILED, TurnState.FAILED, True),
        (Outcome.CRASHED, TurnState.FAILED, True),
        (Outcome.INTERRUPTED, TurnState.FAILED, True),
        (Outcome.CANCELLED, TurnState.ABANDONED, False),
    ],
)
def test_turn_conversation_and_day_end_as_the_run(outcome, state, has_error):
    asked = Client().ask("Hi").answer("Hello", ended=ending(outcome))
    assert Turn.objects.get().state == state
    assert (asked.conversation.last_outcome, asked.conversation.has_error) == (outcome, has_error)
    assert DailyUsage.objects.get().errors == int(has_error)


def test_a_turn_waits_for_the_result_of_a_call_and_goes_on_with_it():
    client = Client()
    first = client.ask("Price?").answer(call_event())
    waiting = Turn.objects.get()
    ended_at = first.at + timedelta(milliseconds=900)
    assert (waiting.state, waiting.waiting_since) == (TurnState.AWAITING_RESULT, ended_at)
    second = client.ask("Price?", call_echo(), result())
    going = Turn.objects.get()
    assert (going.state, going.waiting_since) == (TurnState.OPEN, None)
    second.answer("42")
    done = Turn.objects.get()
    assert (done.state, done.tokens, done.ms, done.ttft_ms) == (TurnState.DONE, 30, 1800, 300)


def test_a_copilot_that_keeps_nothing_keeps_a_bare_run():
    asked = Client(trace_id="chat", logging=Logging.NOTHING).ask("Hi").answer("Hello")
    run = asked.run
    assert (asked.accepted.conversation_id, asked.accepted.turn_id) == (None, None)
    assert (run.conversation, run.turn, run.env) == (None, None, None)
    assert (run.principal, run.params) == ("", {})
    assert (run.outcome, run.ms, run.events.count()) == (Outcome.COMPLETED, 900, 0)
    assert (Conversation.objects.count(), Node.objects.count()) == (0, 0)
    assert DailyUsage.objects.get().version == 1


def test_a_real_end_replaces_what_was_kept_of_a_run_that_seemed_dead():
    asked = Client().ask("Hi")
    Run.objects.update(boot_id="another", heartbeat_at=START)
    reap(every_other_boot=True)
    Event.objects.create(run_id=asked.run_id, ord=0, type="status", payload={"message": "Guess"})
    asked.answer(StatusUpdate(message="Real"), "Hello")
    assert [one.payload["message"] for one in Event.objects.all()] == ["Real"]
    day = DailyUsage.objects.get()
    assert (asked.run.outcome, day.runs, day.errors) == (Outcome.COMPLETED, 1, 0)


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
