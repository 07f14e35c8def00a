"""A SQLite database has one server: it holds a lock that ends with its process, however that ends."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
import fcntl
import os
from pathlib import Path

from django.conf import settings

from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError

LOCK_FILE = "server.lock"


@contextmanager
def sole_server() -> Iterator[None]:
    """Keeps other servers away from the data of this one; commands are let through.

    Raises:
        ConfigurationError: There is another server, or the folder cannot be locked.
    """
    database = settings.DATABASES["default"]
    if database["ENGINE"] != SQLITE:
        yield
        return
    folders = {Path(settings.DATA_DIR).resolve(), Path(database["NAME"]).resolve().parent}
    with ExitStack() as held:
        for folder in sorted(folders):
            held.enter_context(_held(folder))
        yield


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    path = folder / LOCK_FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be opened: {error.strerror}.") from None
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        _lock(descriptor, folder)
        with suppress(OSError):  # a full disk: the number is only for whoever is refused
            file.truncate()
            file.write(str(os.getpid()).encode())
        yield


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        number = os.pread(descriptor, 20, 0).decode("ascii", "replace")
        raise ConfigurationError(
            f"Another server{f' (process {number})' if number else ''} uses the SQLite database in "
            f"{folder}. Stop it, or use PostgreSQL for several."
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"{folder} cannot be locked ({error.strerror}), as on some network file systems. "
            "Put SQLite on a local disk."
        ) from None
