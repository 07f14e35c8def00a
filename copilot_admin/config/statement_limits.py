"""A connection without its time limits, for statements that take as long as a table is large."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection


@contextmanager
def without_statement_timeout() -> Iterator[None]:
    """Lets statements of this thread take as long as they need; SQLite has no such limits."""
    if connection.vendor != "postgresql":
        yield
        return
    if settings.PGBOUNCER:  # its connections are others' too; its own file has the limits
        connection.ensure_connection()
        with _unbounded(connection.connection):
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
    try:
        with _unbounded(connection.connection):
            yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET statement_timeout")


@contextmanager
def _unbounded(raw: object) -> Iterator[None]:
    from copilot_admin.config.bounded_connection import BoundedConnection  # loads psycopg

    if not isinstance(raw, BoundedConnection):
        yield
        return
    raw.answers_within = None
    try:
        yield
    finally:
        del raw.answers_within  # that of its class counts again
