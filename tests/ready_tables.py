"""The processes of a run make the tables of SQLite once: the first migrates, the others copy."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
import fcntl
import os
from pathlib import Path
import shutil
import sqlite3

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
    """With what still stands in the log beside the file; whole, or not at all."""
    begun = ready.with_name("begun.sqlite3")
    begun.unlink(missing_ok=True)
    with closing(sqlite3.connect(database)) as made, closing(sqlite3.connect(begun)) as copy:
        made.backup(copy)
    begun.replace(ready)


def shared_folder() -> Path | None:
    """Where the processes of this run keep them; nowhere if it is one process by itself."""
    named = os.environ.get(TABLES_FOLDER)
    return Path(named) if named else None
