"""Sends a database a value of megabytes, of which the process keeps no more than it needs and nothing afterwards.

Django's cursors write values into their statement: beside itself a text of 16 MB was in memory four
times while PostgreSQL was slow, and bytes, which are written as digits, nine times. The driver's
library keeps the buffer in which it sent its largest statement for as long as the connection lives,
and the pool hands out its connections in turn: ten of them held 160 MB and more.

SQLite's driver writes a text as UTF-8 in one call, which keeps the lock of the interpreter: of 19 MB in
other letters than ASCII's for 45 to 75 ms. The text holds what was written for as long as it lives.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
import threading
from typing import Any

from django.db import OperationalError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from protocol.pieces import encoded

LARGE = 256 * 1024  # characters, or bytes


class _Sent(threading.local):
    """Ends the connection over which this thread has sent something large, as long as it is there."""

    end: Callable[[], None] | None = None


_sent = _Sent()


def execute_large(
    database: BaseDatabaseWrapper, sql: str, values: Sequence[Any], take: Callable[[Any], Any]
) -> Any:
    """Executes a statement whose values stand beside it, on a connection that is not used again.

    Args:
        database: PostgreSQL.
        sql: The statement.
        values: Of which one is large.
        take: Takes of the cursor what is wanted.

    Raises:
        OperationalError: PostgreSQL did not take it; the connection is at its end.
    """
    from psycopg import Cursor

    database.ensure_connection()
    used = database.connection
    try:
        with database.wrap_database_errors, Cursor(used) as cursor:
            cursor.execute(sql, values)
            taken = take(cursor)
    except OperationalError:  # PostgreSQL is slow, or away: it is tried again over another one
        used.close()
        raise
    _sent.end = partial(_end, database, used)
    transaction.on_commit(_sent.end)
    return taken


def as_bytes(value: Any) -> Any:
    """A large text as UTF-8, written in pieces; any other value as it is."""
    if isinstance(value, str) and len(value) > LARGE and not value.isascii():
        return encoded(value)
    return value


@contextmanager
def ending_what_was_used() -> Iterator[None]:
    """Ends such a connection also where the transaction in the block was undone, of which Django tells nobody."""
    try:
        yield
    finally:
        if _sent.end is not None:
            _sent.end()


def _end(database: BaseDatabaseWrapper, used: Any) -> None:
    """Ends a connection; the pool makes another one instead."""
    _sent.end = None
    used.close()
    if database.connection is used:
        database.close()
