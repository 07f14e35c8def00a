"""A run is in the journal before its first byte, and whole in it before its last."""

import asyncio
from dataclasses import replace
import threading
from types import MappingProxyType
from uuid import uuid4

from django.db import InterfaceError, OperationalError, transaction
import pytest

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.errors import Unavailable
from copilot_admin.models import Conversation, Event, Logging, Outcome, Run, Turn, TurnState
from copilot_admin.storage import blobs
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store import JOURNAL
from copilot_admin.transcripts.store import journal as journal_module
from copilot_admin.transcripts.store.opening import accept, prepare
from copilot_admin.transcripts.store.recorder import Recorder
from copilot_admin.transcripts.store.sealing import LARGEST_INTEGER, seal
from protocol.events import ArtifactType, MessageArtifact, MessageChunk, StatusUpdate
from tests.transcripts.store.journaling import Client, ending, record_of
from tests.transcripts.store.spooling import LATER, checkpoints, spool, store

__all__ = ["spool"]
pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def test_an_accepted_run_is_committed_with_its_turn():
    opening = Client(trace_id="chat").opening("Hi", env={"timezone": "UTC"})
    accepted = asyncio.run(JOURNAL.accept(opening))
    run = Run.objects.get(pk=opening.run_id)
    assert (run.conversation_id, run.turn_id) == (accepted.conversation_id, accepted.turn_id)
    assert (run.outcome, run.model, run.params, run.generation) == (
        Outcome.RUNNING,
        "small-1",
        {"temperature": 0.2},
        3,
    )
    assert Turn.objects.get().state == TurnState.OPEN


def test_up_to_32_kb_are_made_ready_in_the_event_loop():
    assert journal_module.PREPARE_INLINE_BYTES == 32_768


@pytest.mark.parametrize(
    ("size", "in_loop"),
    [(journal_module.PREPARE_INLINE_BYTES, True), (journal_module.PREPARE_INLINE_BYTES + 1, False)],
)
def test_only_a_big_request_is_made_ready_beside_the_event_loop(monkeypatch, size, in_loop):
    threads = []

    def watched(opening):
        threads.append(threading.current_thread())
        return prepare(opening)

    monkeypatch.setattr(journal_module.opening, "prepare", watched)
    asyncio.run(JOURNAL.accept(replace(Client().opening("Hi"), size=size)))
    assert [thread is threading.main_thread() for thread in threads] == [in_loop]


def test_a_run_is_accepted_once_however_often_it_is_written():
    prepared = prepare(Client(trace_id="chat").opening("Hi"))
    with transaction.atomic():
        first = accept(prepared)
    with transaction.atomic():
        second = accept(prepared)
    assert (first.turn_id, first.conversation_id) == (second.turn_id, second.conversation_id)
    assert second.recollection.looped is False
    conversation = Conversation.objects.get()
    assert (conversation.n_runs, conversation.n_turns, Run.objects.count()) == (1, 1, 1)


@pytest.mark.parametrize("failure", [OperationalError, InterfaceError])
def test_a_journal_without_a_database_refuses_runs(failure, monkeypatch):
    async def refuse_all(job: object) -> None:
        raise failure("no such host")

    monkeypatch.setattr(WRITER, "run", refuse_all)
    opening = Client(logging=Logging.METADATA).opening("Hi")
    with pytest.raises(Unavailable) as refused:
        asyncio.run(JOURNAL.accept(opening))
    assert refused.value.code == "database-unavailable"
    assert opening.run_id not in JOURNAL._private


def test_a_run_is_finished_once():
    asked = Client().ask("Hi").answer("Hello")
    sealed = seal(record_of(MessageChunk("Again")), run_id=asked.run_id, at=LATER)
    assert not store(sealed)
    assert asked.run.output_node.text == "Hello"
    assert asked.conversation.tokens == 15


def test_a_run_that_is_gone_is_no_error():
    assert store(seal(record_of(), run_id=uuid4(), at=LATER)) is False


def test_numbers_and_texts_fit_their_columns():
    asked = Client().ask("Hi")
    huge = Usage(input_tokens=2**70, output_tokens=-5)
    record = record_of(huge, ended=ending(ms=2**40, error_code="x" * 90))
    assert store(seal(record, run_id=asked.run_id, at=LATER))
    run = asked.run
    assert (run.input_tokens, run.output_tokens, run.ms) == (LARGEST_INTEGER, 0, LARGEST_INTEGER)
    assert run.error_code == "x" * 50


@pytest.mark.parametrize("rows", [1, 500], ids=["in the row", "in a blob"])
def test_a_table_keeps_the_order_of_its_columns(rows):
    table = MessageArtifact(
        type=ArtifactType.TABLE,
        uuid="u",
        artifact_name="prices",
        description="",
        content=[{"symbol": "A", "price": 1.5, "day": "x", "a": None}] * rows,
    )
    asked = Client().ask("Hi").answer(table)
    event = Event.objects.get(type="artifact")
    assert (event.blob_id is None) is (rows == 1)
    [view] = conversation_of(asked)
    assert [list(row) for row in view["content"]] == [["symbol", "price", "day", "a"]] * rows


def conversation_of(asked):
    """The payloads of a run's events, as a reader gets them."""
    events = Event.objects.filter(run_id=asked.run_id).order_by("ord")
    return [
        blobs.load([event.blob_id])[event.blob_id] if event.blob_id else event.payload
        for event in events
    ]


def test_a_payload_may_be_any_mapping_and_nothing_else_that_is_no_json():
    field = Event._meta.get_field("payload")
    assert field.get_prep_value(MappingProxyType({"a": 1})) == '{"a": 1}'
    with pytest.raises(TypeError, match="set is not JSON"):
        field.get_prep_value({"a": {1}})


def test_a_big_payload_is_a_blob():
    asked = Client().ask("Hi").answer(StatusUpdate(message="x" * 5000), "Hello")
    event = Event.objects.get()
    assert (event.payload, event.blob is None) == (None, False)
    assert asked.run.output_node.text == "Hello"


def test_no_content_is_stored_even_if_the_recorder_kept_it():
    opening = Client(logging=Logging.METADATA).opening("Hi")

    async def stream() -> None:
        await JOURNAL.accept(opening)
        recorder = Recorder()
        recorder.add(MessageChunk("canary"), at_ms=0)
        JOURNAL.checkpoint(opening.run_id, recorder.unsaved())
        await WRITER.run(lambda: None)
        assert await asyncio.to_thread(checkpoints) == 0
        await JOURNAL.finish(opening.run_id, recorder.record(ending()))

    asyncio.run(stream())
    assert Run.objects.get(pk=opening.run_id).output_node.text == ""
    assert opening.run_id not in JOURNAL._private
