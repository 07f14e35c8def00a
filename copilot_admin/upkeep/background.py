"""Tasks in the background of this process: one thread, which ends with the process.

What a task has to do stands in the database, so one that is cut short is taken up again.
"""

from concurrent.futures import Future
from functools import partial
import logging
import threading
from typing import Any

from django.utils import timezone
from django.utils.crypto import get_random_string
from django_tasks.backends.base import BaseTaskBackend
from django_tasks.base import Task, TaskResult, TaskResultStatus

from copilot_admin.storage.database_thread import DatabaseThread

BACKGROUND = DatabaseThread("background-tasks", capacity=1000)
_stopping = threading.Event()
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


def stop(*, timeout: float) -> bool:
    """Ends after the batch that is being done.

    Returns:
        Whether that was done in time.
    """
    _stopping.set()
    return BACKGROUND.stop(timeout=timeout)


def pause(seconds: float) -> bool:
    """Waits between two batches, so that others get their turn.

    Returns:
        Whether to go on: the process is not on its way down.
    """
    return not _stopping.wait(seconds)
