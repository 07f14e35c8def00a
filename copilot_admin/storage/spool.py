"""Files for the ends of runs that the database couldn't take, until it answers again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
import fcntl
import json
import logging
import os
from pathlib import Path
import time
from uuid import UUID

from django.conf import settings

from protocol.json import Json, JsonObject

logger = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024 * 1024  # some ten thousand answers
ENTRY = ".json"  # waits to be replayed
UNFINISHED = ".tmp"  # is being written
REJECTED = ".bad"  # can't be stored; for an operator to look at
LEFTOVER_SECONDS = 3600  # a file that is being written for longer belongs to a dead process


class Spool:
    """One file for each entry, safe on the disk when `put` returns; any process may read it."""

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes

    def size(self) -> tuple[int, int]:
        sizes = []
        for path in _files(ENTRY):
            with suppress(FileNotFoundError):  # it was replayed meanwhile
                sizes.append(path.stat().st_size)
        return len(sizes), sum(sizes)

    def count_rejected(self) -> int:
        return len(_files(REJECTED))

    def put(self, key: UUID, entry: JsonObject) -> None:
        """Write an entry, in place of an earlier one with the same key; OSError if nothing fits."""
        data = json.dumps(entry).encode()
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if len(data) + self.size()[1] > self.max_bytes:
            raise OSError(f"The spool {folder} is full: it may hold {self.max_bytes} bytes.")
        unfinished = folder / f"{key}{UNFINISHED}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            with os.fdopen(os.open(unfinished, flags, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(folder / f"{key}{ENTRY}")
        except OSError:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise
        sync_folder(folder)

    def entries(self) -> Iterator[tuple[Path, Mapping[str, Json]]]:
        """Yield each file and its content; {} if it isn't an entry."""
        for path in _files(ENTRY):
            try:
                entry = json.loads(path.read_bytes())
            except FileNotFoundError:  # another process was faster
                continue
            except OSError as error:
                logger.warning("cannot read the spooled run %s: %s", path, error.strerror)
                continue
            except ValueError:
                entry = {}
            yield path, entry if isinstance(entry, dict) else {}

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Keep other processes from replaying the same folder; yield False if one does already."""
        if not _folder().is_dir():  # nothing was ever spooled
            yield True
            return
        descriptor = os.open(_folder(), os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_locked = True
        except BlockingIOError:
            is_locked = False
        try:
            yield is_locked
        finally:
            os.close(descriptor)

    def remove(self, path: Path) -> None:
        """Remove a file; if that fails, it is replayed again."""
        with _log_failure(path):
            path.unlink(missing_ok=True)

    def reject(self, path: Path) -> None:
        """Rename a file so that it isn't replayed any more."""
        with _log_failure(path):
            path.replace(path.with_suffix(REJECTED))

    def remove_leftovers(self) -> None:
        """Remove half-written files of processes that died."""
        for path in _files(UNFINISHED):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - LEFTOVER_SECONDS:
                    self.remove(path)

    def run_ids(self) -> Iterator[UUID]:
        for name in {path.stem for path in _files(ENTRY, UNFINISHED, REJECTED)}:
            with suppress(ValueError):
                yield UUID(name)

    def remove_run(self, key: UUID) -> None:
        for suffix in (ENTRY, UNFINISHED, REJECTED):
            self.remove(_folder() / f"{key}{suffix}")


@contextmanager
def _log_failure(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        logger.warning("cannot read or change %s: %s", path, error.strerror)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, so that they survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "spool"


def _files(*suffixes: str) -> list[Path]:
    return sorted(path for path in _folder().glob("*") if path.suffix in suffixes)


SPOOL = Spool()
