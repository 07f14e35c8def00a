"""Periodic tasks of a server process: one table, and the runner."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
import logging
from time import monotonic
from typing import NamedTuple

from django import db
from django.utils.timezone import now

from copilot_admin.accounts.sessions import delete_expired_sessions
from copilot_admin.alerts.deliveries import enqueue_due_deliveries
from copilot_admin.alerts.evaluation import evaluate_due_rules
from copilot_admin.audit.forwarding import forward_entries, write_anchor
from copilot_admin.component_calls.call import CALLS, MAX_CALLS
from copilot_admin.errors import Unavailable
from copilot_admin.evaluation.worker import resume_evaluations
from copilot_admin.http.middleware import ALLOWED_ORIGINS
from copilot_admin.jobs.blob_sweep import enqueue_blob_sweep
from copilot_admin.jobs.deletion import resume_deletions
from copilot_admin.jobs.export_tasks import resume_exports
from copilot_admin.jobs.removal import resume_removals
from copilot_admin.jobs.tasks import end_lost_tasks
from copilot_admin.limits.admission import REJECTIONS
from copilot_admin.limits.counters import LIMIT_REDIS, SLOTS
from copilot_admin.privacy.erased_data import clean_spool, delete_old_digests
from copilot_admin.privacy.retention import begin_pruning
from copilot_admin.runs.open_run import (
    REJECTED_RUNS,
    end_deleted,
    end_of_disabled_users,
    end_orphaned_runs,
    end_revoked,
    send_heartbeats,
)
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.tasks import spawn
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.telemetry.metrics import ENABLED
from copilot_admin.transcripts.exports.writing import sweep_exports
from copilot_admin.transcripts.store.rollups import MAX_RUNS, count_finished_runs
from copilot_admin.transcripts.store.transcript_store import HEARTBEAT_SECONDS, STORE, replay_spool

MINUTE, HOUR = 60.0, 3600.0
logger = logging.getLogger(__name__)


class PeriodicTask(NamedTuple):
    name: str
    function: Callable[[], Awaitable[object]]
    interval_seconds: float = HEARTBEAT_SECONDS


def start_periodic_tasks(tasks: Sequence[PeriodicTask]) -> list[asyncio.Task[None]]:
    """Start a loop for each task, spread over its interval so that few wait for the writer at once."""
    return [
        spawn(
            _run_periodically(task, task.interval_seconds * (index + 1) / len(tasks)),
            name=f"periodic task: {task.name}",
        )
        for index, task in enumerate(tasks)
    ]


async def _run_periodically(task: PeriodicTask, delay_seconds: float) -> None:
    while True:
        await asyncio.sleep(delay_seconds)
        delay_seconds = task.interval_seconds
        try:
            await task.function()
        except (db.Error, Unavailable) as error:  # /readyz reports it
            logger.debug("periodic task %r could not use the database: %s", task.name, error)
        except Exception:
            logger.exception("periodic task %r failed", task.name)


def _on_writer(job: Callable[[], object]) -> Callable[[], Awaitable[object]]:
    return partial(WRITER.run, job)


async def _count_finished_runs() -> None:
    while await WRITER.run(count_finished_runs) >= MAX_RUNS:
        pass


def _in_thread(function: Callable[[], object]) -> Callable[[], Awaitable[object]]:
    def run() -> None:
        try:
            function()
        finally:
            db.connections.close_all()

    return partial(asyncio.to_thread, run)


def refresh_gauges() -> None:
    for metrics in ENABLED:
        metrics.set_gauges(read_gauges())


def read_gauges() -> dict[str, Mapping[str, float]]:
    """Return the values of `GAUGES`; lists the spool's folder."""
    spooled_files, spooled_bytes = SPOOL.size()
    limits = {  # use and maximum
        "component_calls": (len(CALLS), MAX_CALLS),
        "journal_jobs": (WRITER.waiting, WRITER.capacity),
        "reading_jobs": (READER.waiting, READER.capacity),
        "spool_bytes": (spooled_bytes, SPOOL.max_bytes),
    }
    pool = getattr(db.connections["default"], "pool", None)
    values: dict[str, Mapping[str, float]] = {
        "streams": {"": len(RUNNING)},
        "journal_lag_seconds": {"": WRITER.lag_seconds(monotonic())},
        "spool_files": {"": spooled_files},
        "spool_bytes": {"": spooled_bytes},
        "spool_set_aside_files": {"": SPOOL.count_rejected()},
        "limit_used": {name: used for name, (used, _) in limits.items()},
        "limit": {name: maximum for name, (_, maximum) in limits.items()},
    }
    if pool is not None:
        stats: Mapping[str, int] = pool.get_stats()
        idle = stats.get("pool_available", 0)
        values["database_connections"] = {"idle": idle, "used": stats.get("pool_size", 0) - idle}
        values["database_waiting"] = {"": stats.get("requests_waiting", 0)}
    return values


PERIODIC_TASKS: tuple[PeriodicTask, ...] = (
    PeriodicTask("send heartbeats", send_heartbeats),
    PeriodicTask("end runs of revoked keys", end_revoked),
    PeriodicTask("end runs of disabled users", end_of_disabled_users),
    PeriodicTask("end runs of deleted copilots", end_deleted),
    PeriodicTask("reload allowed origins", partial(READER.run, ALLOWED_ORIGINS.refresh)),
    PeriodicTask("check writes to the database", STORE.check_health),
    PeriodicTask("end orphaned runs", end_orphaned_runs),
    PeriodicTask("store spooled runs", _on_writer(replay_spool)),
    PeriodicTask("count finished runs", _count_finished_runs),
    PeriodicTask("check Redis", LIMIT_REDIS.check),
    PeriodicTask("renew concurrency slots", SLOTS.renew),
    PeriodicTask("store rejections", REJECTIONS.store),
    PeriodicTask("store rejected requests", REJECTED_RUNS.store),
    PeriodicTask("refresh gauges", _in_thread(refresh_gauges)),
    PeriodicTask("evaluate alert rules", _in_thread(evaluate_due_rules)),
    PeriodicTask("send alert messages", _on_writer(enqueue_due_deliveries)),
    PeriodicTask("forward audit trail", _in_thread(forward_entries)),
    PeriodicTask("anchor audit trail", _in_thread(write_anchor)),
    # Counting reads much; the task "resume erasures" begins with what is found.
    PeriodicTask("begin nightly pruning", _in_thread(lambda: begin_pruning(now())), MINUTE),
    PeriodicTask("resume deletions", _on_writer(resume_deletions)),
    PeriodicTask("resume erasures", _on_writer(resume_removals)),
    PeriodicTask("remove erased runs from the spool", _on_writer(clean_spool)),
    PeriodicTask("forget old erasures", _on_writer(delete_old_digests), HOUR),
    PeriodicTask("resume evaluations", _on_writer(resume_evaluations)),
    PeriodicTask("resume exports", _on_writer(resume_exports)),
    PeriodicTask("delete expired exports", _on_writer(sweep_exports), MINUTE),
    PeriodicTask("delete expired sessions", _on_writer(delete_expired_sessions), MINUTE),
    PeriodicTask("end lost background tasks", _on_writer(end_lost_tasks), MINUTE),
    PeriodicTask("delete unreferenced blobs", _on_writer(enqueue_blob_sweep), HOUR),
)
