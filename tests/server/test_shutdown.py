"""SIGTERM drains: streams finish within the grace, the rest ends with a terminal event."""

import asyncio
from collections.abc import Callable, Iterator
import multiprocessing
import signal
from typing import Any

import pytest

from copilot_admin.runs import open_run
from copilot_admin.runs.tasks import CancelReason
from copilot_admin.server import lifecycle
from copilot_admin.server.lifecycle import drain, install_signal_handlers
from tests.polling import HANGS_SECONDS


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
    open_run.stop_draining()


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
        while not open_run.is_draining():  # noqa: ASYNC110
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
    assert not open_run.is_draining()
