"""Orders are carried out apart, and whoever stops waiting for one ends its process."""

import asyncio
from contextlib import suppress
import errno
import os
import signal
import socket
import subprocess

import pytest

from copilot_admin.agent.processes import fork_server
from copilot_admin.agent.processes import workers as workers_module
from copilot_admin.agent.processes.losses import Loss
from copilot_admin.agent.processes.places import Busy
from copilot_admin.agent.processes.workers import ModuleWorkers, OrderFailed
from tests.agent.processes import odd_worker
from tests.polling import HANGS_SECONDS, eventually

ODD = "tests.agent.processes.odd_worker"


@pytest.fixture
def workers():
    made = ModuleWorkers(ODD)
    yield made
    made.stop()


@pytest.fixture
def single():
    """Has one place and lets nobody wait."""
    made = ModuleWorkers(ODD, at_once=1, waiting=0)
    yield made
    made.stop()


async def said(workers, do, body=b""):
    """The replies to an order, without the process that gave them."""
    replies = []
    await workers.carry_out({"do": do}, body, take=replies.append)
    return replies[1:]


class Waiting:
    """An order that never ends of itself."""

    def __init__(self, workers):
        self.process = asyncio.get_running_loop().create_future()
        self.replies = 0
        self.task = asyncio.create_task(
            workers.carry_out({"do": "wait"}, b"", take=self._take), name="waiting"
        )

    def _take(self, reply):
        self.replies += 1
        self.process.set_result(reply["process"])

    async def started(self):
        async with asyncio.timeout(HANGS_SECONDS):
            return await self.process


async def has_ended(process):
    return await asyncio.to_thread(eventually, lambda: not is_there(process))


def is_there(process):
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@pytest.mark.parametrize("body", [b"a", "a", b"a" * 3_000_000, "a" * 3_000_000])
def test_an_order_comes_with_its_bytes_and_is_replied_to(workers, body):
    text = body if isinstance(body, str) else body.decode()
    assert asyncio.run(said(workers, "say", body)) == [text]


def test_a_reply_may_hold_whatever_a_text_can(workers):
    text = "Käse 🧀 \x00 \n"
    assert asyncio.run(said(workers, "say", text.encode())) == [text]


def test_orders_of_several_event_loops_use_the_same_processes(workers):
    assert [asyncio.run(said(workers, "say", b"a")) for _ in range(3)] == [["a"]] * 3


def test_a_process_has_limits_and_nothing_of_the_environment(workers):
    environment, cpu, file_size = asyncio.run(said(workers, "tell"))
    assert set(environment) <= {"PYTHONPATH", "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    assert (cpu, file_size) == (5, 0)


def loss_of(workers, do, body=b""):
    """What is said of the process that an order cost its life."""

    async def ask():
        with pytest.raises(OrderFailed) as failed:
            await said(workers, do, body)
        return failed.value.loss

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("do", "body", "loss"),
    [
        ("end", b"", Loss.DAMAGE),
        ("break", b"", Loss.DAMAGE),
        ("signal", str(int(signal.SIGSEGV)).encode(), Loss.DAMAGE),
        ("spin", b"", Loss.TIME),
        ("grow", b"", Loss.MEMORY),
        ("signal", str(int(signal.SIGABRT)).encode(), Loss.MEMORY),
        ("signal", str(int(signal.SIGKILL)).encode(), Loss.MEMORY),
    ],
)
def test_a_process_that_is_lost_is_told_with_the_reason_and_the_next_one_works(
    workers, do, body, loss
):
    assert loss_of(workers, do, body) is loss
    assert asyncio.run(said(workers, "say", b"next")) == ["next"]


def test_where_all_processes_are_lost_nobody_knows_why(workers):
    async def lose():
        order = Waiting(workers)
        await order.started()
        os.killpg(workers._server.pid, signal.SIGKILL)
        with pytest.raises(OrderFailed) as failed:
            await order.task
        return failed.value.loss

    assert asyncio.run(lose()) is Loss.UNKNOWN


def test_who_stops_waiting_ends_the_process_at_once(single):
    async def leave():
        order = Waiting(single)
        process = await order.started()
        order.task.cancel()
        await asyncio.wait([order.task])
        assert await has_ended(process)
        return await said(single, "say", b"its place is free")

    assert asyncio.run(leave()) == ["its place is free"]


