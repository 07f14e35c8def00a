"""What the database cannot take is kept in the spool, and stored as soon as it can."""

import asyncio
import errno
from pathlib import Path

from django.db import InterfaceError, OperationalError
import pytest

from copilot_admin.errors import Unavailable
from copilot_admin.models import Blob, DailyUsage, Event, Logging, Node, Outcome, Run
from copilot_admin.pricing.cost import UNKNOWN_COST
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store.rollups import count_finished_runs
from copilot_admin.transcripts.store.transcript_store import (
    STORE,
    TranscriptStore,
    end_to_json,
    reap,
    replay_spool,
)
from protocol.events import MessageChunk, StatusUpdate
from tests.transcripts.store.journaling import Client, call_event, end_of

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def spool(settings, tmp_path) -> Path:
    settings.DATA_DIR = tmp_path
    return Path(tmp_path) / "spool"


@pytest.fixture(params=[OperationalError, InterfaceError])
def no_database(request, monkeypatch) -> None:
    async def fail(job: object) -> None:
        raise request.param("the secret value is in the driver's message")

    monkeypatch.setattr(WRITER, "run", fail)


@pytest.mark.usefixtures("no_database")
def test_what_the_database_cannot_take_is_spooled_and_stored_later(spool, caplog):
    asked = Client().ask("Hi")
    assert asyncio.run(STORE.finish(end_of(asked.run_id, MessageChunk("Hello")))) == UNKNOWN_COST
    (path,) = spool.iterdir()
    assert path.name == f"{asked.run_id}.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert caplog.messages[0].startswith(f"run {asked.run_id} goes to the spool: ")
    assert caplog.messages[0].endswith(("OperationalError", "InterfaceError"))
    assert "secret" not in caplog.text
    assert asked.run.outcome == Outcome.RUNNING
    assert replay_spool() == 1
    assert (asked.run.outcome, asked.run.output_node.text) == (Outcome.COMPLETED, "Hello")
    assert list(spool.iterdir()) == []
    assert replay_spool() == 0


@pytest.mark.usefixtures("no_database")
def test_the_spool_holds_nothing_that_may_not_be_kept(spool):
    asked = Client(logging=Logging.METADATA).ask("canary")
    end = end_of(asked.run_id, MessageChunk("canary"), call_event(), keep_content=False)
    asyncio.run(STORE.finish(end))
    (path,) = spool.iterdir()
    assert "canary" not in path.read_text()
    assert "get_widget_data" not in path.read_text()
    assert replay_spool() == 1
    assert Node.objects.filter(role="ai").count() == 2


def test_a_spooled_end_replaces_the_guess_that_the_run_was_interrupted():
    asked = Client().ask("Hi")
    end = end_of(asked.run_id, MessageChunk("Hello"), StatusUpdate(message="s"))
    SPOOL.put(end.run_id, end_to_json(end))
    Run.objects.update(boot_id="another")
    assert reap(every_other_boot=True) == 1
    assert asked.run.outcome == Outcome.INTERRUPTED
    assert replay_spool() == 1
    assert asked.run.outcome == Outcome.COMPLETED
    assert Event.objects.count() == 1
    assert count_finished_runs() == 1
    assert DailyUsage.objects.get().runs == 1


@pytest.mark.parametrize(
    "odd",
    [b"{not json", b"[]", {"ending": {"outcome": "completed", "ms": 2**70, "ttft_ms": None}},
     {"ended_at": "x"}, {"events": 1}, {"text": None}],
)  # fmt: skip
def test_a_spooled_file_that_cannot_be_stored_is_set_aside_and_no_other(spool, odd):
    lost, good = Client().ask("Hi"), Client().ask("Hello")
    for one, changed in ((lost, odd if isinstance(odd, dict) else {}), (good, {})):
        SPOOL.put(one.run_id, {**end_to_json(end_of(one.run_id, MessageChunk("Yes"))), **changed})
    if isinstance(odd, bytes):
        (spool / f"{lost.run_id}.json").write_bytes(odd)
    assert replay_spool() == 1
    assert [lost.run.outcome, good.run.outcome] == [Outcome.RUNNING, Outcome.COMPLETED]
    assert [path.name for path in spool.iterdir()] == [f"{lost.run_id}.bad"]


@pytest.mark.usefixtures("no_database")
def test_an_end_that_nothing_takes_is_not_stored(monkeypatch, caplog):
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    asked = Client().ask("Hi")
    monkeypatch.setattr(SPOOL, "put", fail)
    assert asyncio.run(STORE.finish(end_of(asked.run_id, MessageChunk("secret words")))) is None
    assert f"neither database nor spool takes run {asked.run_id}" in caplog.text
    assert "secret words" not in caplog.text
    assert asked.run.outcome == Outcome.RUNNING


def test_a_failed_write_is_a_problem_until_the_database_takes_one(no_database, monkeypatch):
    fresh = TranscriptStore(WRITER)
    with pytest.raises(Unavailable) as refused:
        asyncio.run(fresh.accept(Client().start("Hi")))
    assert refused.value.code == "database-unavailable"
    asyncio.run(fresh.check_health())
    assert fresh.problem == "the last write to the database failed"
    monkeypatch.undo()
    asyncio.run(fresh.check_health())
    assert fresh.problem == ""
    assert not Blob.objects.filter(sha256="probe").exists()
