"""A run is committed before its first byte, and whole before its last."""

import asyncio
import errno
from typing import Any
from uuid import uuid4

from django.db import DatabaseError, InterfaceError, OperationalError
import pytest

from copilot_admin.errors import Unavailable
from copilot_admin.models import Blob, Outcome
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store import checkpoints
from copilot_admin.transcripts.store.recorder import Piece
from copilot_admin.transcripts.store.transcript_store import TranscriptStore
from protocol.events import MessageChunk
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import Client, end_of
from tests.transcripts.store.spooling import LATER, spool, store

__all__ = ["spool"]
pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def test_a_run_is_finished_once():
    asked = Client().ask("Hi").answer("Hello")
    assert not store(end_of(asked.run_id, MessageChunk("Again"), at=LATER))
    assert asked.run.output_node.text == "Hello"
    assert asked.conversation.tokens == 15


class Disk:
    """Errors of the database and of the spool, until they are repaired."""

    def __init__(self) -> None:
        self.database: Exception | None = None
        self.spool: Exception | None = None
        self._run = WRITER.run

    async def run(self, job: Any) -> Any:
        if self.database:
            raise self.database
        return await self._run(job)

    def put(self, *_: Any) -> None:
        if self.spool:
            raise self.spool


@pytest.fixture
def disk(monkeypatch) -> Disk:
    made = Disk()
    monkeypatch.setattr(WRITER, "run", made.run)
    return made


@pytest.fixture
def fresh(disk, monkeypatch) -> TranscriptStore:
    monkeypatch.setattr(SPOOL, "put", disk.put)
    return TranscriptStore(WRITER)


@pytest.mark.parametrize("database", [OperationalError("x"), InterfaceError("x"), DatabaseError()])
@pytest.mark.parametrize("spool_error", [OSError(errno.ENOSPC, "full")])
def test_an_end_that_nothing_takes_is_not_stored(fresh, disk, database, spool_error, caplog):
    asked = Client().ask("Hi")
    disk.database, disk.spool = database, spool_error
    end = end_of(asked.run_id, MessageChunk("secret words"))
    assert asyncio.run(fresh.finish(end)) is None
    assert f"neither database nor spool takes run {asked.run_id}" in caplog.text
    assert "secret words" not in caplog.text
    assert asked.run.outcome == Outcome.RUNNING


def test_a_failed_write_is_a_problem_until_the_database_takes_one(fresh, disk):
    disk.database = OperationalError("database or disk is full")
    with pytest.raises(Unavailable) as refused:
        asyncio.run(fresh.accept(Client().start("Hi")))
    assert refused.value.code == "database-unavailable"
    asyncio.run(fresh.check_health())
    assert fresh.problem == "the last write to the database failed"
    disk.database = None
    asyncio.run(fresh.check_health())
    assert fresh.problem == ""
    assert not Blob.objects.filter(sha256="probe").exists()


def test_a_failed_checkpoint_is_a_problem(fresh, monkeypatch):
    def fail(*_: object) -> None:
        raise OperationalError("disk I/O error")

    monkeypatch.setattr(checkpoints, "save_checkpoints", fail)
    fresh.checkpoint({uuid4(): Piece(0, "x")})
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    assert fresh.problem == "the last write to the database failed"
