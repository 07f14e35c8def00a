"""The supervisor of worker processes waits for none of them, and sees all that happens to them."""

from itertools import count
import multiprocessing
import os
import queue
import signal
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.supervisors.multiprocess import Process

from copilot_admin.server import worker_process, workers
from copilot_admin.server.worker_process import WorkerProcess
from copilot_admin.server.workers import Workers
from tests.polling import HANGS_SECONDS

MOST_SECONDS = 10


class Fake:
    """A worker of a test; what is done to it is kept."""

    numbers = count(1)

    def __init__(self, config: Config, sockets: list[Any]) -> None:
        self.pid = next(self.numbers)
        self.exitcode: int | None = None
        self.serves = False
        self.seconds = self.silent_seconds = 0.0
        self.done: list[str] = []

    @property
    def has_ended(self) -> bool:
        return self.exitcode is not None

    def start(self) -> None:
        self.done.append("started")

    def look(self) -> None:
        """Nothing to hear: a test says what it would have said."""

    def terminate(self) -> None:
        self.done.append("terminated")

    def end_at_once(self) -> None:
        self.done.append("ended at once")

    def kill(self) -> None:
        self.done.append("killed")
        self.exitcode = -signal.SIGKILL if self.exitcode is None else self.exitcode

    def join(self) -> None:
        assert self.has_ended, "the supervisor would wait"


class Listener:
    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A supervisor of three workers that serve."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(workers, "WorkerProcess", Fake)
    forgotten: list[int] = []
    monkeypatch.setattr(workers, "forget_process", forgotten.append)
    config = Config("any", workers=3, log_config=None, timeout_worker_healthcheck=MOST_SECONDS)
    supervisor: Any = Workers(config, sockets=[])
    supervisor.init_processes()
    supervisor.forgotten = forgotten
    for worker in supervisor.processes:
        worker.serves = True
    return supervisor


def turn(several: Any, *signals: signal.Signals) -> None:
    """One round of the supervisor."""
    several.signal_queue.extend(signals)
    several.handle_signals()
    several.keep_subprocess_alive()


def coming(several: Any) -> Fake:
    worker: Fake = several._coming
    return worker


def replace_next(several: Any) -> Fake:
    """Lets the next worker come and serve; returns the one that leaves."""
    turn(several)
    coming(several).serves = True
    turn(several)
    old: Fake = several._leaving[-1]
    return old


def test_nothing_happens_to_workers_that_serve(several):
    before = list(several.processes)
    turn(several)
    assert (several.processes, several.should_exit.is_set()) == (before, False)
    assert [worker.done for worker in before] == [["started"]] * 3


@pytest.mark.parametrize("status", [0, -signal.SIGKILL])
def test_one_that_a_signal_ended_is_replaced(several, status):
    first, second, third = several.processes
    second.exitcode = status
    turn(several)
    assert [several.processes[0], several.processes[2]] == [first, third]
    assert several.processes[1].done == ["started"]
    assert not several.has_failed
    assert several.forgotten == [second.pid]


@pytest.mark.parametrize(("silent", "killed"), [(MOST_SECONDS, False), (MOST_SECONDS + 1, True)])
def test_one_that_answers_no_more_is_killed_and_replaced(several, silent, killed):
    first = several.processes[0]
    first.silent_seconds = silent
    turn(several)
    assert ("killed" in first.done) is killed
    assert (first in several.processes) is not killed


@pytest.mark.parametrize("status", [1, 3])
def test_one_that_cannot_start_ends_them_all(several, status):
    for worker in several.processes:
        worker.serves = False
    several.processes[2].exitcode = status
    turn(several)
    assert (several.has_failed, several.should_exit.is_set()) == (True, True)


