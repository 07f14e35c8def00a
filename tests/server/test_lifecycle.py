"""Start, periodic tasks, gauges and end of a server process; SIGTERM drains its streams."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
import multiprocessing
from pathlib import Path
import signal
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, OperationalError, connection
import pytest

from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.models import Copilot, Removal
from copilot_admin.runs import open_run
from copilot_admin.runs.tasks import CancelReason
from copilot_admin.server import lifecycle
from copilot_admin.server.lifecycle import drain, install_signal_handlers
from copilot_admin.server.periodic_tasks import (
    PERIODIC_TASKS,
    PeriodicTask,
    read_gauges,
    start_periodic_tasks,
)
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
        open_run.DRAINING.clear()

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


class Running:
    """A run: its task, and what happens when it is interrupted."""

    def __init__(self, task: Any, interrupt: Callable[[], object]) -> None:
        self.task = task
        self._interrupt = interrupt

    def cancel(self, reason: CancelReason) -> None:
        assert reason is CancelReason.SHUTDOWN
        self._interrupt()


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[Running]]:
    """The runs of this process."""
    running: set[Running] = set()
    monkeypatch.setattr(lifecycle, "RUNNING", running)
    monkeypatch.setattr(open_run, "RUNNING", running)
    yield running
    open_run.DRAINING.clear()


def add_run(runs: set[Running], events: list[str]) -> asyncio.Event:
    """Add a run that ends when its event is set or it is interrupted."""
    ended = asyncio.Event()

    async def work() -> None:
        await ended.wait()
        runs.discard(run)

    def interrupt() -> None:
        events.append("interrupted")
        ended.set()

    run = Running(asyncio.ensure_future(work()), interrupt)
    runs.add(run)
    return ended


@pytest.mark.parametrize(
    ("finishes", "seconds", "expected"), [(True, HANGS_SECONDS, []), (False, 0, ["interrupted"])]
)
def test_streams_finish_within_the_grace_and_are_interrupted_after_it(
    runs, finishes, seconds, expected
):
    events: list[str] = []

    async def scenario() -> None:
        ended = add_run(runs, events)
        if finishes:
            asyncio.get_running_loop().call_soon(ended.set)
        await drain(seconds, asyncio.Event())

    asyncio.run(scenario())
    assert (events, runs) == (expected, set())


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Signals that have reached the server's own handlers, behind the drain."""
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    numbers: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: numbers.append(number))
        for number in lifecycle.SIGNALS
    }
    yield numbers
    for number, handler in handlers.items():
        signal.signal(number, handler)


def tasks_named(name: str) -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if task.get_name() == name]


async def drained() -> None:
    """Wait until the drain that a signal started has ended."""
    async with asyncio.timeout(HANGS_SECONDS):
        while not (tasks := tasks_named("drain")):  # noqa: ASYNC110
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)


def test_the_first_signal_drains_before_the_server_stops(runs, received, settings):
    settings.DRAIN_SECONDS = 600
    events: list[str] = []

    async def scenario() -> None:
        ended = add_run(runs, events)
        install_signal_handlers()
        signal.raise_signal(signal.SIGTERM)
        while not open_run.DRAINING.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert received == []
        ended.set()
        await drained()

    asyncio.run(scenario())
    assert (events, received) == ([], [signal.SIGTERM])


def test_a_second_signal_interrupts_at_once(runs, received, settings):
    settings.DRAIN_SECONDS = 600
    events: list[str] = []

    async def scenario() -> None:
        add_run(runs, events)
        install_signal_handlers()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        await drained()

    asyncio.run(scenario())
    assert (events, received) == (["interrupted"], [signal.SIGTERM])


class Server:
    """uvicorn's server, as far as a worker uses it."""

    def __init__(self, events: list[str]) -> None:
        self.servers = [self]
        self._events = events

    def close(self) -> None:
        self._events.append("listens no more")

    def handle_exit(self, number: int, frame: object) -> None:
        self._events.append("stops")


def test_a_worker_stops_listening_first_and_refuses_nothing(runs, received, monkeypatch, settings):
    settings.DRAIN_SECONDS = 0.02
    monkeypatch.setattr(lifecycle, "LATE_REQUEST_SECONDS", 0.01)
    monkeypatch.setattr(lifecycle, "_terminate_with_supervisor", lambda: None)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    events: list[str] = []
    signal.signal(signal.SIGTERM, Server(events).handle_exit)

    async def scenario() -> None:
        add_run(runs, events)
        install_signal_handlers()
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGINT):  # by its group, too
            signal.raise_signal(number)
        await drained()

    asyncio.run(scenario())
    assert events == ["listens no more", "stops", "interrupted"]
    assert not open_run.DRAINING.is_set()


@pytest.fixture
def spool(settings: Any, tmp_path: Any) -> None:
    """An empty spool."""
    settings.DATA_DIR = tmp_path


@pytest.mark.usefixtures("spool")
def test_the_spool_is_counted_without_what_cannot_be_stored(settings: Any):
    SPOOL.put(UUID(int=1), {"a": 1})
    SPOOL.put(UUID(int=2), {"b": 2})
    folder = Path(settings.DATA_DIR) / "spool"
    SPOOL.reject(folder / f"{UUID(int=1)}.json")
    (folder / "README").write_text("of somebody else")
    found = read_gauges()
    names = ("files", "bytes", "set_aside_files")
    size = len('{"b": 2}')
    assert [found[f"spool_{name}"][""] for name in names] == [1, size, 1]
    assert found["limit_used"]["spool_bytes"] == size


@pytest.mark.database
def test_postgresql_has_a_pool_and_sqlite_has_none():
    found = read_gauges()
    has_pool = connection.vendor == "postgresql"
    assert ("database_connections" in found) is has_pool
    if has_pool:
        assert set(found["database_connections"]) == {"idle", "used"}
        assert found["database_waiting"] == {"": 0}
