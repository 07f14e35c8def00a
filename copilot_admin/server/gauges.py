"""Gauges of a server process for `/metrics`: streams, queues, the spool, limits, the connection pool."""

from collections.abc import Callable, Mapping
from time import monotonic

from django.db import connections

from copilot_admin.component_calls.call import CALLS, MAX_CALLS
from copilot_admin.runs.run import RUNNING
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.telemetry.metrics import get_metrics

# Use and maximum of each limit that `/metrics` shows.
LIMITS: Mapping[str, Callable[[], tuple[float, float]]] = {
    "component_calls": lambda: (len(CALLS), MAX_CALLS),
    "journal_jobs": lambda: (WRITER.waiting, WRITER.capacity),
    "reading_jobs": lambda: (READER.waiting, READER.capacity),
    "spool_bytes": lambda: (SPOOL.size()[1], SPOOL.max_bytes),
}


def refresh_gauges() -> None:
    metrics = get_metrics()
    if metrics is not None:
        metrics.set_gauges(read_gauges())


def read_gauges() -> dict[str, Mapping[str, float]]:
    """Return the values of `GAUGES`; lists the spool's folder."""
    spooled_files, spooled_bytes = SPOOL.size()
    limits = {name: read() for name, read in LIMITS.items()}
    pool = getattr(connections["default"], "pool", None)
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
        used = stats.get("pool_size", 0) - idle
        values["database_connections"] = {"idle": idle, "used": used}
        values["database_waiting"] = {"": stats.get("requests_waiting", 0)}
    return values
