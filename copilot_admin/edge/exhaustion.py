"""What the system has no more of for a moment: threads, and open files."""

import errno

_NO_THREAD = "can't start new thread"  # CPython has no class and no code of its own for it
_NO_FILE = frozenset({errno.EMFILE, errno.ENFILE})


def is_exhausted(error: BaseException) -> bool:
    """Whether something broke because the system gave no thread or no open file."""
    if isinstance(error, RuntimeError):
        return str(error) == _NO_THREAD
    return isinstance(error, OSError) and error.errno in _NO_FILE
