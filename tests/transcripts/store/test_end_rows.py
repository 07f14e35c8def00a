"""How a run ends: in its own row, in its turn, in its conversation and in the count of its day."""

from datetime import timedelta

import pytest

from copilot_admin.models import (
    Blob,
    Conversation,
    DailyUsage,
    Event,
    Logging,
    Node,
    Outcome,
    Run,
    Turn,
    TurnState,
)
from copilot_admin.storage.blobs import MIN_BLOB_BYTES, dump_json
from copilot_admin.transcripts.store.checkpoints import reap
from protocol.events import StatusUpdate
from tests.transcripts.store.journaling import (
    START,
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
    assert [one.blob_id for one in events] == [
        None,
        Blob.objects.get(size__gt=MIN_BLOB_BYTES).sha256,
    ]


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
    assert (waiting.state, waiting.waiting_since) == (
        TurnState.AWAITING_RESULT,
        first.at + timedelta(milliseconds=900),
    )
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
    assert (run.conversation, run.turn, run.env, run.principal, run.params) == (
        None,
        None,
        None,
        "",
        {},
    )
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
