"""Files that take what the database could not: synced, and read back when it answers again."""

from collections.abc import Iterator, Mapping
import json
import os
from pathlib import Path
from uuid import UUID

from django.conf import settings

from protocol.json import Json, JsonObject

MAX_BYTES = 256 * 1024 * 1024  # some ten thousand answers; a fuller disk helps nobody


class SpoolFull(OSError):
    """The spool has reached its limit."""


class Spool:
    """One file for each entry, whole and safe on the disk when `put` returns.

    So nothing is cut off by a crash, and any process may read what another one wrote.
    """

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes

    def put(self, key: UUID, entry: JsonObject) -> None:
        """Keeps an entry, instead of an earlier one with the same key.

        Raises:
            OSError: The disk or the spool is full, or not to be written to.
        """
        data = json.dumps(entry).encode()
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if len(data) + sum(path.stat().st_size for path in folder.iterdir()) > self._max_bytes:
            raise SpoolFull(f"The spool {folder} may hold {self._max_bytes} bytes; it is full.")
        unfinished = folder / f"{key}.tmp"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(folder / f"{key}.json")
        _sync(folder)

    def entries(self) -> Iterator[tuple[Path, Mapping[str, Json]]]:
        """What is kept, and where; {} for a file that holds something else."""
        for path in sorted(_folder().glob("*.json")):
            try:
                entry = json.loads(path.read_bytes())
            except FileNotFoundError:  # another process was faster
                continue
            except ValueError:
                entry = {}
            yield path, entry if isinstance(entry, dict) else {}

    def set_aside(self, path: Path) -> None:
        """Keeps a file for an operator to look at, and hands it out no more."""
        path.replace(path.with_suffix(".bad"))


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "spool"


def _sync(folder: Path) -> None:
    """Makes the names in a folder survive a power cut too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


SPOOL = Spool()
