"""Tasks that are referenced until they end, and reasons for which runs are cancelled."""

import asyncio
from collections.abc import Coroutine
import contextvars
from enum import Enum
import logging
from typing import Any, TypeVar

from copilot_admin.errors import CopilotError
from copilot_admin.models import Outcome
from copilot_admin.storage.errors import DatabaseUnavailable

CRASHED = "Something went wrong on the server. It has been recorded; please ask again."
REVOKED = "The API key was revoked or has expired, so this answer ends here."
DISABLED = "Your account was switched off, so this answer ends here."
DELETED = "This copilot was deleted, so this answer ends here."
RESTARTING = "The server is restarting, so this answer ends here. Ask again in a moment."

T = TypeVar("T")
_running: set[asyncio.Task[Any]] = set()
logger = logging.getLogger(__name__)


def spawn(work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
    """Start a task in its own context and reference it until it ends; log its errors."""
    task = asyncio.get_running_loop().create_task(work, name=name, context=contextvars.Context())
    _running.add(task)
    task.add_done_callback(_note_end)
    return task


def clear_cancellation() -> None:
    """Allow the current task to continue after it was cancelled."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


def _note_end(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, CopilotError):  # ours are reported elsewhere
        logger.error("%s ended with an error", task.get_name(), exc_info=error)


class CancelReason(Enum):
    """Reason for an early end of a run; the sentence is for the stream and the transcript."""

    CLIENT_LEFT = (Outcome.CANCELLED, "", "")
    NOT_ACCEPTED = (Outcome.CANCELLED, DatabaseUnavailable().public, DatabaseUnavailable.code)
    SHUTDOWN = (Outcome.INTERRUPTED, RESTARTING, "shutdown")
    KEY_REVOKED = (Outcome.FAILED, REVOKED, "key-revoked")
    USER_DISABLED = (Outcome.FAILED, DISABLED, "account-switched-off")
    COPILOT_DELETED = (Outcome.FAILED, DELETED, "copilot-deleted")
    CRASH = (Outcome.CRASHED, CRASHED, "crash")

    def __init__(self, outcome: Outcome, sentence: str, code: str) -> None:
        self.outcome = outcome
        self.sentence = sentence
        self.code = code


# The client receives nothing: no byte is sent before the run is accepted.
CLIENT_UNREACHABLE = frozenset({CancelReason.CLIENT_LEFT, CancelReason.NOT_ACCEPTED})
