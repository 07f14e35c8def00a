"""Errors of databases and disks, and the time limit of reading statements."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
import errno
import os
import shutil
import sqlite3
import time
from typing import Any

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)
from django.db.models import QuerySet

from copilot_admin.errors import Unavailable

MIN_FREE_BYTES = 64 * 1024 * 1024  # SQLite's write-ahead log and the requests of a minute
# A database that is away, locked or full; InternalError is PostgreSQL after a switch to its standby.
OUTAGES = (OperationalError, InterfaceError, InternalError)
REFUSALS = (DataError, IntegrityError, ProgrammingError)

# Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
QUERY_CANCELED = "57014"
FOREIGN_KEY_VIOLATION = "23503"
UNIQUE_VIOLATION = "23505"
UNDEFINED_TABLE = "42P01"
OPERATIONS_PER_CHECK = 20_000  # of SQLite, less than a millisecond


class DatabaseUnavailable(Unavailable):
    """The database takes no more work at the moment."""

    code = "database-unavailable"

    def __init__(self) -> None:
        super().__init__("The server cannot reach its database now. Ask again in a few seconds.")


class WriteConflict(Enum):
    """A change of somebody else that came first."""

    GONE = "gone"  # the row, or one that it refers to, was deleted
    TAKEN = "taken"  # another row has a value that must be unique


# Source: https://www.sqlite.org/rescode.html
_CONFLICTS: Mapping[str | int, WriteConflict] = {
    FOREIGN_KEY_VIOLATION: WriteConflict.GONE,
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: WriteConflict.GONE,
    UNIQUE_VIOLATION: WriteConflict.TAKEN,
    sqlite3.SQLITE_CONSTRAINT_UNIQUE: WriteConflict.TAKEN,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: WriteConflict.TAKEN,
}


def _sqlite_code(error: BaseException) -> int:
    return getattr(error.__cause__, "sqlite_errorcode", sqlite3.SQLITE_OK)


def is_outage(error: BaseException) -> bool:
    """Return True if the database is to blame, so that the same may work later."""
    return isinstance(error, OUTAGES)


def is_refusal(error: BaseException) -> bool:
    """Return True if the database would refuse the same statement again, such as an unknown table."""
    return isinstance(error, REFUSALS) or _sqlite_code(error) == sqlite3.SQLITE_ERROR


def is_statement_timeout(error: BaseException) -> bool:
    is_interrupted = _sqlite_code(error) == sqlite3.SQLITE_INTERRUPT
    return is_interrupted or sqlstate_of(error) == QUERY_CANCELED


def is_disk_full(error: BaseException) -> bool:
    """Return True if a file could not be written because its disk takes nothing."""
    codes = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
    return isinstance(error, OSError) and error.errno in codes


def conflict_of(error: BaseException) -> WriteConflict | None:
    """Return the conflict with somebody else's change that an error reports, if any."""
    # Django raises a plain DatabaseError where `save` finds no row to update.
    is_lost_update = type(error) is DatabaseError and error.__cause__ is None
    if isinstance(error, ObjectDoesNotExist) or is_lost_update:
        return WriteConflict.GONE
    if not isinstance(error, IntegrityError):
        return None
    return _CONFLICTS.get(sqlstate_of(error) or _sqlite_code(error))


def sqlstate_of(error: BaseException) -> str | None:
    """Return PostgreSQL's code of an error; SQLite has none."""
    return getattr(error.__cause__, "sqlstate", None)


def find_disk_problem() -> str:
    """Return what keeps the server from writing its data; "" if nothing does."""
    folder = settings.DATA_DIR
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return f"{folder}: {error.strerror}"
    if free < MIN_FREE_BYTES:
        return f"the disk of {folder} is full"
    return "" if os.access(folder, os.W_OK) else f"{folder} can't be written to"


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


def count_rows(rows: "QuerySet[Any]", limit: int, *, seconds: float) -> int | None:
    """Return the number of rows, at most one more than the limit; None if counting is too slow."""
    try:
        with time_limit(seconds):
            return rows.order_by()[: limit + 1].count()
    except TooSlowError:
        return None
