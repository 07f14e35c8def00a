"""Whether the disks that the service writes to take anything, and how much room is left on them."""

from collections.abc import Iterator
import os
from pathlib import Path
import shutil

from django.conf import settings

from copilot_admin.config.databases import SQLITE

# What must be free: the write-ahead log of SQLite (4 MB before it is folded in) and the requests of
# a minute, each up to 20 MB. A volume that is small as a whole needs a twentieth of itself.
LEAST_BYTES = 64 * 1024 * 1024
LEAST_SHARE = 1 / 20
LEAST_FILES = 100  # each answer that the database does not take is one, and SQLite makes two


def full_folder() -> Path | None:
    """A folder of ours on whose disk too little room is left."""
    return next((folder for folder in _folders() if _is_full(folder)), None)


def read_only_folder() -> Path | None:
    """A folder of ours in which this process may make no files."""
    return next((folder for folder in _folders() if not os.access(folder, os.W_OK | os.X_OK)), None)


def folder_without_files() -> Path | None:
    """A folder of ours on whose disk hardly a file more can be made, however much room there is."""
    return next((folder for folder in _folders() if _has_few_files_left(folder)), None)


def fault_of_disks() -> str:
    """What is wrong with the disks of our folders, as half a sentence; "" where nothing is."""
    if (folder := full_folder()) is not None:
        return f"the disk of {folder} is full" if folder.exists() else f"{folder} is gone"
    if (folder := folder_without_files()) is not None:
        return f"the disk of {folder} takes no more files (no inodes are left)"
    if (folder := read_only_folder()) is not None:
        return f"{folder} cannot be written to"
    return ""


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


def _has_few_files_left(folder: Path) -> bool:
    """Whether few inodes are left; file systems that make them as they are wanted have 0 of 0."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return True
    return disk.f_favail < min(LEAST_FILES, disk.f_files * LEAST_SHARE)
