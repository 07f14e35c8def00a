"""The processes of a run make the tables of SQLite once: the first migrates, the others copy."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
import fcntl
import os
from pathlib import Path
import shutil
import sqlite3

from django.db import connection

TABLES_FOLDER = "TESTS_TABLES_FOLDER"  # set by `python -m tests`, for all that it starts


@contextmanager
def ready_tables(folder: Path, database: Path) -> Iterator[bool]:
    """Copies the tables to a database, or keeps those that the caller makes in it.

    Who is the first holds the others up until he has made them. Where he fails, the next one does.

    Yields:
        Whether they were copied.
    """
    ready = folder / "ready.sqlite3"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if ready.exists():
            fcntl.flock(lock, fcntl.LOCK_UN)
            shutil.copyfile(ready, database)
            yield True
        else:
            yield False
            _copy(database, ready)


def _copy(database: Path, ready: Path) -> None:
    """Whole, or not at all."""
    begun = ready.with_name("begun.sqlite3")
    begun.unlink(missing_ok=True)
    copy_rows(database, begun)
    begun.replace(ready)


def copy_rows(database: Path, target: Path) -> None:
    """Copies a database of SQLite, with what still stands in the log beside its file."""
    with closing(sqlite3.connect(database)) as made, closing(sqlite3.connect(target)) as copy:
        made.backup(copy)


def copy_for_server(folder: Path) -> None:
    """Gives a server that a test starts the tables of this process: to migrate takes 5 s.

    Args:
        folder: The data directory of that server.
    """
    folder.mkdir(mode=0o700)
    file = folder / "copilot.sqlite3"
    file.touch(mode=0o600)
    copy_rows(Path(connection.settings_dict["NAME"]), file)


def shared_folder() -> Path | None:
    """Where the processes of this run keep them; nowhere if it is one process by itself."""
    named = os.environ.get(TABLES_FOLDER)
    return Path(named) if named else None
