"""SQLite into a backup and back, by its own online copy: a server goes on meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
import os
from pathlib import Path
import sqlite3
import tempfile
from typing import IO

from copilot_admin.config.databases import LOCK_TIMEOUT_SECONDS
from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.backups.archive import ArchiveReader
from copilot_admin.jobs.backups.left_out import LEFT_OUT
from copilot_admin.jobs.backups.manifest import DATABASE

AT_LOG, WITHOUT_LOG = 18, b"\x01\x01"  # sqlite.org/fileformat.html: write and read version
_DRAFT = ".restored-"
BESIDE = ("-wal", "-shm", "-journal")  # what belongs to the file that is replaced


@contextmanager
def dump(database: Path, *, beside: Path) -> Iterator[IO[bytes]]:
    """A whole copy as it is at one moment; it is made in the folder of the backup, and has no name.

    So nothing of it is left where the process is killed. All pages in one step: in WAL mode a reader
    holds up no writer, and steps would begin anew with each write of another process.
    """
    descriptor, name = tempfile.mkstemp(dir=beside, prefix=".backup-")  # mode 0600
    copy = Path(name)
    with os.fdopen(descriptor, "rb") as file:
        with (
            _without_file(copy),
            closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
            closing(sqlite3.connect(copy)) as draft,
        ):
            for one in (target, draft):
                one.execute("PRAGMA journal_mode=OFF")  # it would have the name of the copy
            copy.unlink()
            source.execute(f"PRAGMA busy_timeout={LOCK_TIMEOUT_SECONDS * 1000}")
            source.backup(target)
            # The server's has a write-ahead log, which needs a name.
            os.pwrite(descriptor, WITHOUT_LOG, AT_LOG)
            _leave_out(draft)
        yield file


def _leave_out(copy: sqlite3.Connection) -> None:
    """Deletes what no backup holds, and overwrites it."""
    copy.execute("PRAGMA secure_delete=ON")
    rows = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    for name in {name for (name,) in rows}.intersection(LEFT_OUT):
        copy.execute(f'DELETE FROM "{name}"')  # noqa: S608  # a name of ours
    copy.commit()


@contextmanager
def _without_file(path: Path) -> Iterator[None]:
    """Takes a file away in the end, however the block ends."""
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def clear_restored(database: Path) -> None:
    """Takes away what a restore has left that was killed: a copy of all transcripts.

    Only for who keeps other servers and restores away.
    """
    for path in database.parent.glob(f"{_DRAFT}*"):
        with suppress(OSError):  # what cannot go is in nobody's way
            path.unlink()


def restore(
    backup: ArchiveReader, database: Path, replacing: Callable[[], object] = lambda: None
) -> None:
    """Puts the copy in the place of a database that nobody has open.

    Args:
        backup: The backup.
        database: The file in whose place its copy comes.
        replacing: Called before anything is taken from the database that is there.

    Raises:
        ConfigurationError: It is damaged, or cannot be written; what was there is as it was.
    """
    try:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        clear_restored(database)  # the disk may have room for one
        descriptor, name = tempfile.mkstemp(dir=database.parent, prefix=_DRAFT)  # mode 0600
    except OSError as error:
        raise _unwritable(database, error) from error
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            backup.copy(DATABASE, file.write)
            file.flush()
            os.fsync(descriptor)
        _check(draft)
        replacing()
        for ending in BESIDE:  # first: a WAL of the old file would be played into the new one
            database.with_name(database.name + ending).unlink(missing_ok=True)
        draft.replace(database)
    except OSError as error:
        raise _unwritable(database, error) from error
    finally:
        for ending in ("", *BESIDE):
            draft.with_name(draft.name + ending).unlink(missing_ok=True)


def _unwritable(database: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"{database} cannot be written: {error.strerror}.")


def _check(file: Path) -> None:
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as copy:
            found = copy.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError:
        found = None
    if found != ("ok",):
        raise ConfigurationError("The database of the backup is damaged. Use another backup.")
