"""What a server process does beside answering: hearts beat, the dead are found, the rest is saved."""

import asyncio
from collections.abc import Awaitable, Callable
import contextlib
from datetime import datetime
from functools import partial
import logging

from django import db
from django.conf import settings
from django.utils import timezone

from copilot_admin.alerts.checking import check_due
from copilot_admin.alerts.tasks import send_due
from copilot_admin.answering.full_collections import FULL_COLLECTIONS
from copilot_admin.answering.open_run import (
    end_deleted,
    end_of_switched_off,
    end_revoked,
    interrupt_all,
    start_draining,
    stop_draining,
)
from copilot_admin.answering.refused import REFUSED
from copilot_admin.answering.run import RUNNING
from copilot_admin.answering.tasks import spawn
from copilot_admin.audit.anchors import drop_anchor
from copilot_admin.audit.forwarding import FORWARDING
from copilot_admin.component_calls.call import stop_all
from copilot_admin.edge.allowed_origins import ALLOWED_ORIGINS
from copilot_admin.engine.documents.registry import data_types
from copilot_admin.engine.files.file_processes import WORKERS
from copilot_admin.engine.providers.registry import aclose_all, provider_kinds
from copilot_admin.errors import ConfigurationError, CopilotError, Unavailable
from copilot_admin.journal import HEARTBEAT_SECONDS, JOURNAL, beat, reap, replay_spool
from copilot_admin.limits.book import BOOK
from copilot_admin.limits.counting import COUNTING
from copilot_admin.people.log_ins import sweep_sessions
from copilot_admin.privacy.forgetting import FORGETTING
from copilot_admin.privacy.retention import begin_pruning, night_of
from copilot_admin.privacy.spooled import clean_spool, forget_digests
from copilot_admin.review.exports.keeping import sweep_exports
from copilot_admin.review.exports.tasks import resume_exports
from copilot_admin.review.queues import take_back_left
from copilot_admin.server.database_faults import sentence_of
from copilot_admin.server.garbage import spare_what_stays
from copilot_admin.server.heaps import keep_few_heaps
from copilot_admin.server.readings import refresh
from copilot_admin.server.shutdown import drain_on_signal
from copilot_admin.server.sole_server import sole_server_of_this_process
from copilot_admin.storage.damage import begin_anew
from copilot_admin.storage.schema import known_migrations
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.studio.question_tasks import resume_questions
from copilot_admin.studio.replay_tasks import resume_replays
from copilot_admin.telemetry.metrics import counting
from copilot_admin.telemetry.tracing import start_tracing, stop_tracing
from copilot_admin.upkeep import background
from copilot_admin.upkeep.sweeping import Sweep, sweep_batch
from copilot_admin.upkeep.tasks import (
    remove,
    resume_deletions,
    resume_fillings,
    resume_removals,
)

logger = logging.getLogger(__name__)

STOP_SECONDS = 5.0
PATIENCE_SECONDS = 60.0  # then the other duties go on beside one that hangs

REPLAYED_AT_ONCE = 50  # spooled runs of one job, behind which questions wait

_tasks: set[asyncio.Task[None]] = set()
_alone = contextlib.ExitStack()  # from start to stop
Duty = Callable[[], Awaitable[object]]


async def start() -> None:
    """Before the socket opens: what another process left behind is put in order.

    Raises:
        ConfigurationError: The database cannot be used, or has a server already.
    """
    _alone.enter_context(sole_server_of_this_process())
    stop_draining()
    begin_anew()
    keep_few_heaps()
    drain_on_signal()
    await asyncio.to_thread(WORKERS.start)  # so that the first file finds it ready
    # What they stand on takes 0.7 s of CPU to load. On a busy machine that is longer than a question
    # waits, and the first ones were refused.
    await asyncio.to_thread(provider_kinds)
    await asyncio.to_thread(data_types)  # 0.4 s; the first question with data waited for it
    try:
        await WRITER.run(known_migrations)
        SPOOL.clean()
        await WRITER.run(replay_spool)
        await WRITER.run(_reap_at_start)
        await WRITER.run(ALLOWED_ORIGINS.read)
        await WRITER.run(BOOK.read)
    except db.Error as error:
        raise ConfigurationError(sentence_of(error)) from error
    # Not before: a start that fails ends this loop, and what is handed to it then is lost.
    background.start(asyncio.get_running_loop())
    spare_what_stays()
    await asyncio.to_thread(start_tracing, settings.COLLECTOR)
    _tasks.add(spawn(_again_and_again(beat_hearts), name="heartbeat"))
    _tasks.add(spawn(_again_and_again(*DUTIES), name="maintenance"))
    _tasks.add(spawn(_again_and_again(*LIMIT_DUTIES), name="limits"))
    _tasks.add(spawn(_again_and_again(look_at_rules), name="alerts"))
    if counting() is not None:
        _tasks.add(spawn(_again_and_again(read_figures), name="figures"))


