"""Tasks in the background of this process: one thread, which ends with the process.

What a task has to do stands in the database, so one that is cut short is taken up again.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
import logging
import threading
from typing import Any, TypeVar

from django.utils import timezone
from django.utils.crypto import get_random_string
from django_tasks.backends.base import BaseTaskBackend
from django_tasks.base import Task, TaskResult, TaskResultStatus

from copilot_admin.engine.providers.registry import aclose_all
from copilot_admin.storage.database_thread import DatabaseThread, JournalDown

LOOK_SECONDS = 0.5  # between two looks whether the process is on its way down

T = TypeVar("T")
BACKGROUND = DatabaseThread("background-tasks", capacity=1000)
_stopping = threading.Event()
_server_loop: list[asyncio.AbstractEventLoop] = []  # of the server in this process, if there is one
logger = logging.getLogger(__name__)


class ProcessBackend(BaseTaskBackend):
    """Does tasks on the thread, in the order in which they come; results are not kept."""

    def enqueue(self, task: Task[Any, Any], args: Any, kwargs: Any) -> TaskResult[Any]:
        """Hands a task to the thread.

        Raises:
            JournalDown: The process is on its way down.
        """
        self.validate_task(task)
        BACKGROUND.submit(partial(task.call, *args, **kwargs)).add_done_callback(_log_failure)
        return TaskResult(
            task=task,
            id=get_random_string(32),
            status=TaskResultStatus.READY,
            enqueued_at=timezone.now(),
            started_at=None,
            last_attempted_at=None,
            finished_at=None,
            args=list(args),
            kwargs=dict(kwargs),
            backend=self.alias,
            errors=[],
            worker_ids=[],
        )


def _log_failure(done: "Future[Any]") -> None:
    if (error := done.exception()) is not None:
        logger.error("a background task failed", exc_info=error)


def start() -> None:
    """Lets tasks be done (again, in a process that stopped before)."""
    _stopping.clear()
    _server_loop.clear()
    with suppress(RuntimeError):  # no loop: the process is no server
        _server_loop.append(asyncio.get_running_loop())


def stop(*, timeout: float) -> bool:
    """Ends after the batch that is being done.

    Returns:
        Whether that was done in time.
    """
    _stopping.set()
    is_done = BACKGROUND.stop(timeout=timeout)
    _server_loop.clear()  # it ends too
    return is_done


def pause(seconds: float) -> bool:
    """Waits between two batches, so that others get their turn.

    Returns:
        Whether to go on: the process is not on its way down.
    """
    return not _stopping.wait(seconds)


def in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Does what has to wait for others in the server's event loop, as if somebody had asked for it.

    A worker and a command have none: there it gets a loop of its own. Call it in a thread.

    Raises:
        JournalDown: The process is on its way down, and the work was cut short.
    """
    if not _server_loop:
        return asyncio.run(_with_connections_closed(work))
    doing = asyncio.run_coroutine_threadsafe(work, _server_loop[0])
    while True:
        try:
            return doing.result(LOOK_SECONDS)
        except TimeoutError:
            if doing.done():
                raise
            if _stopping.is_set():
                doing.cancel()
                raise JournalDown from None


async def _with_connections_closed(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    finally:
        await aclose_all()