def test_one_that_cannot_start_while_others_serve_is_tried_again_and_again(several):
    """A worker that was killed while PostgreSQL was away took the whole server with it."""
    first, second, third = several.processes
    first.exitcode = -signal.SIGKILL
    turn(several)
    for seconds in (0.0, workers.AGAIN_SECONDS - 0.1):
        comes = several.processes[0]
        comes.exitcode, comes.seconds = 3, seconds
        turn(several)
        assert several.processes == [comes, second, third]
        comes.seconds = workers.AGAIN_SECONDS
        turn(several)
        assert several.processes[0].done == ["started"]
        assert several.processes[0] is not comes
    assert (several.has_failed, several.should_exit.is_set()) == (False, False)


def test_nor_does_it_end_them_where_none_serves_any_more(several):
    turn(several)
    for worker in several.processes:
        worker.exitcode = -signal.SIGKILL
    turn(several)
    several.processes[1].exitcode = 3
    turn(several)
    assert (several.has_failed, several.should_exit.is_set()) == (False, False)


def test_after_a_signal_to_end_nobody_is_replaced(several):
    before = list(several.processes)
    before[0].exitcode = -signal.SIGKILL
    turn(several, signal.SIGTERM)
    assert (several.processes, several.has_failed) == (before, False)


class TestReplacing:
    def test_workers_are_replaced_one_by_one_each_when_the_next_is_ready(self, several):
        old = list(several.processes)
        turn(several, signal.SIGHUP)
        for leaves in old:
            assert leaves.done == ["started"]
            assert replace_next(several) is leaves
            assert leaves.done == ["started", "terminated"]
            assert leaves not in several.processes
            turn(several)
            assert several._coming is None  # the old one still answers
            leaves.exitcode = 0
        turn(several)
        assert (several._coming, several._leaving, len(several.processes)) == (None, [], 3)
        assert several.forgotten == [worker.pid for worker in old]

    def test_a_worker_that_dies_while_another_one_leaves_is_replaced(self, several):
        turn(several, signal.SIGHUP)
        leaves = replace_next(several)
        crashed = several.processes[1]
        crashed.exitcode = -signal.SIGSEGV
        turn(several)
        assert crashed not in several.processes
        assert leaves in several._leaving
        leaves.exitcode = 0
        leaves = replace_next(several)  # what came for the crashed one is new already
        leaves.exitcode = 0
        turn(several)
        turn(several)
        assert (several._coming, several._outdated) == (None, [])

    def test_a_signal_to_end_is_heard_while_one_comes_and_one_leaves(self, several):
        turn(several, signal.SIGHUP)
        leaves = replace_next(several)
        leaves.exitcode = 0
        turn(several)
        comes = coming(several)
        turn(several, signal.SIGTERM)
        assert several.should_exit.is_set()
        several.terminate_all()
        assert comes.done == ["started", "killed"]
        assert [worker.done[-1] for worker in several.processes] == ["terminated"] * 3

    @pytest.mark.parametrize("failure", [{"exitcode": 3}, {"seconds": MOST_SECONDS + 1}])
    def test_where_the_next_cannot_start_the_old_ones_go_on(self, several, failure, caplog):
        before = list(several.processes)
        turn(several, signal.SIGHUP)
        comes = coming(several)
        vars(comes).update(failure)
        turn(several)
        turn(several)
        assert (several.processes, several._coming) == (before, None)
        assert (comes.done[-1], several.has_failed) == ("killed", False)
        assert "the old ones go on" in caplog.text
        assert several.forgotten == [comes.pid]

    def test_one_that_came_for_a_worker_that_died_is_too_many(self, several):
        several.processes_num = 1
        del several.processes[1:]
        turn(several, signal.SIGHUP)
        comes = coming(several)
        several.processes[0].exitcode = -signal.SIGKILL
        comes.serves = True
        turn(several)
        assert comes.done == ["started", "terminated"]
        assert len(several.processes) == 1

    def test_a_second_hangup_replaces_those_that_came_too(self, several):
        turn(several, signal.SIGHUP)
        replace_next(several).exitcode = 0
        turn(several, signal.SIGHUP)
        for _ in range(3):
            coming(several).serves = True
            turn(several)
            for worker in several._leaving:
                worker.exitcode = 0
            turn(several)
        assert (several._coming, several._outdated, len(several.processes)) == (None, [], 3)


