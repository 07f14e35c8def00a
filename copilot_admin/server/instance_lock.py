"""Lock that lets only one server process use a SQLite database."""

from collections.abc import Iterator
from contextlib import contextmanager
import fcntl
import os
from pathlib import Path

from django.conf import settings

from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError

LOCK_FILE = "server.lock"
_locked_folders: set[Path] = set()  # by this process


@contextmanager
def instance_lock() -> Iterator[None]:
    """Hold the folder of the SQLite database; PostgreSQL needs no lock.

    The lock ends with the process, also after `kill -9`. A process may take it twice: `serve` holds it
    while it checks the database, and the application takes it when it starts.

    Raises:
        ConfigurationError: Another server uses the database, or the folder cannot be locked.
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
        if isinstance(error, BlockingIOError):
            raise ConfigurationError(
                f"Another server uses the SQLite database in {folder}. Stop it, or use PostgreSQL to "
                "run several servers."
            ) from error
        raise ConfigurationError(
            f"Could not lock {path}: {error.strerror}. SQLite needs a local disk and a folder that the "
            "server may write to (COPILOT_DATA_DIR)."
        ) from error
    return descriptor
