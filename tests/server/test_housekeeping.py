"""What a process does beside answering goes on whatever breaks, and a start that fails is told."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils import timezone
import pytest

from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs import background
from copilot_admin.models import ErasedRun
from copilot_admin.privacy import spooled
from copilot_admin.runs import open_run
from copilot_admin.server import duties, housekeeping, rounds
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.spool import SPOOL
from copilot_admin.transcripts.store import JOURNAL
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


class FileProcesses:
    """Notes when they are started and ended."""

    def __init__(self, calls: list[str]) -> None:
        self.start = lambda: calls.append("files can be read")
        self.stop = lambda: calls.append("no file is read")


def test_starting_loads_the_providers_and_puts_in_order_what_another_process_left(monkeypatch):
    calls: list[Any] = []
    monkeypatch.setattr(housekeeping, "provider_kinds", lambda: calls.append("loaded"))
    monkeypatch.setattr(SPOOL, "remove_leftovers", lambda: calls.append("cleaned"))
    left = [2, 1]  # runs that two batches have to store

    def replay_spool(*, most: int) -> int:
        calls.append(f"spool, {most}")
        return left.pop(0) if left else 0

    monkeypatch.setattr(duties, "replay_spool", replay_spool)
    dead: Iterator[int] = iter([20, 0])

    def reap(*, every_other_boot: bool) -> int:
        calls.append("reaped")
        return next(dead)

    monkeypatch.setattr(housekeeping, "reap", reap)
    monkeypatch.setattr(housekeeping, "drain_on_signal", lambda: calls.append("signals"))
    monkeypatch.setattr(housekeeping, "WORKERS", FileProcesses(calls))

    async def close() -> None:
        calls.append("last try")

    monkeypatch.setattr(JOURNAL, "close", close)

    async def scenario() -> None:
        await housekeeping.start()
        await housekeeping.stop()
        open_run.stop_draining()

    asyncio.run(scenario())
    assert calls == [
        *("signals", "files can be read", "loaded", "cleaned"),
        *[f"spool, {duties.REPLAYED_AT_ONCE}"] * 3,
        *("reaped", "reaped", "last try", "no file is read"),
    ]


@pytest.mark.parametrize("failure", [OperationalError, InterfaceError, DatabaseError])
def test_a_start_without_a_database_is_one_sentence(monkeypatch, failure):
    def fail(*, most: int) -> None:
        raise failure("database disk image is malformed")

    monkeypatch.setattr(duties, "replay_spool", fail)
    with ExitStack() as alone:  # such a process ends, and lets go of its folders
        monkeypatch.setattr(housekeeping, "_alone", alone)
        with pytest.raises(ConfigurationError) as refused:
            asyncio.run(housekeeping.start())
    assert len(refused.value.public.splitlines()) == 1
    assert not background.is_server()


def go_round(*todo: Any, until: asyncio.Event) -> None:
    """Does duties again and again until something has happened."""

    async def scenario() -> None:
        task = asyncio.ensure_future(rounds.again_and_again(*todo))
        async with asyncio.timeout(HANGS_SECONDS):
            await until.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (OperationalError("away"), False),
        (InterfaceError("closed"), False),
        (DatabaseUnavailable(), False),
        (RuntimeError("a bug"), True),
        (OSError("a disk"), True),
        (ConfigurationError("A row is wrong."), True),
        (asyncio.CancelledError(), False),
    ],
)
def test_a_duty_that_breaks_keeps_neither_the_others_nor_itself(monkeypatch, caplog, failure, told):
    monkeypatch.setattr(rounds, "HEARTBEAT_SECONDS", 0.0)
    done, twice = [], asyncio.Event()

    async def breaks() -> None:
        done.append("breaks")
        raise failure

    async def works() -> None:
        done.append("works")
        if len(done) >= 4:
            twice.set()

    go_round(breaks, works, until=twice)
    assert done[:4] == ["breaks", "works", "breaks", "works"]
    assert ("duty breaks ended with an error" in caplog.text) is told


def test_a_duty_that_hangs_keeps_the_others_waiting_once_and_is_not_begun_again(monkeypatch):
    monkeypatch.setattr(rounds, "HEARTBEAT_SECONDS", 0.0)
    monkeypatch.setattr(rounds, "PATIENCE_SECONDS", 0.01)
    done, thrice, for_ever = [], asyncio.Event(), asyncio.Event()

    async def hangs() -> None:
        done.append("hangs")
        try:
            await for_ever.wait()
        finally:
            done.append("cancelled")

    async def works() -> None:
        done.append("works")
        if len(done) == 4:
            thrice.set()

    go_round(hangs, works, until=thrice)
    assert done[:4] == ["hangs", "works", "works", "works"]
    assert (done.count("hangs"), done[-1]) == (1, "cancelled")


def test_hearts_beat_although_other_duties_wait(monkeypatch):
    """The heartbeat has rounds of its own."""
    monkeypatch.setattr(rounds, "HEARTBEAT_SECONDS", 0.0)
    beats: list[int] = []

    async def scenario() -> None:
        enough, for_ever = asyncio.Event(), asyncio.Event()

        async def beat() -> None:
            beats.append(len(beats))
            if len(beats) == 3:
                enough.set()

        monkeypatch.setattr(housekeeping, "beat_hearts", beat)
        monkeypatch.setattr(housekeeping, "DUTIES", (for_ever.wait,))
        await housekeeping.start()
        async with asyncio.timeout(HANGS_SECONDS):
            await enough.wait()
        await housekeeping.stop()
        open_run.stop_draining()

    asyncio.run(scenario())
    assert beats[:3] == [0, 1, 2]


def test_the_runs_that_answer_beat_the_dead_are_ended_and_the_spool_is_read(monkeypatch):
    calls: list[Any] = []

    class Answering:
        id = "run"

    running: set[Any] = set()
    monkeypatch.setattr(duties, "RUNNING", running)
    monkeypatch.setattr(duties, "beat", lambda ids: calls.append(ids))
    some_at_once = iter([20, 1, 0])
    monkeypatch.setattr(duties, "reap", lambda **_: calls.append("reaped") or next(some_at_once))
    monkeypatch.setattr(duties, "replay_spool", lambda *, most: calls.append(most))

    async def scenario() -> None:
        await duties.beat_hearts()
        running.add(Answering())
        await duties.beat_hearts()
        await duties.reap_dead()
        await duties.replay()

    asyncio.run(scenario())
    assert calls == [("run",), *["reaped"] * 3, duties.REPLAYED_AT_ONCE]
    assert JOURNAL.look_after in duties.DUTIES


def test_a_night_forgets_all_that_was_erased_long_ago(monkeypatch, settings):
    settings.PRUNE_HOUR = 0
    monkeypatch.setattr(spooled, "ASKED_AT_ONCE", 1)
    long_ago = timezone.now() - 2 * spooled.REMEMBERED
    for number in range(3):
        digest = spooled.digest_of(UUID(int=number))
        ErasedRun.objects.create(digest=digest, erased_at=long_ago if number else timezone.now())
    asyncio.run(duties._Pruner().prune())
    assert ErasedRun.objects.get().digest == spooled.digest_of(UUID(int=0))
