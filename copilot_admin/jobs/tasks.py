"""Background tasks: on a thread of this process, or in the database for workers.

The database says what a task has to do, so an interrupted task is resumed by a periodic task.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from datetime import timedelta
from enum import StrEnum
from functools import partial
from inspect import iscoroutinefunction
import logging
import threading
import time
from typing import Any, TypeVar

from django import db
from django.db.models import Q, QuerySet
from django.utils import timezone
from django_tasks.backends.immediate import ImmediateBackend
from django_tasks.base import Task, TaskResult
from django_tasks_db import DatabaseBackend
from django_tasks_db.models import DBTaskResult

from copilot_admin.errors import Unavailable
from copilot_admin.storage.writer import WRITER, DatabaseThread, close_lost_connections
from copilot_admin.transcripts.store.transcript_store import is_missed

MAX_TASK_SECONDS = 10.0  # then the task is enqueued again, so that others run and a worker can stop
# Tasks end long before, so the worker of this one was killed.
LOST_AFTER = timedelta(hours=1)
CANCEL_SECONDS = 1.0  # for coroutines of the server loop, when the process stops

T = TypeVar("T")
BACKGROUND = DatabaseThread("background-tasks", capacity=1000)
_stopping = threading.Event()
_server_loop: list[asyncio.AbstractEventLoop] = []  # of the server in this process, if there is one
_coroutines: set[asyncio.Task[Any]] = set()  # on the server loop
logger = logging.getLogger(__name__)


class BatchResult(StrEnum):
    MORE = "more"
    WAITING = "waiting"  # for running answers, a legal hold or another process
    DONE = "done"


class ThreadBackend(ImmediateBackend):
    """Backend of django-tasks that keeps no results.

    Coroutines run in the event loop of the server, other tasks on a thread, in order.
    """

    def _execute_task(self, task_result: TaskResult[Any]) -> None:
        task, args, kwargs = task_result.task, task_result.args, task_result.kwargs
        if iscoroutinefunction(task.func) and has_server_loop():
            begin = partial(_begin_coroutine, partial(task.func, *args, **kwargs))
            _server_loop[0].call_soon_threadsafe(begin, context=Context())
        else:
            BACKGROUND.submit(partial(task.call, *args, **kwargs)).add_done_callback(_log_failure)


def _begin_coroutine(call: Callable[[], Coroutine[Any, Any, object]]) -> None:
    running = asyncio.get_running_loop().create_task(call())
    _coroutines.add(running)
    running.add_done_callback(_coroutines.discard)
    running.add_done_callback(_log_failure)


def _log_failure(done: "Future[Any] | asyncio.Task[Any]") -> None:
    error = None if done.cancelled() else done.exception()
    if error is not None:
        logger.error("A background task failed.", exc_info=error)


def start(server_loop: asyncio.AbstractEventLoop | None = None) -> None:
    """Accept tasks, also after `stop`; a worker or a command has no server loop."""
    _stopping.clear()
    _server_loop[:] = [] if server_loop is None else [server_loop]


def stop(*, timeout: float) -> bool:
    """Stop after the current batch; return False if that took longer than `timeout` seconds."""
    _stopping.set()
    _server_loop.clear()  # it ends too
    return BACKGROUND.stop(timeout=timeout)


async def stop_coroutines() -> None:
    """Wait a moment for the coroutines of the server loop, then cancel them."""
    if _coroutines:
        _done, pending = await asyncio.wait(_coroutines, timeout=CANCEL_SECONDS)
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending)


def has_server_loop() -> bool:
    """Return whether this process is a server, whose event loop outlives a task."""
    return bool(_server_loop)


def run_on_writer(job: Callable[[], T]) -> T:
    """Run a job on the thread that commits runs, and wait for it.

    SQLite has one writer. Batches wait in the queue of the requests, so they never lock them out.
    """
    return WRITER.submit(job).result()


def run_batches(
    run_batch: Callable[[], T], is_last: Callable[[T], bool], *, max_seconds: float | None = None
) -> T | None:
    """Run batches until the last one or until the time is up, with a pause as long as each took.

    Returns the result of the last batch; None if the database failed or the process is stopping.
    """
    ends_at = time.monotonic() + (MAX_TASK_SECONDS if max_seconds is None else max_seconds)
    while True:
        started = time.monotonic()
        try:
            result = run_batch()
        except (db.Error, Unavailable) as error:
            logger.warning(
                "A background job was interrupted and will be resumed: %s.", type(error).__name__
            )
            close_lost_connections()
            return None
        now = time.monotonic()
        if is_last(result):
            return result
        # Without a pause, another process that waits for SQLite's lock would rarely get it.
        if _stopping.wait(now - started):
            return None
        if now >= ends_at:
            return result


def enqueue_stalled(task: Task[[int], None], rows: QuerySet[Any], lease: str) -> None:
    """Enqueue a task for each row whose worker is gone, unless it waits for a worker already.

    Each is claimed by one caller only; `lease` is the column with the time of the last batch.
    """
    now = timezone.now()
    stalled = rows.filter(Q(**{lease: None}) | is_missed(lease, now))
    for pk in list(stalled.values_list("pk", flat=True)):
        if stalled.filter(pk=pk).update(**{lease: now}) and not is_queued(task, pk):
            task.enqueue(pk)


def is_queued(task: Task[Any, Any], *arguments: object) -> bool:
    if not isinstance(task.get_backend(), DatabaseBackend):
        return False
    waiting = DBTaskResult.objects.ready().filter(task_path=task.module_path)
    return waiting.filter(args_kwargs__args=[*arguments]).exists()


def end_lost_tasks() -> None:
    """Delete the rows of tasks whose worker was killed; periodic tasks resume what was unfinished."""
    started = timezone.now() - LOST_AFTER
    lost, _ = DBTaskResult.objects.running().filter(started_at__lt=started).delete()
    if lost:
        logger.warning("Workers were killed while they ran %d tasks.", lost)
