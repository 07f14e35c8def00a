"""Gauges of a server process for `/metrics`: streams, queues, the spool, limits, the connection pool."""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import TypeAlias

from django.db import connections

from copilot_admin.component_calls.call import CALLS, MAX_CALLS
from copilot_admin.runs.run import RUNNING
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.telemetry.metrics import GaugeReading, get_metrics
from copilot_admin.transcripts.store import JOURNAL

Limit: TypeAlias = Callable[[], tuple[float, float]]  # used, maximum

# A limit that `/metrics` shows is a row here.
LIMITS: Mapping[str, Limit] = {
    "component_calls": lambda: (len(CALLS), MAX_CALLS),
    "journal_jobs": lambda: (WRITER.waiting, WRITER.capacity),
    "reading_jobs": lambda: (READER.waiting, READER.capacity),
    "spool_bytes": lambda: (SPOOL.size()[1], SPOOL.max_bytes),
}


def refresh_gauges() -> None:
    """Read all gauges of this process, if metrics are on."""
    metrics = get_metrics()
    if metrics is not None:
        metrics.set_gauges(read_gauges())


def read_gauges() -> dict[str, GaugeReading]:
    """Return the gauges by name; lists the spool's folder."""
    spooled_files, spooled_bytes = SPOOL.size()
    used = {name: limit() for name, limit in LIMITS.items()}
    return {
        "copilot_streams": _gauge("Answers being streamed.", len(RUNNING)),
        "copilot_journal_lag_seconds": _gauge(
            "Age of the oldest write that waits for the database.",
            WRITER.lag_seconds(monotonic()),
            is_shared=True,
        ),
        "copilot_journal_unkept_runs": _gauge("Ends of runs that wait in memory.", JOURNAL.unkept),
        "copilot_spool_files": _gauge("Ends of runs in the spool.", spooled_files, is_shared=True),
        "copilot_spool_bytes": _gauge("Size of the spool.", spooled_bytes, is_shared=True),
        "copilot_spool_set_aside_files": _gauge(
            "Files of the spool that cannot be stored.", SPOOL.count_rejected(), is_shared=True
        ),
        "copilot_limit_used": GaugeReading(
            help="Use of a limit, in the process that uses it most.",
            label="limit",
            values={name: part for name, (part, _) in used.items()},
            is_shared=True,
        ),
        "copilot_limit": GaugeReading(
            help="Limit of each process.",
            label="limit",
            values={name: whole for name, (_, whole) in used.items()},
            is_shared=True,
        ),
        **_read_pool(),
    }


def _gauge(help: str, value: float, *, is_shared: bool = False) -> GaugeReading:
    return GaugeReading(help=help, values={"": value}, is_shared=is_shared)


def _read_pool() -> dict[str, GaugeReading]:
    pool = getattr(connections["default"], "pool", None)
    if pool is None:
        return {}
    stats: Mapping[str, int] = pool.get_stats()
    idle = stats.get("pool_available", 0)
    return {
        "copilot_database_connections": GaugeReading(
            help="Connections to PostgreSQL.",
            label="state",
            values={"idle": idle, "used": stats.get("pool_size", 0) - idle},
        ),
        "copilot_database_waiting": _gauge(
            "Threads that wait for a connection.", stats.get("requests_waiting", 0)
        ),
    }
