"""A connection without its time limit, for what a server does before it serves."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def without_statement_timeout() -> Iterator[None]:
    """Lets statements of this thread take as long as they need; SQLite has no such limit."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET statement_timeout")
