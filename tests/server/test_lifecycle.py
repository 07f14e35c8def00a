"""Start, periodic tasks and end of a server process."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError
import pytest

from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.models import Copilot, Removal
from copilot_admin.runs import open_run
from copilot_admin.server import lifecycle
from copilot_admin.server.periodic_tasks import PERIODIC_TASKS, PeriodicTask, start_periodic_tasks
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.spool import SPOOL
from tests.factories import make_copilot
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_start_recovers_what_another_process_left_and_the_end_writes_the_rest(monkeypatch):
    calls: list[Any] = []
    monkeypatch.setattr(lifecycle, "provider_kinds", lambda: calls.append("providers loaded"))
    monkeypatch.setattr(SPOOL, "remove_leftovers", lambda: calls.append("spool cleaned"))
    left = [2, 1]  # runs of two batches

    def replay_spool() -> int:
        calls.append("spool stored")
        return left.pop(0) if left else 0

    monkeypatch.setattr(lifecycle, "replay_spool", replay_spool)
    dead: Iterator[int] = iter([20, 0])

    def reap(*, every_other_boot: bool) -> int:
        calls.append("orphans ended")
        return next(dead)

    monkeypatch.setattr(lifecycle, "reap", reap)
    monkeypatch.setattr(lifecycle, "install_signal_handlers", lambda: calls.append("signals"))
    monkeypatch.setattr(lifecycle, "start_fork_server", lambda: calls.append("fork server"))

    async def scenario() -> None:
        await lifecycle.start()
        await lifecycle.stop()
        open_run.stop_draining()

    asyncio.run(scenario())
    assert calls == [
        *("signals", "fork server", "providers loaded", "spool cleaned"),
        *["spool stored"] * 3,
        *("orphans ended", "orphans ended"),
    ]


@pytest.mark.parametrize("failure", [OperationalError, InterfaceError, DatabaseError])
def test_a_start_without_a_database_is_one_sentence(monkeypatch, failure):
    def fail() -> None:
        raise failure("database disk image\nis malformed")

    monkeypatch.setattr(lifecycle, "replay_spool", fail)
    with ExitStack() as lock:
        monkeypatch.setattr(lifecycle, "_lock", lock)
        with pytest.raises(ConfigurationError) as refused:
            asyncio.run(lifecycle.start())
    assert len(refused.value.public.splitlines()) == 1
    assert not background_tasks.has_server_loop()


def run_tasks(tasks: Sequence[PeriodicTask], *, until: asyncio.Event) -> None:
    """Call tasks until something has happened."""

    async def scenario() -> None:
        loops = start_periodic_tasks(tasks)
        async with asyncio.timeout(HANGS_SECONDS):
            await until.wait()
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("failure", "is_logged"),
    [
        (OperationalError("away"), False),
        (InterfaceError("closed"), False),
        (DatabaseUnavailable(), False),
        (RuntimeError("a bug"), True),
        (OSError("a disk"), True),
        (ConfigurationError("A row is wrong."), True),
    ],
)
def test_a_task_that_fails_is_called_again_and_stops_no_other(caplog, failure, is_logged):
    done, twice = [], asyncio.Event()

    async def fail() -> None:
        done.append("failing")
        raise failure

    async def work() -> None:
        done.append("working")
        if done.count("failing") > 1 and done.count("working") > 1:
            twice.set()

    tasks = [PeriodicTask("failing", fail, 0.001), PeriodicTask("working", work, 0.001)]
    run_tasks(tasks, until=twice)
    assert ("periodic task 'failing' failed" in caplog.text) is is_logged


def test_nightly_pruning_begins_a_removal(settings):
    settings.PRUNE_HOUR = 0
    make_copilot()
    Copilot.objects.update(retention_days=1)
    (task,) = (task for task in PERIODIC_TASKS if task.name == "begin nightly pruning")
    asyncio.run(task.function())
    assert Removal.objects.get().copilot == Copilot.objects.get().pk
