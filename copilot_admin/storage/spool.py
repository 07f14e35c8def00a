"""Files that take what the database could not: synced, and read back when it answers again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
import fcntl
import json
import logging
import os
from pathlib import Path
from stat import S_ISREG
from uuid import UUID

from django.conf import settings

from copilot_admin.storage.folders import sync_folder
from protocol.json import Json, JsonObject

logger = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024 * 1024  # some ten thousand answers; a fuller disk helps nobody
WHOLE = ".json"  # ends the name of a file that waits to be replayed
UNFINISHED = ".tmp"  # of one that is being written
SET_ASIDE = ".bad"  # of one that cannot be stored
_GONE = os.stat_result([0] * 10)  # no kind of file, no bytes


class SpoolFull(OSError):
    """The spool has reached its limit."""


class Spool:
    """One file for each entry, whole and safe on the disk when `put` returns.

    So nothing is cut off by a crash, and any process may read what another one wrote.
    """

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes

    @property
    def max_bytes(self) -> int:
        """How many bytes the spool may hold."""
        return self._max_bytes

    def size(self) -> tuple[int, int]:
        """How many files wait in it, and how many bytes they are."""
        sizes = _sizes_or_none(WHOLE)
        return len(sizes), sum(sizes)

    def set_aside_files(self) -> int:
        """How many files lie in it that can never be stored, for an operator to look at."""
        return len(_sizes_or_none(SET_ASIDE))

    def fault(self) -> str:
        """What keeps its folder from being used, as half a sentence; "" where nothing does.

        One that is not there yet is made when it is needed. Of one that cannot be read nothing says
        that answers wait in it.
        """
        folder = _folder()
        if not os.path.lexists(folder):
            return ""
        if not folder.is_dir():
            return f"{folder} is no folder"
        may_be_used = os.access(folder, os.R_OK | os.W_OK | os.X_OK)
        return "" if may_be_used else f"{folder} cannot be read or written to"

    def put(self, key: UUID, entry: JsonObject) -> None:
        """Keeps an entry, instead of an earlier one with the same key.

        Raises:
            OSError: The disk or the spool is full, or not to be written to.
        """
        data = json.dumps(entry).encode()
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if len(data) + sum(_sizes(WHOLE, UNFINISHED)) > self._max_bytes:
            raise SpoolFull(f"The spool {folder} may hold {self._max_bytes} bytes; it is full.")
        unfinished = folder / f"{key}{UNFINISHED}"
        try:
            _write(unfinished, data)
            unfinished.replace(folder / f"{key}{WHOLE}")
        except OSError:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise
        sync_folder(folder)

    def clean(self) -> None:
        """Removes what processes that died left half-written; what is being written stays."""
        for path in _files(f"*{UNFINISHED}"):
            try:
                with path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
            except FileNotFoundError:  # another process was faster
                continue
            except OSError as error:  # being written, or not to be removed
                logger.warning("%s stays in the spool: %s", path.name, error.strerror)

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """Keeps other processes from what they would take from the same folder at the same time.

        Yields:
            Whether this process has it.
        """
        try:
            descriptor = os.open(_folder(), os.O_RDONLY)
        except OSError:  # nothing was ever spooled, or `entries` says why
            yield True
            return
        try:
            yield _is_locked(descriptor)
        finally:
            os.close(descriptor)

    def entries(self) -> Iterator[tuple[Path, Mapping[str, Json]]]:
        """What is kept, and where; {} for a file that holds something else."""
        for path in sorted(_files(f"*{WHOLE}")):
            try:
                entry = json.loads(path.read_bytes()) if _size(path) <= self._max_bytes else {}
            except FileNotFoundError:  # another process was faster
                continue
            except OSError as error:
                logger.warning("%s cannot be read in the spool: %s", path.name, error.strerror)
                continue
            except (ValueError, RecursionError):
                entry = {}
            yield path, entry if isinstance(entry, dict) else {}

    def set_aside(self, path: Path) -> None:
        """Keeps a file for an operator to look at, and hands it out no more."""
        try:
            path.replace(path.with_suffix(SET_ASIDE))
        except OSError as error:
            logger.warning("%s stays in the spool: %s", path.name, error.strerror)

    def forget(self, path: Path) -> None:
        """Removes a file; where that cannot be done, it will be handed out again."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("%s stays in the spool: %s", path.name, error.strerror)

    def runs(self) -> Iterator[UUID]:
        """The runs of which anything lies here, whole, half-written or set aside."""
        with suppress(OSError):  # nothing was ever spooled
            for name in {path.name.partition(".")[0] for path in _folder().iterdir()}:
                with suppress(ValueError):  # no file of ours
                    yield UUID(name)

    def forget_all(self, key: UUID) -> None:
        """Removes everything that lies here of a run."""
        for ending in (WHOLE, SET_ASIDE, UNFINISHED):
            self.forget(_folder() / f"{key}{ending}")


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "spool"


def _files(pattern: str) -> Iterator[Path]:
    """Files of the spool; what somebody else put there may be a pipe, which never ends."""
    return (path for path in _folder().glob(pattern) if S_ISREG(_state(path).st_mode))


def _sizes_or_none(ending: str) -> list[int]:
    try:
        return _sizes(ending)
    except OSError:  # nothing was ever spooled, or the disk is away
        return []


def _sizes(*endings: str) -> list[int]:
    """How long the files are whose names end so; what else lies there takes nobody's room."""
    states = (_state(path) for path in _folder().iterdir() if path.suffix in endings)
    return [state.st_size for state in states if S_ISREG(state.st_mode)]


def _size(path: Path) -> int:
    return _state(path).st_size


def _state(path: Path) -> os.stat_result:
    try:
        return path.lstat()
    except FileNotFoundError:  # it was replayed meanwhile
        return _GONE


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _write(path: Path, data: bytes) -> None:
    """Puts bytes on the disk; the file is locked meanwhile, so that nobody takes it for a leftover."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(descriptor)


SPOOL = Spool()
