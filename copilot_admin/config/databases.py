"""Database settings: durable SQLite by default, or PostgreSQL with a connection pool."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import methodcaller
from pathlib import Path
from typing import Any

import dj_database_url
from django.conf import settings
from django.db import connection

SQLITE = "django.db.backends.sqlite3"
POSTGRESQL = "django.db.backends.postgresql"
# Commits take milliseconds, large imports about a second; callers retry once.
LOCK_TIMEOUT_SECONDS = 4
# auto_vacuum only counts before the first table. FULL: a commit survives a power cut. Erasing must
# leave nothing in the file, so deleted data is overwritten.
SQLITE_INIT = (
    "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
    f"PRAGMA secure_delete=ON; PRAGMA busy_timeout={LOCK_TIMEOUT_SECONDS * 1000}"
)
# A host that swallows packets fails as fast as one that refuses them (seconds, milliseconds).
CONNECT_OPTIONS = {
    "connect_timeout": 3,
    "tcp_user_timeout": 4000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}
# psycopg parses ISO dates only, and the code relies on this isolation level.
_REQUIRED_OPTIONS = "-c datestyle=ISO -c default_transaction_isolation=read\\ committed"
# Requests get an error within 5 s. JIT costs more than it saves: 79 ms instead of 47 for a list.
SERVER_OPTIONS = (
    f"{_REQUIRED_OPTIONS} -c statement_timeout=3000 -c lock_timeout=2000 "
    "-c idle_in_transaction_session_timeout=10000 -c jit=off"
)
# An index over millions of rows takes minutes, but waiting for a lock blocks everybody behind it.
COMMAND_OPTIONS = (
    f"{_REQUIRED_OPTIONS} -c statement_timeout=0 -c lock_timeout=2000 "
    "-c idle_in_transaction_session_timeout=0"
)


# Ten connections serve a process, since no stream holds one. A pool gives up after
# `reconnect_timeout` (300 s by default, with growing pauses): a new round starts at once.
POOL_OPTIONS: Mapping[str, Any] = {
    "min_size": 2,
    "max_size": 10,
    "timeout": 1.5,
    "max_waiting": 100,
    "reconnect_timeout": 3,
    "reconnect_failed": methodcaller("check"),
}


def is_maintenance_command(argv: Sequence[str]) -> bool:
    """Return whether `sys.argv` runs a command of manage.py that serves nobody, such as `migrate`."""
    if not argv or Path(argv[0]).name not in ("manage.py", "django-admin"):
        return False
    return not {"serve", "quickstart", "runserver"}.intersection(argv[1:2])


def parse_database_url(
    url: str, *, data_dir: Path, maintenance: bool = False, pgbouncer: bool = False
) -> dict[str, Any]:
    """Return an entry of `DATABASES`; an empty URL is SQLite in the data directory."""
    try:
        parsed = dj_database_url.parse(url) if url else {"ENGINE": SQLITE}
    except (ValueError, KeyError):
        parsed = {}
    # CONN_MAX_AGE stays 0: under ASGI, connections of threads that ended would never be closed.
    if parsed.get("ENGINE") == SQLITE:
        return {
            "ENGINE": SQLITE,
            "NAME": Path(parsed.get("NAME", data_dir / "copilot.sqlite3")),
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": LOCK_TIMEOUT_SECONDS,
                "init_command": SQLITE_INIT,
            },
        }
    if parsed.get("ENGINE") != POSTGRESQL:
        raise ValueError("use postgres://user:password@host:port/name or sqlite:///path/to/file")
    options: dict[str, Any] = {**CONNECT_OPTIONS, "pool": POOL_OPTIONS}
    if not pgbouncer:  # it rejects `options`, as sessions are shared: docs/operations.md
        options["options"] = COMMAND_OPTIONS if maintenance else SERVER_OPTIONS
    return {
        **parsed,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": pgbouncer,
        "OPTIONS": {**options, **parsed.get("OPTIONS", {})},
    }


@contextmanager
def without_statement_timeout() -> Iterator[None]:
    """Let statements of this thread take as long as they need."""
    if connection.vendor != "postgresql" or settings.PGBOUNCER:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET statement_timeout")
