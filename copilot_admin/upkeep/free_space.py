"""Whether the disks that the service writes to take anything, and how much room is left on them."""

from collections.abc import Iterator
from pathlib import Path
import shutil

from django.conf import settings

from copilot_admin.config.databases import SQLITE
from copilot_admin.storage.full_disk import may_be_written

# What must be free: the write-ahead log of SQLite (4 MB before it is folded in) and the requests of
# a minute, each up to 20 MB. A volume that is small as a whole needs a twentieth of itself.
LEAST_BYTES = 64 * 1024 * 1024
LEAST_SHARE = 1 / 20


def full_folder() -> Path | None:
    """A folder of ours on whose disk too little room is left."""
    return next((folder for folder in _folders() if _is_full(folder)), None)


def read_only_folder() -> Path | None:
    """A folder of ours in which this process may make no files."""
    return next((folder for folder in _folders() if not may_be_written(folder)), None)


def _folders() -> Iterator[Path]:
    yield Path(settings.DATA_DIR)
    database = settings.DATABASES["default"]
    if database["ENGINE"] == SQLITE:
        yield Path(database["NAME"]).parent


def _is_full(folder: Path) -> bool:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:  # it is gone: nothing can be written there
        return True
    return usage.free < min(LEAST_BYTES, usage.total * LEAST_SHARE)
