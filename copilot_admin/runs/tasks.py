"""Tasks that outlive the request that started them, kept and watched.

A bare `create_task` may be collected while it runs, and inherits the context of its request,
whose thread-sensitive executor is gone when the request is.
"""

import asyncio
from collections.abc import Coroutine
import contextvars
import logging
from typing import Any, TypeVar

from copilot_admin.errors import CopilotError

T = TypeVar("T")

logger = logging.getLogger(__name__)
_running: set[asyncio.Task[Any]] = set()


def spawn(work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
    """Starts work in a context of its own and keeps it until it ends.

    Args:
        work: What to do; an error that nobody awaits is logged.
        name: Shown in logs and debuggers.

    Returns:
        The task, to await or to cancel.
    """
    task = asyncio.get_running_loop().create_task(work, name=name, context=contextvars.Context())
    _running.add(task)
    task.add_done_callback(_ended)
    return task


def forgive_cancellation() -> None:
    """Lets a task that was cancelled go on: the wish to stop has been heard."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


def _ended(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, CopilotError):  # ours are said where they count
        logger.error("%s ended with an error", task.get_name(), exc_info=error)
