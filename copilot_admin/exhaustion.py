"""What the system has no more of for a moment: threads, and open files."""

from enum import StrEnum
import errno
import os

from copilot_admin.errors import iter_causes

_NO_THREAD = "can't start new thread"  # CPython has no class and no code of its own for it
_NO_FILE = frozenset({errno.EMFILE, errno.ENFILE})  # of the process, of the machine


class Exhausted(StrEnum):
    """What there is no more of; the value stands behind "its limit of"."""

    FILES = "open files"
    THREADS = "threads"

    @property
    def advice(self) -> str:
        """What whoever runs the server has to do."""
        return f"Raise its limit of {self}."


def exhausted(error: BaseException) -> Exhausted | None:
    """What the system did not give, as it had none, where something broke; None: it is no such error."""
    if isinstance(error, RuntimeError):
        return Exhausted.THREADS if str(error) == _NO_THREAD else None
    is_of_files = isinstance(error, OSError) and error.errno in _NO_FILE
    return Exhausted.FILES if is_of_files else None


def exhausted_below(error: BaseException) -> Exhausted | None:
    """The same of an error, or of one that led to it."""
    return next(filter(None, map(exhausted, iter_causes(error))), None)


def without_file() -> OSError | None:
    """The error of a process that can open no file at the moment; None: it can.

    The system's resolver reads files, and says of a name that it is unknown where it can open none.
    """
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error if exhausted(error) else None
    return None
