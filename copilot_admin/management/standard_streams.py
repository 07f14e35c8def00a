"""The standard streams of a command: all three are there, and one whose output goes nowhere ends in a word.

`manage.py ... | head`, a full disk and `>&-` are no faults of a command, and need no traceback.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import errno
from io import BufferedWriter, FileIO, RawIOBase, TextIOWrapper
import os
import sys
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_INPUT, _OUTPUT, _ERRORS = range(3)
# Of a stream that is closed: nothing is read, what is written to the output fails, words on errors go nowhere.
_IN_ITS_PLACE = {_INPUT: os.O_RDONLY, _OUTPUT: os.O_RDONLY, _ERRORS: os.O_WRONLY}


def open_streams() -> None:
    """Opens those that are closed, or the next file that is opened takes the place of one: a database."""
    for number, how in _IN_ITS_PLACE.items():
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, how), True)  # the lowest number that is free
    if sys.stdin is None:
        sys.stdin = TextIOWrapper(FileIO(_INPUT, "r", closefd=False))
    if sys.stdout is None:
        sys.stdout = TextIOWrapper(FileIO(_OUTPUT, "w", closefd=False))
    if sys.stderr is None:
        sys.stderr = TextIOWrapper(FileIO(_ERRORS, "w", closefd=False))


@contextmanager
def ending_with_output(*, status: int) -> Iterator[None]:
    """Ends the process with a status as soon as its output takes nothing, also what is left of it at the end."""
    raw, before = _Watched(status), cast(TextIOWrapper, sys.stdout)
    is_raw = isinstance(before.buffer, RawIOBase)  # where PYTHONUNBUFFERED is set
    sys.stdout = TextIOWrapper(
        cast(BinaryIO, raw) if is_raw else BufferedWriter(raw),
        encoding=before.encoding,
        errors=before.errors,
        line_buffering=before.line_buffering,
        write_through=before.write_through,
    )
    try:
        yield
    finally:
        raw.ends_in_failure = _is_failure(sys.exc_info()[1])
        sys.stdout.flush()


def _is_failure(end: BaseException | None) -> bool:
    """Whether what ends the command says that something went wrong."""
    return bool(end.code) if isinstance(end, SystemExit) else end is not None


def _tell_nothing(_: object) -> None:
    """Keeps to itself what breaks in what nobody waits for."""


class _Watched(FileIO):
    """The bytes of the standard output.

    Attributes:
        ends_in_failure: What went wrong is told already, so that what is left may be lost in silence.
    """

    ends_in_failure = False

    def __init__(self, status: int) -> None:
        super().__init__(_OUTPUT, "w", closefd=False)
        self._status = status
        self._is_lost = False

    def write(self, data: "ReadableBuffer", /) -> int:
        """Writes bytes; those that are in a buffer when the output is lost go with it."""
        if self._is_lost:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            if current_thread() is not main_thread():
                raise  # a server's: whoever writes there knows what to do
            self._is_lost = True
            # A generator that reads rows is closed after its connection, and says that of itself.
            sys.unraisablehook = _tell_nothing
            if self.ends_in_failure:
                return memoryview(data).nbytes
            if error.errno != errno.EPIPE:  # that nobody reads any more is nothing to tell
                with suppress(OSError):
                    sys.stderr.write(
                        f"CommandError: The standard output takes nothing: {error.strerror}.\n"
                    )
            raise SystemExit(self._status) from None
