"""What a run has streamed so far is kept beside it until it ends."""

import asyncio
import threading
from uuid import uuid4

from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.models import Checkpoint, Outcome, Run
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store import JOURNAL, Journal, beat
from copilot_admin.transcripts.store import journal as journal_module
from copilot_admin.transcripts.store.checkpoints import pieces_of
from copilot_admin.transcripts.store.checkpoints import store as store_pieces
from copilot_admin.transcripts.store.finishing import finish
from copilot_admin.transcripts.store.record import Piece
from copilot_admin.transcripts.store.recorder import Recorder
from copilot_admin.transcripts.store.sealing import from_json, seal, to_json
from protocol.events import ArtifactType, MessageArtifact, MessageChunk
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import Client, ending, record_of
from tests.transcripts.store.spooling import checkpoints, spool

__all__ = ["spool"]
pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def test_checkpoints_are_there_until_the_run_has_ended():
    opening = Client().opening("Hi")

    async def stream() -> None:
        await JOURNAL.accept(opening)
        recorder = Recorder()
        for text in ("Hel", "lo"):
            recorder.add(MessageChunk(text), at_ms=0)
            piece = recorder.unsaved()
            assert piece is not None
            JOURNAL.checkpoint(opening.run_id, piece)
        await WRITER.run(lambda: None)
        assert await asyncio.to_thread(checkpoints) == 2
        await JOURNAL.finish(opening.run_id, recorder.record(ending()))

    asyncio.run(stream())
    run = Run.objects.get(pk=opening.run_id)
    assert (run.outcome, run.output_node.text, Checkpoint.objects.count()) == (
        Outcome.COMPLETED,
        "Hello",
        0,
    )


@pytest.mark.parametrize("was_checkpointed", [True, False])
def test_checkpoints_are_looked_for_only_where_there_may_be_some(was_checkpointed):
    asked = Client().ask("Hi")
    recorder = Recorder()
    recorder.add(MessageChunk("Hello"), at_ms=0)
    if was_checkpointed:
        recorder.unsaved()
    sealed = seal(recorder.record(ending()), run_id=asked.run_id, at=asked.at)
    with CaptureQueriesContext(connection) as captured, transaction.atomic():
        finish(sealed)
    deleted = [one["sql"] for one in captured if one["sql"].startswith("DELETE")]
    assert len(deleted) == was_checkpointed
    assert from_json(to_json(sealed)).was_checkpointed  # nobody knows


def test_a_checkpoint_that_comes_late_is_dropped():
    asked = Client().ask("Hi").answer("Hello")
    recorder = Recorder()
    recorder.add(MessageChunk("x"), at_ms=0)
    JOURNAL.checkpoint(asked.run_id, recorder.unsaved())
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    assert Checkpoint.objects.count() == 0


def test_what_takes_long_to_seal_keeps_no_others_waiting(monkeypatch):
    threads: list[int] = []

    def noting(*arguments, **options):
        threads.append(threading.get_ident())
        return seal(*arguments, **options)

    monkeypatch.setattr(journal_module, "seal", noting)
    wide = MessageArtifact(
        type=ArtifactType.TABLE,
        uuid="u",
        artifact_name="t",
        description="",
        content=[{f"k{number}": number for number in range(2000)}],
    )

    short, long = Client().ask("Hi").run_id, Client().ask("And now?").run_id

    async def finish_both():
        assert await JOURNAL.finish(short, record_of(MessageChunk("Hello")))
        assert await JOURNAL.finish(long, record_of(wide))

    asyncio.run(finish_both())
    assert [one == threading.get_ident() for one in threads] == [True, False]


def test_a_checkpoint_never_raises(monkeypatch, caplog):
    recorder = Recorder()
    recorder.add(MessageChunk("x"), at_ms=0)
    piece = recorder.unsaved()

    def fail(*args: object) -> None:
        raise IntegrityError("told nobody")

    monkeypatch.setattr(journal_module.checkpoints, "store", fail)
    JOURNAL.checkpoint(uuid4(), piece)
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    full = Journal(type(WRITER)("full", capacity=0), SPOOL)
    full.checkpoint(uuid4(), piece)
    full.checkpoint(uuid4(), piece)
    assert "checkpoint failed: IntegrityError" in caplog.text
    assert "told nobody" not in caplog.text
    assert caplog.text.count("no room for a checkpoint") == 2


def test_the_checkpoints_of_all_runs_that_come_together_are_one_job(monkeypatch):
    client, stored = Client(), []
    monkeypatch.setattr(
        journal_module.checkpoints, "store", lambda pieces: stored.append(store_pieces(pieces))
    )
    asked = [client.ask("Hi"), client.ask("Ho")]
    go = threading.Event()
    WRITER.submit(lambda: go.wait(HANGS_SECONDS))
    for run in asked:
        recorder = Recorder()
        for text in ("one", "two"):
            recorder.add(MessageChunk(text), at_ms=0)
            JOURNAL.checkpoint(run.run_id, recorder.unsaved())
    go.set()
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    assert len(stored) == 1
    rows = Checkpoint.objects.order_by("id").values_list("run_id", "ord")
    assert list(rows) == [(run.run_id, order) for run in asked for order in (0, 1)]


def test_pieces_are_stored_although_their_job_has_to_be_done_again(monkeypatch):
    asked, recorder = Client().ask("Hi"), Recorder()
    recorder.add(MessageChunk("one"), at_ms=0)
    broken = [OperationalError("database is locked")]

    def store_at_second_try(pieces):
        if broken:
            raise broken.pop()
        store_pieces(pieces)

    monkeypatch.setattr(journal_module.checkpoints, "store", store_at_second_try)
    JOURNAL.checkpoint(asked.run_id, recorder.unsaved())
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    assert pieces_of(asked.run_id) == [Piece(0, "one", ())]


def test_beating_reaches_the_runs_that_are_open():
    client = Client()
    open_run, ended = client.ask("Hi"), client.ask("Ho").answer("Yes")
    ended_at = ended.run.heartbeat_at
    assert beat([open_run.run_id, ended.run_id, open_run.run_id]) == [open_run.run_id]
    assert open_run.run.heartbeat_at > open_run.at
    assert ended.run.heartbeat_at == ended_at
    assert beat([]) == []
