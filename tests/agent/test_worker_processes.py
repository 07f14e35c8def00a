"""Tasks run in limited child processes that end with their caller."""

import asyncio
from contextlib import suppress
import os
import signal

import pytest

from copilot_admin.agent import worker_processes
from copilot_admin.agent.worker_processes import (
    FailureReason,
    Limits,
    TaskFailed,
    WorkerPool,
    WorkersBusy,
)
from tests.agent.odd_tasks import perform
from tests.polling import HANGS_SECONDS, eventually

LIMITS = Limits(memory=2**30, cpu_seconds=5)


@pytest.fixture
def pool():
    return WorkerPool(perform, limits=LIMITS, max_processes=1)


async def replies_of(pool, do, body=b""):
    """The replies to an order, without the id of the child."""
    replies = []
    await pool.run({"do": do}, body, on_reply=replies.append)
    return replies[1:]


class EndlessTask:
    """A task that waits until it is ended."""

    def __init__(self, pool):
        self._process = asyncio.get_running_loop().create_future()
        run = pool.run({"do": "wait"}, b"", on_reply=self._process.set_result)
        self.task = asyncio.create_task(run)

    async def started(self):
        async with asyncio.timeout(HANGS_SECONDS):
            return (await self._process)["process"]


def exists(process):
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@pytest.mark.parametrize(
    "body", ["a", "a" * 3_000_000, "Käse 🧀 \x00 \n".encode(), b"a" * 3_000_000]
)
def test_a_task_gets_its_body_and_its_replies_come_back(pool, body):
    expected = body if isinstance(body, str) else body.decode()
    assert asyncio.run(replies_of(pool, "echo", body)) == [expected]


def test_a_child_has_limits_and_none_of_the_keys_in_the_environment(pool, monkeypatch):
    environment, cpu, file_size, loaded = asyncio.run(replies_of(pool, "describe"))
    names = {line.partition("=")[0] for line in environment.split("\0") if line}
    assert names <= {"PYTHONPATH", "OPENBLAS_NUM_THREADS", "COPILOT_FORK_SERVER", "LC_CTYPE"}
    assert (cpu, file_size, loaded) == (5, 0, [])


@pytest.mark.parametrize(
    ("do", "body", "reason"),
    [
        ("exit", b"", FailureReason.DAMAGE),
        ("raise", b"", FailureReason.DAMAGE),
        ("signal", str(int(signal.SIGSEGV)).encode(), FailureReason.DAMAGE),
        ("spin", b"", FailureReason.TIME),
        ("allocate", b"", FailureReason.MEMORY),
        ("signal", str(int(signal.SIGABRT)).encode(), FailureReason.MEMORY),
        ("signal", str(int(signal.SIGKILL)).encode(), FailureReason.MEMORY),
    ],
)
def test_a_child_that_dies_is_reported_with_the_reason_and_the_next_one_works(
    pool, do, body, reason
):
    async def scenario():
        with pytest.raises(TaskFailed) as failed:
            await replies_of(pool, do, body)
        return failed.value.reason, await replies_of(pool, "echo", b"next")

    assert asyncio.run(scenario()) == (reason, ["next"])


def test_a_caller_that_leaves_ends_the_child_and_frees_its_slot(pool):
    async def scenario():
        endless = EndlessTask(pool)
        process = await endless.started()
        endless.task.cancel()
        await asyncio.wait([endless.task])
        assert await asyncio.to_thread(eventually, lambda: not exists(process))
        return await replies_of(pool, "echo", b"free")

    assert asyncio.run(scenario()) == ["free"]


def test_a_task_that_takes_too_long_is_ended(pool, monkeypatch):
    monkeypatch.setattr(worker_processes, "WORK_SECONDS", 0.2)
    with pytest.raises(TaskFailed) as failed:
        asyncio.run(replies_of(pool, "wait"))
    assert failed.value.reason is FailureReason.TIME


def test_replies_over_the_limit_end_the_task(pool, monkeypatch):
    monkeypatch.setattr(worker_processes, "MAX_REPLY_BYTES", 100)
    with pytest.raises(TaskFailed) as failed:
        asyncio.run(replies_of(pool, "echo", b"a" * 100))
    assert failed.value.reason is FailureReason.MEMORY


def test_a_caller_waits_for_a_free_process_only_for_a_while(pool, monkeypatch):
    async def scenario():
        endless = EndlessTask(pool)
        await endless.started()
        monkeypatch.setattr(worker_processes, "WAIT_SECONDS", 0.01)
        with pytest.raises(WorkersBusy):
            await replies_of(pool, "echo")
        endless.task.cancel()
        await asyncio.wait([endless.task])

    asyncio.run(scenario())
