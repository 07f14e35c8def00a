"""Which database the tests run on, and what its planner knows."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
import sqlite3

from django.db import connection, connections
import pytest

IS_POSTGRESQL = connection.vendor == "postgresql"
on_postgresql = pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has nothing of the kind")


def close_other_connections() -> None:
    """Ends every connection to the database of PostgreSQL, of whatever thread; closes this one's."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connections.close_all()


def forget_sizes(tables: Iterable[str]) -> None:
    """Makes the planner of PostgreSQL think of tables as it does of new ones, until a test ends.

    Where a table was vacuumed when it was empty, by another test or by the server itself, one index
    is as good to it as another. The lock keeps it from being looked at again meanwhile.
    """
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")


def copy_for_server(folder: Path) -> None:
    """Copy the SQLite database of this process to the data directory of a server, for speed."""
    folder.mkdir(mode=0o700)
    file = folder / "copilot.sqlite3"
    file.touch(mode=0o600)
    with (
        closing(sqlite3.connect(connection.settings_dict["NAME"])) as source,
        closing(sqlite3.connect(file)) as target,
    ):
        source.backup(target)
