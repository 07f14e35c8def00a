"""A disk that takes no files: what the system says of it, and whether it is to blame."""

import errno
import os
from pathlib import Path

# Full, full for this user, or mounted (also by the kernel, after a fault) to be read only.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


def is_no_room(error: BaseException) -> bool:
    """Whether a file could not be written because its disk takes none."""
    return isinstance(error, OSError) and error.errno in _NO_ROOM


def may_be_written(folder: Path) -> bool:
    """Whether this process may make files in a folder; a disk that is read only says no to all."""
    return os.access(folder, os.W_OK | os.X_OK)