def test_an_order_that_takes_too_long_is_ended(workers, monkeypatch):
    monkeypatch.setattr(workers_module, "WORK_SECONDS", 0.01)
    assert loss_of(workers, "wait") is Loss.TIME


def test_replies_that_are_too_long_together_end_the_process(workers, monkeypatch):
    monkeypatch.setattr(workers_module, "MOST_REPLIED", 100)
    assert loss_of(workers, "say", b"a" * 100) is Loss.MEMORY


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError])
def test_a_reply_that_nobody_knows_ends_the_process(workers, error):
    def take(reply):
        raise error

    with pytest.raises(OrderFailed) as failed:
        asyncio.run(workers.carry_out({"do": "wait"}, b"", take=take))
    assert failed.value.loss is Loss.DAMAGE


def test_who_finds_no_place_is_told_at_once(single):
    async def ask():
        order = Waiting(single)
        await order.started()
        with pytest.raises(Busy):
            await said(single, "say")
        order.task.cancel()
        await asyncio.wait([order.task])

    asyncio.run(ask())


def test_what_makes_the_processes_is_started_anew_when_it_was_lost(workers):
    async def ask():
        first = await said(workers, "say", b"first")
        os.killpg(workers._server.pid, signal.SIGKILL)
        workers._server.wait(HANGS_SECONDS)
        return first, await said(workers, "say", b"second")

    assert asyncio.run(ask()) == (["first"], ["second"])


def children_of(process):
    """The ids of the processes that this one has made."""
    command = ["ps", "-A", "-o", "pid=,ppid="]
    listed = subprocess.run(command, capture_output=True, check=True)
    rows = (line.split() for line in listed.stdout.splitlines())
    return [int(one) for one, parent in rows if int(parent) == process]


def children(workers, *, number):
    """Those of the fork server, once there are as many."""
    found = []

    def are_there():
        found[:] = children_of(workers._server.pid)
        return len(found) == number

    assert eventually(are_there)
    return found


def test_an_order_does_not_wait_for_a_fork_and_the_next_process_is_there_soon(workers):
    async def ask():
        workers.start()
        first = await asyncio.to_thread(children, workers, number=1)
        order = Waiting(workers)
        assert [await order.started()] == first, "it was there before the order"
        await asyncio.to_thread(children, workers, number=2)
        order.task.cancel()
        await asyncio.wait([order.task])

    asyncio.run(ask())


def test_a_spare_process_that_was_lost_costs_no_order(workers):
    async def ask():
        workers.start()
        [spare] = await asyncio.to_thread(children, workers, number=1)
        os.kill(spare, signal.SIGKILL)
        assert await has_ended(spare)
        return await said(workers, "say", b"next")

    assert asyncio.run(ask()) == ["next"]


def test_where_the_machine_has_no_more_processes_who_ordered_is_told(monkeypatch):
    def none():
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", none)
    orders, mine = socket.socketpair()
    job, its = socket.socketpair()
    loss, its_loss = socket.socketpair()
    with orders, mine, job, loss:
        with its, its_loss:
            socket.send_fds(mine, [b"\0"], [its.fileno(), its_loss.fileno()])
        server = fork_server._ForkServer(orders, odd_worker.perform, odd_worker.LIMITS)
        assert server._start_next(), "it goes on"
        assert (job.recv(1), loss.recv(1)) == (b"", b"")
        for end in (server._ended, server._wake):
            end.close()


def test_an_order_that_nobody_takes_fails(workers, monkeypatch):
    async def ask():
        await said(workers, "say")
        os.killpg(workers._server.pid, signal.SIGKILL)
        workers._server.wait(HANGS_SECONDS)
        monkeypatch.setattr(ModuleWorkers, "_is_running", lambda self: True)
        await said(workers, "say")

    with pytest.raises(OrderFailed):
        asyncio.run(ask())


def test_stopping_ends_every_process(workers):
    async def stop():
        order = Waiting(workers)
        process = await order.started()
        await asyncio.to_thread(workers.stop)
        assert await has_ended(process)
        with pytest.raises(OrderFailed):
            await order.task

    asyncio.run(stop())
    workers.stop()


def test_what_does_not_end_of_itself_is_killed(workers, monkeypatch):
    workers.start()
    os.kill(workers._server.pid, signal.SIGSTOP)
    monkeypatch.setattr(workers_module, "STOP_SECONDS", 0.01)
    server = workers._server
    workers.stop()
    assert server.returncode == -signal.SIGKILL
