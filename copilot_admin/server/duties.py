"""What a server does every few seconds beside answering: hearts beat, the dead are found, the rest is saved."""

import asyncio
from datetime import datetime
from functools import partial

from django import db
from django.utils import timezone

from copilot_admin.accounts.log_ins import sweep_sessions
from copilot_admin.alerts.deliveries import enqueue_due_deliveries
from copilot_admin.alerts.evaluation import evaluate_due_rules
from copilot_admin.audit.forwarding import forward_entries, write_anchor
from copilot_admin.evaluation.question_tasks import resume_questions
from copilot_admin.evaluation.replay_tasks import resume_replays
from copilot_admin.http.allowed_origins import ALLOWED_ORIGINS
from copilot_admin.http.heaps import give_back_gaps
from copilot_admin.jobs.export_tasks import resume_exports
from copilot_admin.jobs.sweeping import Sweep, sweep_batch
from copilot_admin.jobs.tasks import (
    FIRST_TASK,
    remove,
    resume_deletions,
    resume_removals,
    tell_lost,
)
from copilot_admin.limits.cache import LIMIT_CACHE
from copilot_admin.limits.concurrency import SLOTS
from copilot_admin.limits.redis_client import LIMIT_REDIS
from copilot_admin.limits.rejections import REJECTIONS
from copilot_admin.privacy.forgetting import FORGETTING
from copilot_admin.privacy.retention import begin_pruning, night_of
from copilot_admin.privacy.spooled import clean_spool, forget_digests
from copilot_admin.review.queues import take_back_left
from copilot_admin.runs.full_collections import FULL_COLLECTIONS
from copilot_admin.runs.open_run import end_deleted, end_of_switched_off, end_revoked
from copilot_admin.runs.refused import REFUSED
from copilot_admin.runs.run import RUNNING
from copilot_admin.server.readings import refresh
from copilot_admin.server.rounds import Duty
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.exports.keeping import sweep_exports
from copilot_admin.transcripts.store import JOURNAL, beat, reap, replay_spool

REPLAYED_AT_ONCE = 50  # spooled runs of one job, behind which questions wait


async def beat_hearts() -> None:
    """Says that the running answers are alive."""
    if RUNNING:
        await WRITER.run(partial(beat, tuple(run.id for run in RUNNING)))


async def read_figures() -> None:
    """Reads the figures off this process: who asks for them may come to another worker."""
    await asyncio.to_thread(refresh)


async def reap_dead() -> None:
    """Ends what other processes left open, and what the database took although this one was not told."""
    answering = frozenset(run.id for run in RUNNING)
    while await WRITER.run(partial(reap, every_other_boot=False, alive=answering)):
        pass


async def resume() -> None:
    """Goes on with deletions that another process left."""
    await WRITER.run(resume_deletions)


async def fill_old_rows() -> None:
    """Writes what rows of an earlier release lack."""


async def resume_removing() -> None:
    """Goes on with erasures and prunings that another process left, and with what is due."""
    await WRITER.run(resume_removals)
    await WRITER.run(clean_spool)


async def forget_erased() -> None:
    """Forgets who was erased, by whatever process."""
    await WRITER.run(FORGETTING.look_after)


class _Pruner:
    """Begins each night's pruning, once in this process; the rows see to it that it is once in all."""

    def __init__(self) -> None:
        self._begun: datetime | None = None

    async def prune(self) -> None:
        """Begins the pruning of this night, if it is night and was not begun."""
        night = night_of(timezone.now())
        if night is None or night == self._begun:
            return
        for removal_id in await asyncio.to_thread(_begun_pruning, timezone.now()):
            remove.enqueue(removal_id)
        while await WRITER.run(forget_digests):
            pass
        self._begun = night


async def resume_asking() -> None:
    """Goes on with saved questions and replays that another process left."""
    await WRITER.run(resume_questions)
    await WRITER.run(resume_replays)


async def resume_exporting() -> None:
    """Goes on with exports that another process left, and deletes those whose time has run out."""
    await WRITER.run(resume_exports)
    await WRITER.run(sweep_exports)


async def forward_audit_trail() -> None:
    """Hands new entries over, and notes the newest hash; in a thread: no question waits for it."""
    await asyncio.to_thread(_forward_audit_trail)


async def look_at_rules() -> None:
    """Opens and closes alerts; beside the other duties, since its questions may take a moment."""
    await asyncio.to_thread(evaluate_due_rules)


async def take_back_readings() -> None:
    """Gives back what reviewers took from queues and left."""
    await WRITER.run(partial(take_back_left, now=timezone.now()))


async def forget_sessions() -> None:
    """Deletes sessions whose time is up: strangers begin some that nobody ends."""
    await WRITER.run(sweep_sessions)


async def tell() -> None:
    """Has messages of alerts tried whose time has come."""
    await WRITER.run(enqueue_due_deliveries)


async def give_back_memory() -> None:
    """Gives back what pages, forms and answers left in the heaps; large questions see to it themselves."""
    await asyncio.to_thread(give_back_gaps)


class _LostTasks:
    """Looks at a few tasks at a time for those of workers that were killed, and begins anew at the end."""

    def __init__(self) -> None:
        self._after = FIRST_TASK

    async def tell(self) -> None:
        """Ends those that it finds."""
        self._after = await WRITER.run(partial(tell_lost, timezone.now(), self._after))


class _Sweeper:
    """Takes away a few blobs at a time that nothing refers to, and begins anew at the end."""

    def __init__(self) -> None:
        self._sweep = Sweep()

    async def sweep(self) -> None:
        sweep = Sweep() if self._sweep.is_done else self._sweep
        self._sweep = await WRITER.run(partial(sweep_batch, sweep))


async def replay() -> int:
    """Stores some of what the spool holds, now that the database may answer again.

    Returns:
        Runs that were stored.
    """
    return await WRITER.run(partial(replay_spool, most=REPLAYED_AT_ONCE))


# One after the other, so that none piles up, unless one hangs; a revoked key's stream goes on for a round at most.
DUTIES: tuple[Duty, ...] = (
    end_revoked,
    end_of_switched_off,
    end_deleted,
    ALLOWED_ORIGINS.look_after,
    JOURNAL.look_after,
    FULL_COLLECTIONS.look_after,
    give_back_memory,
    reap_dead,
    replay,
    resume,
    _Pruner().prune,
    resume_removing,
    forget_erased,
    resume_asking,
    resume_exporting,
    tell,
    take_back_readings,
    forget_sessions,
    fill_old_rows,
    _LostTasks().tell,
    forward_audit_trail,
    _Sweeper().sweep,
)


# Apart from the others, some of which take long: leases of slots expire, and limits act at once.
LIMIT_DUTIES: tuple[Duty, ...] = (
    LIMIT_REDIS.reconnect,
    SLOTS.renew,
    LIMIT_CACHE.refresh,
    REJECTIONS.store,
    REFUSED.look_after,
)


def _begun_pruning(now: datetime) -> list[int]:
    try:
        return begin_pruning(now, write=lambda begin: WRITER.submit(begin).result())
    finally:
        db.connections.close_all()  # of this thread


def _forward_audit_trail() -> None:
    try:
        forward_entries()
        write_anchor()
    finally:
        db.connections.close_all()  # of this thread
