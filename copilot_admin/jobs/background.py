"""Tasks in the background of this process: one thread for what works, its loop for what waits.

What a task has to do stands in the database, so one that is cut short is taken up again.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
import logging
import threading
from typing import Any, TypeVar

from django.utils import timezone
from django.utils.crypto import get_random_string
from django_tasks.backends.base import BaseTaskBackend
from django_tasks.base import Task, TaskResult, TaskResultStatus

from copilot_admin.agent.providers.registry import aclose_all
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import DatabaseThread

LEAVE_SECONDS = 1.0  # to put away what was begun, when the process is on its way down

T = TypeVar("T")
BACKGROUND = DatabaseThread("background-tasks", capacity=1000)
_stopping = threading.Event()
_server_loop: list[asyncio.AbstractEventLoop] = []  # of the server in this process, if there is one
_waiting: set[asyncio.Task[Any]] = set()  # what goes on in it
logger = logging.getLogger(__name__)


class ProcessBackend(BaseTaskBackend):
    """Does tasks on the thread, in the order in which they come; results are not kept."""

    def enqueue(self, task: Task[Any, Any], args: Any, kwargs: Any) -> TaskResult[Any]:
        """Hands a task to the thread.

        Raises:
            DatabaseUnavailable: The process is on its way down.
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


def start(server_loop: asyncio.AbstractEventLoop | None = None) -> None:
    """Lets tasks be done (again, in a process that stopped before).

    Args:
        server_loop: Of the server that this process is; None: it is a worker or a command.
    """
    _stopping.clear()
    _server_loop[:] = [] if server_loop is None else [server_loop]


def stop(*, timeout: float) -> bool:
    """Ends after the batch that is being done.

    Returns:
        Whether that was done in time.
    """
    _stopping.set()
    _server_loop.clear()  # it ends too
    return BACKGROUND.stop(timeout=timeout)


async def leave() -> None:
    """Ends what waits in the loop, a moment after the answers for which it waits."""
    if _waiting:
        _done, late = await asyncio.wait(_waiting, timeout=LEAVE_SECONDS)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)  # what one of them raised is told where it ended


def is_idle() -> bool:
    """Whether nothing waits in the loop of the server."""
    return not _waiting


def pause(seconds: float) -> bool:
    """Waits between two batches, so that others get their turn.

    Returns:
        Whether to go on: the process is not on its way down.
    """
    return not _stopping.wait(seconds)


def is_server() -> bool:
    """Whether this process has an event loop that goes on when a task is done."""
    return bool(_server_loop)


def beside(begin: Callable[[], asyncio.Task[Any]]) -> None:
    """Lets the server's event loop do what mostly waits for others; the thread goes on at once.

    Args:
        begin: Starts the work; called in the loop.

    Raises:
        DatabaseUnavailable: The server is on its way down.
    """
    if not _server_loop:
        raise DatabaseUnavailable
    try:
        _server_loop[0].call_soon_threadsafe(_keep, begin)
    except RuntimeError as error:  # the loop is closed
        raise DatabaseUnavailable from error


def _keep(begin: Callable[[], asyncio.Task[Any]]) -> None:
    task = begin()
    _waiting.add(task)
    task.add_done_callback(_waiting.discard)


def in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Does what waits for others in a loop of its own: in a worker, a command. Call it in a thread."""
    return asyncio.run(_with_connections_closed(work))


async def _with_connections_closed(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    finally:
        await aclose_all()
