"""What neither the database nor the spool takes waits in memory, and is kept as soon as one does."""

import asyncio
from dataclasses import replace
import errno
import json
import os
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models.signals import post_save
import pytest

from copilot_admin.errors import Unavailable
from copilot_admin.models import Blob, Logging, Node, Outcome, Run, TurnState
from copilot_admin.storage.spool import Spool, SpoolFull
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store import Journal, Kept
from copilot_admin.transcripts.store import journal as journal_module
from copilot_admin.transcripts.store.probing import probe
from copilot_admin.transcripts.store.record import Piece
from copilot_admin.transcripts.store.sealing import Sealed, seal, to_json
from copilot_admin.transcripts.store.unkept import MOST_BYTES, MOST_RUNS, NOT_KEPT, Unkept, as_told
from protocol.events import MessageChunk
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import START, Client, call_event, ending, record_of

pytestmark = pytest.mark.django_db(transaction=True)
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Disk:
    """What the database and the spool do, until they are mended."""

    def __init__(self) -> None:
        self.database: Exception | None = None
        self.spool: Exception | None = None
        self.asked: list[str] = []
        self._run = WRITER.run

    async def run(self, job: Any) -> Any:
        self.asked.append("database")
        if self.database:
            raise self.database
        return await self._run(job)

    def put(self, key: UUID, entry: Any) -> None:
        self.asked.append("spool")
        if self.spool:
            raise self.spool


@pytest.fixture
def disk(monkeypatch) -> Disk:
    made = Disk()
    monkeypatch.setattr(WRITER, "run", made.run)
    return made


@pytest.fixture
def journal(disk, monkeypatch) -> Journal:
    spool = Spool()
    monkeypatch.setattr(spool, "put", disk.put)
    return Journal(WRITER, spool)


def finish(journal: Journal, run_id: UUID, *outputs: Any, **options: Any) -> Kept | None:
    return asyncio.run(journal.finish(run_id, record_of(*outputs, **options)))


def away(disk: Disk, database: Exception | None = None, spool: Exception | None = None) -> None:
    disk.database = database or OperationalError("database or disk is full")
    disk.spool = spool or FULL
    disk.asked.clear()


def mend(disk: Disk) -> None:
    disk.database = disk.spool = None
    disk.asked.clear()


@pytest.mark.parametrize("database", [OperationalError("x"), InterfaceError("x"), DatabaseError()])
@pytest.mark.parametrize(
    "spool", [FULL, OSError(errno.EROFS, "x"), PermissionError(errno.EACCES, "x"), SpoolFull()]
)
def test_an_answer_that_nothing_takes_is_kept_when_something_does(journal, disk, database, spool):
    asked = Client().ask("Hi")
    away(disk, database, spool)
    assert finish(journal, asked.run_id, MessageChunk("Hello")) is None
    assert journal.problem == "1 answers wait in memory: nothing can be written"
    asyncio.run(journal.look_after())
    assert asked.run.outcome == Outcome.RUNNING
    mend(disk)
    asyncio.run(journal.look_after())
    assert (asked.run.outcome, asked.run.error, asked.run.error_code) == (
        Outcome.FAILED,
        NOT_KEPT,
        "not-kept",
    )
    assert (asked.run.output_node.text, journal.problem) == ("Hello", "")


def test_a_call_that_never_left_is_not_waited_for(journal, disk):
    asked = Client().ask("Price?")
    away(disk)
    assert finish(journal, asked.run_id, call_event()) is None
    mend(disk)
    asyncio.run(journal.look_after())
    assert (asked.run.outcome, asked.run.turn.state) == (Outcome.FAILED, TurnState.FAILED)
    assert not Node.objects.filter(role="ai").exists()


def test_what_the_spool_takes_is_kept(journal, disk):
    asked = Client().ask("Hi")
    away(disk)
    disk.spool = None
    assert finish(journal, asked.run_id, MessageChunk("Hello")) == Kept()
    assert journal.problem == "the last write to the database failed"


def test_a_database_that_fails_is_asked_once_for_all_that_wait(journal, disk):
    away(disk)
    for _ in range(3):
        finish(journal, uuid4(), MessageChunk("Hello"))
    away(disk)
    disk.spool = None
    asyncio.run(journal.look_after())
    assert disk.asked == ["database", "spool", "spool", "spool", "database"]  # the last: the probe
    assert journal.problem == "the last write to the database failed"


def test_a_process_that_ends_tries_once_more(journal, disk):
    asked = Client().ask("Hi")
    away(disk)
    finish(journal, asked.run_id, MessageChunk("Hello"))
    mend(disk)
    asyncio.run(journal.close())
    assert asked.run.outcome == Outcome.FAILED


def test_what_a_process_that_ends_cannot_keep_is_named(journal, disk, caplog):
    lost = [uuid4(), uuid4()]
    away(disk)
    for run_id in lost:
        finish(journal, run_id, MessageChunk("secret words"))
    asyncio.run(journal.close())
    said = [record.getMessage() for record in caplog.records if record.levelname == "CRITICAL"]
    assert said == [f"run {one} is lost: neither database nor spool took it" for one in lost]
    assert "secret words" not in caplog.text


