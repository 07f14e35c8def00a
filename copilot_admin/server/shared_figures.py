"""The folder in which workers count together: a new one at each start, without those of the dead."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import fcntl
import os
from pathlib import Path
import shutil
from tempfile import TemporaryDirectory, gettempdir

from django.conf import settings

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # read by Prometheus' client when it is imported
PREFIX = "copilot-figures-"
LOCK = "lock"  # of whoever made the folder; it ends with the process, however that ends
_DRAFT = "lock.new"


@contextmanager
def counting_together() -> Iterator[None]:
    """Lets workers that start meanwhile count in one folder, if figures are wanted."""
    if not settings.METRICS_READERS.are_there:
        yield
        return
    _remove_left_folders(Path(gettempdir()))
    with TemporaryDirectory(prefix=PREFIX) as folder, _held(Path(folder)):
        os.environ[FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER]


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Says that the folder has an owner; nobody sees the file before it is locked."""
    with (folder / _DRAFT).open("wb") as lock:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / _DRAFT).replace(folder / LOCK)
        yield


def _remove_left_folders(place: Path) -> None:
    """Removes the folders of those that were killed; what others own, or nobody can tell, stays."""
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError), (folder / LOCK).open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def forget_process(pid: int | None) -> None:
    """Takes a process that has ended out of what stands at the moment; what it counted stays."""
    if pid is None or not os.environ.get(FOLDER):
        return
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid)  # type: ignore[no-untyped-call]
