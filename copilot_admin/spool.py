"""A file that takes what the database could not: appended, synced, read back at the next start."""

from collections.abc import Iterator, Mapping
import json
import os
from pathlib import Path
import threading

from django.conf import settings

from protocol.json import Json, JsonObject

MAX_BYTES = 256 * 1024 * 1024  # some ten thousand answers; a fuller disk helps nobody


class SpoolFull(OSError):
    """The spool has reached its limit."""


class Spool:
    """JSON objects, one a line, safe on the disk when `append` returns.

    Each process appends to a file of its own; a start reads those of all.
    """

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()

    def append(self, entry: JsonObject) -> None:
        """Adds an entry.

        Raises:
            OSError: The disk or the spool is full, or not to be written to.
        """
        line = json.dumps(entry).encode() + b"\n"
        with self._lock:
            folder = _folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if len(line) + sum(path.stat().st_size for path in self.files()) > self._max_bytes:
                raise SpoolFull(f"The spool {folder} holds {self._max_bytes} bytes; it is full.")
            path = folder / f"{os.getpid()}.jsonl"
            is_new = not path.exists()
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                _sync_folder(folder)

    def files(self) -> list[Path]:
        """The files that hold entries."""
        return sorted(_folder().glob("*.jsonl"))

    def entries(self, path: Path) -> Iterator[Mapping[str, Json]]:
        """The entries of a file; a last line that was cut off by a crash is left out."""
        for line in path.read_bytes().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "spool"


def _sync_folder(folder: Path) -> None:
    """Makes the new file's name survive a power cut too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


SPOOL = Spool()