def sealed(number: int, *outputs: Any, **options: Any) -> Sealed:
    return seal(record_of(*outputs, **options), run_id=UUID(int=number), at=START)


def test_memory_holds_so_many_runs_and_names_the_oldest_that_it_gives_up(caplog):
    unkept = Unkept(most_runs=2)
    for number in (1, 2, 2, 3):
        unkept.add(sealed(number))
    assert [one.run_id.int for one in unkept] == [2, 3]
    assert [record.levelname for record in caplog.records] == ["CRITICAL"]
    assert f"run {UUID(int=1)} is lost" in caplog.text


def test_memory_holds_so_many_bytes():
    unkept = Unkept(most_bytes=5000)
    for number in range(9):
        unkept.add(sealed(number, MessageChunk("x" * 1000)))
    assert 0 < len(unkept) < 5
    assert [one.run_id.int for one in unkept][-1] == 8
    unkept.add(sealed(9, MessageChunk("x" * 5000)))
    assert len(unkept) == 0
    unkept.add(sealed(1))
    assert len(unkept) == 1


@pytest.mark.parametrize(("missing", "kept"), [(0, [1, 3]), (1, [3])])
def test_memory_counts_the_bytes_of_what_waits_and_no_others(missing, kept):
    size = len(json.dumps(to_json(as_told(sealed(1)))))
    unkept = Unkept(most_bytes=2 * size - missing)
    for number in (1, 1, 2):
        unkept.add(sealed(number))
    unkept.remove(UUID(int=2))
    unkept.remove(UUID(int=2))
    if missing:
        unkept.add(sealed(1))
    unkept.add(sealed(3))
    assert [one.run_id.int for one in unkept] == kept


def test_memory_is_for_two_thousand_runs_and_64_megabytes():
    assert (MOST_RUNS, MOST_BYTES) == (2000, 67_108_864)


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.TRUNCATED])
def test_an_answer_that_was_whole_has_failed_and_its_call_never_left(outcome):
    end = sealed(1, MessageChunk("Half"), call_event(), ended=ending(outcome))
    assert [reply.kind for reply in end.replies] == ["text", "call"]
    assert as_told(end) == replace(
        end,
        outcome=Outcome.FAILED,
        error=NOT_KEPT,
        error_code="not-kept",
        replies=end.replies[:1],
    )


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - {Outcome.COMPLETED, Outcome.TRUNCATED}))
def test_an_end_that_was_none_for_the_client_stays_what_it_was(outcome):
    end = sealed(1, MessageChunk("Half"), ended=ending(outcome, error="e"))
    assert as_told(end) == end


def test_what_was_told_is_not_kept_where_no_content_is(journal, disk):
    opening = Client(logging=Logging.METADATA).opening("Hi")
    asyncio.run(journal.accept(opening))
    away(disk)
    finish(journal, opening.run_id, MessageChunk("Hello"))
    mend(disk)
    asyncio.run(journal.look_after())
    run = Run.objects.get(pk=opening.run_id)
    assert (run.outcome, run.error, run.error_code) == (Outcome.FAILED, "", "not-kept")


class TestProblem:
    def test_a_question_that_cannot_be_stored_is_one_until_a_write_succeeds(self, journal, disk):
        away(disk)
        with pytest.raises(Unavailable):
            asyncio.run(journal.accept(Client().opening("Hi")))
        assert journal.problem == "the last write to the database failed"
        asyncio.run(journal.look_after())
        assert journal.problem == "the last write to the database failed"
        mend(disk)
        asyncio.run(journal.look_after())
        assert (journal.problem, disk.asked) == ("", ["database"])
        asyncio.run(journal.look_after())
        assert disk.asked == ["database"]

    def test_a_row_that_is_wrong_says_nothing_of_the_others(self, journal, disk):
        away(disk, IntegrityError("a bug"))
        disk.spool = None
        assert finish(journal, uuid4()) == Kept()
        assert journal.problem == ""

    def test_a_checkpoint_that_fails_is_one(self, journal, monkeypatch):
        def fail(*_: object) -> None:
            raise OperationalError("disk I/O error")

        monkeypatch.setattr(journal_module.checkpoints, "store", fail)
        journal.checkpoint(uuid4(), Piece(0, "x", ()))
        WRITER.submit(lambda: None).result(HANGS_SECONDS)
        assert journal.problem == "the last write to the database failed"

    def test_the_probe_needs_the_room_of_a_long_answer_and_leaves_nothing_behind(self):
        written: list[Any] = []

        def note(instance: Blob, **_: Any) -> None:
            written.append((instance.sha256, len(bytes(instance.data)), instance.size))

        Blob.objects.create(sha256="probe", data=b"of a process that died meanwhile", size=0)
        post_save.connect(note, sender=Blob)
        try:
            with transaction.atomic():
                probe()
        finally:
            post_save.disconnect(note, sender=Blob)
        assert written == [("probe", 65_536, 65_536)]
        assert not Blob.objects.exists()
