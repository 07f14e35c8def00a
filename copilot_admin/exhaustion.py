"""What the system has no more of for a moment: threads, and open files."""

from enum import StrEnum
import errno

_NO_THREAD = "can't start new thread"  # CPython has no class and no code of its own for it
_NO_FILE = frozenset({errno.EMFILE, errno.ENFILE})  # of the process, of the machine


class Exhausted(StrEnum):
    """What there is no more of; the value stands behind "the limit of"."""

    FILES = "open files"
    THREADS = "threads"


def exhausted(error: BaseException) -> Exhausted | None:
    """What the system did not give, as it had none, where something broke; None: it is no such error."""
    if isinstance(error, RuntimeError):
        return Exhausted.THREADS if str(error) == _NO_THREAD else None
    is_of_files = isinstance(error, OSError) and error.errno in _NO_FILE
    return Exhausted.FILES if is_of_files else None