class TestEnding:
    def test_when_all_stop_nobody_listens(self, several):
        several.sockets = [Listener()]
        several.terminate_all()
        assert several.sockets[0].closed

    @pytest.mark.parametrize(
        ("signals", "times"), [([], 1), ([signal.SIGHUP], 1), ([signal.SIGTERM], 2)]
    )
    def test_a_second_signal_goes_on_to_the_workers(self, several, monkeypatch, signals, times):
        looks = iter(range(3))

        def passes(seconds: float) -> None:
            if next(looks) == 0:
                several.signal_queue.extend(signals)
            else:
                for worker in several.processes:
                    worker.exitcode = 0

        monkeypatch.setattr(workers, "time", SimpleNamespace(sleep=passes))
        several.terminate_all()
        several.join_all()
        assert [worker.done[1:] for worker in several.processes] == [
            ["terminated", "ended at once"][:times]
        ] * 3

    def test_one_that_still_leaves_is_waited_for(self, several, monkeypatch):
        turn(several, signal.SIGHUP)
        leaves = replace_next(several)
        for worker in several.processes:
            worker.exitcode = 0

        def passes(seconds: float) -> None:
            leaves.exitcode = 0

        monkeypatch.setattr(workers, "time", SimpleNamespace(sleep=passes))
        several.join_all()
        assert leaves.has_ended


class TestNumbers:
    def test_a_worker_more_and_a_worker_less(self, several):
        turn(several, signal.SIGTTIN)
        assert (several.processes_num, len(several.processes)) == (4, 4)
        last = several.processes[-1]
        turn(several, signal.SIGTTOU)
        assert (several.processes_num, len(several.processes)) == (3, 3)
        assert last.done == ["started", "terminated"]

    def test_the_last_one_stays(self, several):
        several.processes_num = 1
        turn(several, signal.SIGTTOU)
        assert several.processes_num == 1


class TestProcess:
    @pytest.fixture
    def worker(self) -> WorkerProcess:
        return WorkerProcess(Config("any", log_config=None), [])

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        class Clock:
            now = 0.0

            def monotonic(self) -> float:
                return self.now

        clock = Clock()
        monkeypatch.setattr(worker_process, "time", clock)
        return clock

    def test_it_is_asked_once_until_it_answers(self, clock, worker):
        for clock.now in (5.0, 7.0):
            worker.look()
        assert (worker.silent_seconds, worker.serves, worker.has_ended) == (2.0, False, False)
        assert worker.child_conn.recv() == b"ping"
        assert not worker.child_conn.poll()
        worker.child_conn.send(True)
        worker.look()
        assert (worker.silent_seconds, worker.serves, worker.seconds) == (0.0, True, 7.0)
        assert worker.child_conn.recv() == b"ping"

    def test_one_that_was_not_asked_owes_nothing(self, worker):
        assert worker.silent_seconds == 0.0

    def test_one_that_is_gone_cannot_be_asked(self, worker):
        worker.child_conn.close()
        worker.look()
        assert not worker.serves


def test_a_worker_ends_its_answers_and_goes_when_its_supervisor_was_killed(monkeypatch):
    """It served for ever, and its port was taken for the next server."""
    supervisor_ends, signals = threading.Event(), queue.SimpleQueue[tuple[int, int]]()
    parent = SimpleNamespace(join=supervisor_ends.wait)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(os, "kill", lambda *one: signals.put(one))

    def serve(self: Any, sockets: Any) -> None:
        assert signals.empty()
        supervisor_ends.set()

    monkeypatch.setattr(Process, "target", serve)
    WorkerProcess(Config("any", log_config=None), []).target([])
    assert signals.get(timeout=HANGS_SECONDS) == (os.getpid(), signal.SIGTERM)
