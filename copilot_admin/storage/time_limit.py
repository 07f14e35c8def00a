"""Time limit of reading statements, for pages whose filters may need to read whole tables."""

from collections.abc import Iterator
from contextlib import contextmanager
import time

from django.db import OperationalError, connection, transaction

from copilot_admin.storage.errors import is_statement_timeout

OPERATIONS_PER_CHECK = 20_000  # of SQLite, less than a millisecond


class TooSlowError(Exception):
    """A statement was cancelled because it took too long."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Cancel statements within this block that read for longer than this; raise TooSlowError."""
    try:
        with (
            _limit_postgresql(seconds)
            if connection.vendor == "postgresql"
            else _limit_sqlite(seconds)
        ):
            yield
    except OperationalError as error:
        if not is_statement_timeout(error):
            raise
        raise TooSlowError from error


@contextmanager
def _limit_postgresql(seconds: float) -> Iterator[None]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = {max(1, int(seconds * 1000))}")
        yield
        cursor.execute("SET LOCAL statement_timeout TO DEFAULT")  # an outer transaction goes on


@contextmanager
def _limit_sqlite(seconds: float) -> Iterator[None]:
    connection.ensure_connection()
    database = connection.connection
    deadline = time.monotonic() + seconds
    database.set_progress_handler(lambda: time.monotonic() > deadline, OPERATIONS_PER_CHECK)
    try:
        yield
    finally:
        database.set_progress_handler(None, 0)
