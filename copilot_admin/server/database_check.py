"""Checks of the database before the server starts, and the error message for commands."""

from collections.abc import Iterator
from contextlib import contextmanager
import fcntl
import os
from pathlib import Path

from django import db
from django.conf import settings
from psycopg_pool import PoolTimeout

from copilot_admin.config.databases import SQLITE
from copilot_admin.config.logs import without_secrets
from copilot_admin.errors import ConfigurationError
from copilot_admin.storage.errors import UNDEFINED_TABLE, sqlstate_of
from copilot_admin.storage.schema import is_current

RUN_MIGRATE = "Run `manage.py migrate`."
_UNDEFINED_COLUMN = "42703"
LOCK_FILE = "server.lock"
_locked_folders: set[Path] = set()  # by this process


def check_database() -> None:
    try:
        schema_is_current = is_current()
    except db.Error as error:
        raise ConfigurationError(describe_database_error(error)) from error
    finally:
        db.connections.close_all()
    if not schema_is_current:
        raise ConfigurationError(
            f"The tables of the database are missing or out of date. {RUN_MIGRATE}"
        )


def describe_database_error(error: db.Error) -> str:
    """Return the driver's message in one line, with advice; it names no password."""
    if sqlstate_of(error) in (UNDEFINED_TABLE, _UNDEFINED_COLUMN) or "no such " in str(error):
        advice = RUN_MIGRATE
    elif settings.DATABASES["default"]["ENGINE"] == SQLITE:
        advice = "Check DATABASE_URL, COPILOT_DATA_DIR and the free space of the disk."
    else:
        advice = "Check DATABASE_URL and that PostgreSQL is running."
    message = " ".join(without_secrets(str(_find_reason(error))).split())
    return f"The database cannot be used: {message.rstrip('.?')}. {advice}"


def _find_reason(error: db.Error) -> db.Error:
    """Return the error of a connection without the pool, which only says that it got none in time."""
    if not isinstance(error.__cause__, PoolTimeout):
        return error
    direct = db.connection.copy()
    direct.settings_dict["OPTIONS"].pop("pool", None)
    try:
        direct.ensure_connection()
    except db.Error as reason:
        return reason
    finally:
        direct.close()
    return error


@contextmanager
def instance_lock() -> Iterator[None]:
    """Hold the folder of the SQLite database; PostgreSQL needs no lock.

    The lock ends with the process, also after `kill -9`. A process may take it twice: `serve` holds it
    while it checks the database, and the application takes it when it starts.
    """
    database = settings.DATABASES["default"]
    folder = Path(database["NAME"]).resolve().parent
    if database["ENGINE"] != SQLITE or folder in _locked_folders:
        yield
        return
    descriptor = _lock(folder)
    _locked_folders.add(folder)
    try:
        yield
    finally:
        _locked_folders.discard(folder)
        os.close(descriptor)


def _lock(folder: Path) -> int:
    path = folder / LOCK_FILE
    descriptor = -1
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if descriptor >= 0:
            os.close(descriptor)
        text = (
            f"Could not lock {path}: {error.strerror}. SQLite needs a local disk and a folder that the "
            "server may write to (COPILOT_DATA_DIR)."
        )
        if isinstance(error, BlockingIOError):
            text = (
                f"Another server uses the SQLite database in {folder}. Stop it, or use PostgreSQL to "
                "run several servers."
            )
        raise ConfigurationError(text) from error
    return descriptor
