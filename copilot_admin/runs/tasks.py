"""Tasks of runs: start, cancel, wait for the end."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
import contextvars
from dataclasses import dataclass
from enum import Enum, auto
import logging
from typing import Any, TypeVar

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.errors import CopilotError, Unavailable
from copilot_admin.limits.admission import Admission
from copilot_admin.limits.rules import to_nano_dollars
from copilot_admin.limits.usage import Usage as LimitUsage
from copilot_admin.models import Outcome
from copilot_admin.pricing.cost import Cost, RunCost
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import READER

logger = logging.getLogger(__name__)


T = TypeVar("T")

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


CRASHED = "Something went wrong on the server. It has been recorded; please ask again."
REVOKED = "The endpoint key was revoked or has expired, so this answer ends here."
SWITCHED_OFF = "Your account was switched off, so this answer ends here."
DELETED = "This copilot was deleted, so this answer ends here."
RESTARTING = "The server is restarting, so this answer ends here. Ask again in a moment."


class Stop(Enum):
    """Why a run is told to stop."""

    CLIENT_GONE = auto()
    NOT_ACCEPTED = auto()
    SHUTDOWN = auto()
    KEY_REVOKED = auto()
    SWITCHED_OFF = auto()
    COPILOT_DELETED = auto()
    CRASH = auto()


# Of these nobody hears the answer: before the journal has accepted the run, not a byte of it has left.
UNHEARD = frozenset({Stop.CLIENT_GONE, Stop.NOT_ACCEPTED})


@dataclass(frozen=True, slots=True)
class Stopped:
    """How a run ends that was told to stop.

    Attributes:
        sentence: Why, in words.
        code: The kind of failure.
        told: What the client is told; "": it hears nothing any more, or was told otherwise.
    """

    outcome: Outcome
    sentence: str = ""
    code: str = ""
    told: str = ""


def _said(outcome: Outcome, sentence: str, code: str) -> Stopped:
    return Stopped(outcome, sentence, code, told=sentence)


STOPPED: Mapping[Stop, Stopped] = {
    Stop.CLIENT_GONE: Stopped(Outcome.CANCELLED),
    Stop.NOT_ACCEPTED: Stopped(
        Outcome.CANCELLED, DatabaseUnavailable().public, DatabaseUnavailable.code
    ),
    Stop.SHUTDOWN: _said(Outcome.INTERRUPTED, RESTARTING, "shutdown"),
    Stop.KEY_REVOKED: _said(Outcome.FAILED, REVOKED, "key-revoked"),
    Stop.SWITCHED_OFF: _said(Outcome.FAILED, SWITCHED_OFF, "account-switched-off"),
    Stop.COPILOT_DELETED: _said(Outcome.FAILED, DELETED, "copilot-deleted"),
    Stop.CRASH: _said(Outcome.CRASHED, CRASHED, "crash"),
}


async def settle(
    admission: Admission,
    usages: Sequence[Usage],
    *,
    cost: Cost | None,
    reckon: Callable[[], RunCost],
) -> None:
    """Charges a run; who asks again at once finds room where there is some.

    Args:
        admission: That let it in.
        usages: Of its calls of models.
        cost: As the journal reckoned it; None: it did not.
        reckon: Reads what it cost.
    """
    if not admission.is_open:
        return
    tokens = sum(one.input_tokens + one.output_tokens for one in usages)
    if cost is None and admission.counts_money:
        with suppress(Unavailable):  # then nobody knows what it cost
            cost = (await READER.run(reckon)).cost
    amount = cost.amount if cost else None
    if amount is None:
        await admission.end(LimitUsage(tokens=tokens, unpriced=1))
    else:
        await admission.end(LimitUsage(tokens=tokens, nano_usd=to_nano_dollars(amount)))
