"""How the database is reached: durable SQLite by default, PostgreSQL through a pool."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dj_database_url

from copilot_admin.config.env import BadSetting

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool


def try_on(pool: "ConnectionPool[Any]") -> None:
    """Lets a pool go on to connect that has given it up.

    It begins anew only for who may wait. Whoever has waited in vain is counted as waiting until there is
    a connection: after a hundred of them nobody may, and there would be none for ever.
    """
    pool.check()  # which also lets it grow, where it has no connection


SQLITE = "django.db.backends.sqlite3"
# How long a writer of SQLite waits for another one. Commits of the service take milliseconds, big
# imports about a second; the journal tries twice, and its clients are answered before that.
LOCK_WAIT_SECONDS = 4
# auto_vacuum counts before the first table only. FULL: a commit survives a power cut. What is deleted
# is overwritten with zeros: erasing a conversation has to mean that it is gone.
SQLITE_INIT = (
    "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
    "PRAGMA secure_delete=ON; "
    f"PRAGMA busy_timeout={LOCK_WAIT_SECONDS * 1000}"
)
# Ten connections serve a process, since no stream holds one. A request that gets none within 1.5 s
# fails with a clear error, also if it asks twice; a hundred may wait. The pool doubles its pauses
# while the server is away and begins anew after `reconnect_timeout`: a server that came back would
# wait for minutes with the default of 300 s.
POOL: Mapping[str, Any] = {
    "min_size": 2,
    "max_size": 10,
    "timeout": 1.5,
    "max_waiting": 100,
    "reconnect_timeout": 3,
    "reconnect_failed": try_on,
}
# Seconds and milliseconds: a host that swallows packets is given up as one that refuses them.
CONNECTING = {
    "connect_timeout": 3,
    "tcp_user_timeout": 4000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}
# What a server, a database or a role may have set otherwise, and what is built on it: psycopg reads dates
# in this form alone, and whoever waited for a row goes on with what the other one left.
TAKEN_FOR_GRANTED = "-c datestyle=ISO -c default_transaction_isolation=read\\ committed"
# Milliseconds. Nothing that a request does may hold the database for longer: within 5 s it is told.
# No statement of theirs is worth compiling: with 1,000,000 messages PostgreSQL spent 79 ms of processor time
# on the first list by a thumb's reason, 47 without; on conversations of long ago 87 and 40, later 51 and 37.
OPTIONS_OF_SERVERS = (
    f"{TAKEN_FOR_GRANTED} "
    "-c statement_timeout=3000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=10000 "
    "-c jit=off"
)
# An index over millions of rows takes minutes. But who waits for a lock keeps others waiting.
OPTIONS_OF_COMMANDS = (
    f"{TAKEN_FOR_GRANTED} "
    "-c statement_timeout=0 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=0"
)
SERVING = frozenset({"serve", "quickstart", "runserver"})
PROGRAMS = frozenset({"manage.py", "django-admin"})


def is_maintenance(argv: Sequence[str]) -> bool:
    """Whether a command line runs a command of `manage.py` that answers nobody: `migrate`, `sweep`.

    Args:
        argv: As in `sys.argv`; other programs than `manage.py` are servers.
    """
    if not argv or Path(argv[0]).name not in PROGRAMS:
        return False
    return not SERVING.intersection(argv[1:2])


def database(
    url: str,
    *,
    data_dir: Path,
    maintenance: bool = False,
    pgbouncer: bool = False,
    setting: str = "DATABASE_URL",
) -> Mapping[str, Any]:
    """The entry of `DATABASES` for an address.

    Args:
        url: `sqlite:///path` or `postgres://user:password@host:port/name`; empty: SQLite in the
            data directory.
        data_dir: Where SQLite is kept by default.
        maintenance: Whether statements may take as long as they need.
        pgbouncer: Whether PgBouncer stands before PostgreSQL, in transaction mode.
        setting: The variable that has the address.

    Raises:
        BadSetting: The address is none that this service can use.
    """
    if not url:
        return _sqlite(data_dir / "copilot.sqlite3")
    try:
        parsed = dj_database_url.parse(url)
    except (ValueError, KeyError):
        parsed = dj_database_url.DBConfig()
    match parsed.get("ENGINE"):
        case "django.db.backends.sqlite3":
            return _sqlite(Path(parsed["NAME"]))
        case "django.db.backends.postgresql":
            return _postgresql(parsed, maintenance=maintenance, pgbouncer=pgbouncer)
        case _:
            raise BadSetting(
                f"{setting} is not understood. Use postgres://user:password@host:port/name "
                "or sqlite:///path/to/file."
            )


def _sqlite(path: Path) -> Mapping[str, Any]:
    from copilot_admin.config.ready_connection import ReadyConnection  # loads sqlite3

    return {
        "ENGINE": SQLITE,
        "NAME": path,
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": LOCK_WAIT_SECONDS,
            "init_command": SQLITE_INIT,
            "factory": ReadyConnection,
        },
    }


def _postgresql(
    parsed: Mapping[str, Any], *, maintenance: bool, pgbouncer: bool
) -> Mapping[str, Any]:
    from copilot_admin.config.bounded_connection import BoundedConnection  # loads psycopg

    options = OPTIONS_OF_COMMANDS if maintenance else OPTIONS_OF_SERVERS
    # In transaction mode the next statement may go another way: what is set for a session is set for
    # somebody else. PgBouncer refuses `options`; its own file has the limits (docs/operations.md).
    session = {} if pgbouncer else {"options": options}
    bound = {} if maintenance else {"connection_class": BoundedConnection}
    # CONN_MAX_AGE must be 0 under ASGI: a connection kept by a thread that ended is never closed.
    return {
        **parsed,
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": pgbouncer,
        "OPTIONS": {
            **CONNECTING,
            **session,
            "pool": {**POOL, **bound},
            **parsed.get("OPTIONS", {}),
        },
    }
