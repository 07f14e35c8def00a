"""What the figures say of a server process at the moment: queues, the spool, pools, limits."""

from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from django.db import connections

from copilot_admin.component_calls.call import CALLS, MOST_CALLS
from copilot_admin.runs.run import RUNNING
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.telemetry.gauges import GaugeReading
from copilot_admin.telemetry.metrics import counting
from copilot_admin.transcripts.store import JOURNAL

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

Limit: TypeAlias = Callable[[], tuple[float, float]]  # what is used of it, and how much it is

# A limit that a figure shows is a row here.
LIMITS: Mapping[str, Limit] = {
    "component_calls": lambda: (len(CALLS), MOST_CALLS),
    "journal_jobs": lambda: (WRITER.waiting, WRITER.capacity),
    "reading_jobs": lambda: (READER.waiting, READER.capacity),
    "spool_bytes": lambda: (SPOOL.size()[1], SPOOL.max_bytes),
}


def readings() -> dict[str, GaugeReading]:
    """Everything that is read off this process; looks into the folder of the spool."""
    return dict(_readings())


def refresh() -> None:
    """Brings the figures up to date that are read off this process, if it counts."""
    figures = counting()
    if figures is not None:
        figures.gauge(readings())


def _readings() -> Iterator[tuple[str, GaugeReading]]:
    yield "copilot_streams", GaugeReading(help="Answers being given.", values={"": len(RUNNING)})
    yield (
        "copilot_journal_lag_seconds",
        GaugeReading(
            help="How long the oldest write has waited that is not done yet.",
            values={"": WRITER.lag_seconds(monotonic())},
            is_shared=True,
        ),
    )
    yield (
        "copilot_journal_unkept_runs",
        GaugeReading(help="Ends of runs that wait in memory.", values={"": JOURNAL.unkept}),
    )
    yield from _spool()
    yield from _limits()
    yield from _pool()


def _spool() -> Iterator[tuple[str, GaugeReading]]:
    files, size = SPOOL.size()
    yield (
        "copilot_spool_files",
        GaugeReading(help="Ends of runs in the spool.", values={"": files}, is_shared=True),
    )
    yield (
        "copilot_spool_bytes",
        GaugeReading(help="Size of what waits in the spool.", values={"": size}, is_shared=True),
    )
    yield (
        "copilot_spool_set_aside_files",
        GaugeReading(
            help="Files of the spool that cannot be stored.",
            values={"": SPOOL.count_rejected()},
            is_shared=True,
        ),
    )


def _limits() -> Iterator[tuple[str, GaugeReading]]:
    used = {name: limit() for name, limit in LIMITS.items()}
    yield (
        "copilot_limit_used",
        GaugeReading(
            help="What is used of a limit, in the process that uses most.",
            label="limit",
            values={name: part for name, (part, _) in used.items()},
            is_shared=True,
        ),
    )
    yield (
        "copilot_limit",
        GaugeReading(
            help="How much a limit is, in each process.",
            label="limit",
            values={name: whole for name, (_, whole) in used.items()},
            is_shared=True,
        ),
    )


def _pool() -> Iterator[tuple[str, GaugeReading]]:
    pool: ConnectionPool | None = getattr(connections["default"], "pool", None)
    if pool is None:
        return
    stats = pool.get_stats()
    idle = stats.get("pool_available", 0)
    yield (
        "copilot_database_connections",
        GaugeReading(
            help="Connections to PostgreSQL.",
            label="state",
            values={"idle": idle, "used": stats.get("pool_size", 0) - idle},
        ),
    )
    yield (
        "copilot_database_waiting",
        GaugeReading(
            help="Threads that wait for a connection.",
            values={"": stats.get("requests_waiting", 0)},
        ),
    )
