"""A SQLite database has one server: it holds a lock that ends with its process, however that ends."""

import atexit
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
import errno
import fcntl
import os
from pathlib import Path

from django.conf import settings

from copilot_admin.config.databases import SQLITE
from copilot_admin.config.free_space import fault_of_disks
from copilot_admin.errors import ConfigurationError

LOCK_FILE = "server.lock"
_NOT_OURS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_GIVE_IT = "Give the folder to the user that runs the server, or name another in COPILOT_DATA_DIR."
_ours: set[Path] = set()  # folders that this process holds
_to_the_end = ExitStack()  # of the process


@contextmanager
def sole_server() -> Iterator[None]:
    """Keeps other servers away from the data of this one; commands are let through.

    Raises:
        ConfigurationError: There is another server, or the folder cannot be locked.
    """
    with ExitStack() as held:
        for folder in _folders():
            held.enter_context(_held(folder))
        _look_for_other_names()
        yield


@contextmanager
def sole_server_of_this_process() -> Iterator[None]:
    """The same, for a server that may have been started by a command which holds the data already.

    Raises:
        ConfigurationError: There is a server in another process, or the folder cannot be locked.
    """
    if _ours.issuperset(_folders()):
        yield
        return
    with sole_server():
        yield


def be_sole_development_server(argv: Sequence[str], environment: Mapping[str, str]) -> None:
    """Holds the data to the end of this process, if it is the one of `runserver` that serves.

    Args:
        argv: As in `sys.argv`.
        environment: Of this process; the one that starts another after each change of a file, and
            serves nothing itself, lacks `RUN_MAIN`.

    Raises:
        SystemExit: There is another server; Django has nobody here who would say an error in a line.
    """
    serves = "--noreload" in argv or environment.get("RUN_MAIN") == "true"
    if argv[1:2] != ["runserver"] or not serves:
        return
    try:
        be_sole_to_the_end()
    except ConfigurationError as error:
        raise SystemExit(error.public) from error


def be_sole_to_the_end() -> None:
    """Holds the data to the end of this process.

    Raises:
        ConfigurationError: There is a server in another process, or the folder cannot be locked.
    """
    _to_the_end.enter_context(sole_server_of_this_process())
    atexit.register(_to_the_end.close)  # before this module is taken apart


def _folders() -> Sequence[Path]:
    """The folders of a SQLite database, in the order in which they are locked."""
    database = settings.DATABASES["default"]
    if database["ENGINE"] != SQLITE:
        return ()
    return sorted({Path(settings.DATA_DIR).resolve(), Path(database["NAME"]).resolve().parent})


def _look_for_other_names() -> None:
    """Refuses a database file with hard links: a server at another name has another lock, and log."""
    database = settings.DATABASES["default"]
    if database["ENGINE"] != SQLITE:
        return
    path = Path(database["NAME"])
    with suppress(OSError):  # it is not there yet, or whoever opens it says so
        if path.stat().st_nlink > 1:
            raise ConfigurationError(
                f"The SQLite database {path} has another name as well (a hard link): what is written at "
                "both destroys it. Remove the other name, or put a copy in its place."
            )


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    path = folder / LOCK_FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = fault_of_disks() if error.errno == errno.ENOSPC else ""
        hint = f" {_GIVE_IT}" if error.errno in _NOT_OURS else ""
        raise ConfigurationError(
            f"{path} cannot be opened: {reason or error.strerror}.{hint}"
        ) from None
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        _lock(descriptor, folder)
        with suppress(OSError):  # a full disk: the number is only for whoever is refused
            file.truncate()
            file.write(str(os.getpid()).encode())
        _ours.add(folder)
        try:
            yield
        finally:
            _ours.discard(folder)


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
