"""The tasks of the background, each a loop over batches that the journal's thread commits.

Batches go through that one thread because SQLite takes one writer: so they wait in the same queue as
the questions, and never hold the database against them.
"""

from collections.abc import Callable, Iterable
from dataclasses import astuple
from datetime import timedelta
from functools import partial
import logging
import time
from typing import ParamSpec, TypeVar

from django import db
from django.db import transaction
from django.utils import timezone
from django_tasks import task
from django_tasks.base import Task, TaskResultStatus
from django_tasks_db import DatabaseBackend
from django_tasks_db.models import DBTaskResult

from copilot_admin.errors import Unavailable
from copilot_admin.jobs import removals, removing
from copilot_admin.jobs.background import pause
from copilot_admin.jobs.deletion import DeletionStep, claim_stalled, delete_batch, mark
from copilot_admin.jobs.images import sweep_images
from copilot_admin.jobs.long_statements import kept_claimed
from copilot_admin.jobs.sweeping import Sweep, sweep_batch
from copilot_admin.privacy.leftovers import (
    empty_log,
    forget_reasons,
    merge_search_index,
    unused_reasons,
    vacuum,
)
from copilot_admin.storage.writer import WRITER, close_lost_connections

TURN_SECONDS = 10.0  # then another task has its turn, and a worker may stop
# A task of ours gives others their turn long before: whoever had this one was killed.
LOST_AFTER = timedelta(hours=1)

# Of this process, the removals for which the search index is being merged; those begin it no more.
_merging: set[int] = set()

P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger(__name__)


class WorkerLost(Exception):
    """The worker was killed; what is under way for long is begun again by housekeeping."""


@task
def delete_copilot(copilot_id: int) -> None:
    """Deletes a copilot that is marked; where it stops early, housekeeping takes it up again."""
    last = in_turns(partial(_deleted, copilot_id), lambda step: step is not DeletionStep.MOVED)
    if last is DeletionStep.MOVED:
        delete_copilot.enqueue(copilot_id)
    elif last is DeletionStep.GONE:
        sweep_images()
        sweep_blobs.enqueue()


@task
def sweep_blobs(after: str = "", in_round: int = 0, total: int = 0) -> None:
    """Deletes every blob without a referrer, from a place on."""
    state = Sweep(after, in_round, total)

    def batch() -> Sweep:
        nonlocal state
        state = WRITER.submit(partial(sweep_batch, state)).result()
        return state

    last = in_turns(batch, lambda sweep: sweep.is_done)
    if last is not None and not last.is_done:
        sweep_blobs.enqueue(*astuple(last)[:3])


@task
def remove(removal_id: int) -> None:
    """Removes what is erased or whose time is up; where it stops, housekeeping takes it up again."""
    last = in_turns(
        partial(_removed, removal_id), lambda step: step is not removing.RemovalStep.MOVED
    )
    if last is removing.RemovalStep.MOVED:
        remove.enqueue(removal_id)
    elif last is removing.RemovalStep.LAST:
        _clear_files(removal_id)


def _removed(removal_id: int) -> removing.RemovalStep:
    return WRITER.submit(partial(removing.remove_batch, removal_id)).result()


def _clear_files(removal_id: int) -> None:
    """Clears what the database's own files hold of deleted rows; where that fails, it is tried again."""
    if WRITER.submit(partial(removals.is_to_be_cleared, removal_id)).result():
        is_merged = in_turns(partial(_merged, removal_id), bool)
        if is_merged is False:
            remove.enqueue(removal_id)
        if not is_merged:
            return
    try:
        # Of large tables it takes longer than a claim lasts: other processes would begin it too.
        with kept_claimed(partial(removals.claim, removal_id)):
            is_clear = _is_clear(removal_id)
        if is_clear:
            WRITER.submit(partial(removals.finish, removal_id)).result()
            _merging.discard(removal_id)
    except (db.Error, Unavailable) as error:
        logger.warning("removal %d is not finished yet: %s", removal_id, type(error).__name__)
        close_lost_connections()
        return
    sweep_blobs.enqueue()


def _is_clear(removal_id: int) -> bool:
    WRITER.submit(partial(forget_reasons, unused_reasons())).result()
    if WRITER.submit(partial(removals.forget_who, removal_id)).result():
        vacuum()
    return empty_log()


def _merged(removal_id: int) -> bool:
    """Merges a little of the search index; whether nothing is left of what a removal deleted.

    The first call for a removal begins it anew, with all that was deleted by then. No other does: what
    was merged would be merged again, and of a large index a turn merges a small part.
    """
    merge = partial(merge_search_index, first=removal_id not in _merging)
    is_merged = WRITER.submit(merge).result()
    _merging.add(removal_id)
    return is_merged


def resume_removals() -> None:
    """Takes up the removals that have stopped, unless they wait for a worker."""
    take_up(remove, removals.claim_stalled())


def delete_in_background(copilot_ids: Iterable[int]) -> None:
    """Has copilots deleted, which are off from now on; call it in a transaction."""
    ids = tuple(copilot_ids)
    mark(ids)
    for copilot_id in ids:
        transaction.on_commit(partial(delete_copilot.enqueue, copilot_id))


def resume_deletions() -> None:
    """Takes up the deletions that have stopped, unless they wait for a worker."""
    take_up(delete_copilot, claim_stalled())


def take_up(work: Task[[T], None], stalled: Iterable[T]) -> None:
    """Has work done that stopped somewhere, unless it waits for a worker."""
    for what in stalled:
        if not waits_for_worker(work, what):
            work.enqueue(what)


def waits_for_worker(work: Task[P, None], *what: object) -> bool:
    """Whether a worker will do this anyway; never where servers work themselves."""
    if not isinstance(work.get_backend(), DatabaseBackend):
        return False
    waiting = DBTaskResult.objects.ready().filter(task_path=work.module_path)
    return waiting.filter(args_kwargs__args=[*what]).exists()


def end_lost_tasks() -> None:
    """Mark tasks as failed whose worker was killed; one that runs after all reports its own end."""
    now = timezone.now()
    running = DBTaskResult.objects.running().filter(started_at__lt=now - LOST_AFTER)
    lost = running.update(
        status=TaskResultStatus.FAILED,
        finished_at=now,
        exception_class_path=f"{WorkerLost.__module__}.{WorkerLost.__qualname__}",
        traceback=WorkerLost.__doc__ or "",
    )
    if lost:
        logger.warning("tasks of workers that were killed: %d", lost)


def _deleted(copilot_id: int) -> DeletionStep:
    return WRITER.submit(partial(delete_batch, copilot_id)).result()


def in_turns(batch: Callable[[], T], is_last: Callable[[T], bool]) -> T | None:
    """Does batches until the last one or the end of the turn, and rests as long as it works.

    Returns:
        The result of the last batch; None when the work was cut short.
    """
    until = time.monotonic() + TURN_SECONDS
    while True:
        began = time.monotonic()
        try:
            result = batch()
        except (db.Error, Unavailable) as error:
            logger.warning("background work stops for now: %s", type(error).__name__)
            close_lost_connections()
            return None
        now = time.monotonic()
        if is_last(result):
            return result
        if not pause(now - began):
            return None
        if now >= until:
            return result