async def stop() -> None:
    """After the last request: every run ends in the journal, then the threads end."""
    start_draining()
    for task in _tasks:
        task.cancel()
    await asyncio.gather(*_tasks, return_exceptions=True)
    _tasks.clear()
    await interrupt_all()
    await background.leave()  # it gives back what it asks for; the writer still takes it
    await stop_all()
    await aclose_all()
    await REFUSED.close()
    await COUNTING.close()
    await JOURNAL.close()
    await asyncio.to_thread(background.stop, timeout=STOP_SECONDS)  # it waits for the writer
    await asyncio.to_thread(WORKERS.stop)
    await asyncio.to_thread(partial(stop_tracing, timeout=STOP_SECONDS))
    for thread in (WRITER, READER):
        await asyncio.to_thread(thread.stop, timeout=STOP_SECONDS)
    _alone.close()


async def beat_hearts() -> None:
    """Says that the running answers are alive."""
    if RUNNING:
        await WRITER.run(partial(beat, tuple(run.id for run in RUNNING)))


async def read_figures() -> None:
    """Reads the figures off this process: who asks for them may come to another worker."""
    await asyncio.to_thread(refresh)


async def reap_dead() -> None:
    """Ends what other processes left open."""
    await WRITER.run(partial(reap, every_other_boot=False))


async def resume() -> None:
    """Goes on with deletions that another process left."""
    await WRITER.run(resume_deletions)


async def fill_old_rows() -> None:
    """Writes what rows of an earlier release lack."""
    await WRITER.run(resume_fillings)


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
        """Begins what is due."""
        night = night_of(timezone.now())
        if night is None or night == self._begun:
            return
        for removal_id in await WRITER.run(partial(begin_pruning, timezone.now())):
            remove.enqueue(removal_id)
        await WRITER.run(forget_digests)
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
    await asyncio.to_thread(check_due)


async def take_back_readings() -> None:
    """Gives back what reviewers took from queues and left."""
    await WRITER.run(partial(take_back_left, now=timezone.now()))


async def forget_sessions() -> None:
    """Deletes sessions whose time is up: strangers begin some that nobody ends."""
    await WRITER.run(sweep_sessions)


async def tell() -> None:
    """Has messages of alerts tried whose time has come."""
    await WRITER.run(send_due)


class _Sweeper:
    """Takes away a few blobs at a time that nothing refers to, and begins anew at the end."""

    def __init__(self) -> None:
        self._sweep = Sweep()

    async def sweep(self) -> None:
        sweep = Sweep() if self._sweep.is_done else self._sweep
        self._sweep = await WRITER.run(partial(sweep_batch, sweep))


async def replay() -> None:
    """Stores what the spool holds, now that the database may answer again."""
    await WRITER.run(partial(replay_spool, most=REPLAYED_AT_ONCE))


# One after the other, so that none piles up, unless one hangs; a revoked key's stream goes on for a round at most.
DUTIES: tuple[Duty, ...] = (
    end_revoked,
    end_of_switched_off,
    end_deleted,
    ALLOWED_ORIGINS.look_after,
    JOURNAL.look_after,
    FULL_COLLECTIONS.look_after,
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
    forward_audit_trail,
    _Sweeper().sweep,
)


# Beside the others, some of which take long: seats of answers run out, and limits act at once.
LIMIT_DUTIES: tuple[Duty, ...] = (COUNTING.look_after, BOOK.look_after, REFUSED.look_after)


async def _again_and_again(*duties: Duty) -> None:
    """Does duties every few seconds; one that breaks or hangs keeps neither the others nor itself."""
    under_way: dict[Duty, asyncio.Task[None]] = {}
    try:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            for duty in duties:
                if duty not in under_way or under_way[duty].done():
                    name = f"duty {getattr(duty, '__name__', duty)}"
                    under_way[duty] = spawn(_forgiving(duty), name=name)
                    # What it raises is logged by its task.
                    await asyncio.wait({under_way[duty]}, timeout=PATIENCE_SECONDS)
    finally:
        for task in under_way.values():
            task.cancel()


async def _forgiving(duty: Duty) -> None:
    """A database that is away is no news here: it is tried again."""
    try:
        with contextlib.suppress(db.Error, Unavailable):
            await duty()
    except CopilotError:  # told to nobody else: there is no request to answer
        logger.exception("duty %s ended with an error", getattr(duty, "__name__", duty))


def _forward_audit_trail() -> None:
    try:
        FORWARDING.go_on()
        drop_anchor()
    finally:
        db.connections.close_all()  # of this thread


def _reap_at_start() -> int:
    # SQLite has one server process: whatever runs under another boot id is dead.
    return reap(every_other_boot=db.connection.vendor == "sqlite")
