"""Free space for the data directory."""

import os
import shutil

from django.conf import settings

MIN_FREE_BYTES = 64 * 1024 * 1024  # SQLite's write-ahead log and the requests of a minute


def find_disk_problem() -> str:
    """Return what keeps the server from writing its data; "" if nothing does."""
    folder = settings.DATA_DIR
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return f"{folder}: {error.strerror}"
    if free < MIN_FREE_BYTES:
        return f"the disk of {folder} is full"
    return "" if os.access(folder, os.W_OK) else f"{folder} can't be written to"
