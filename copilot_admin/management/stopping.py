"""A command that a signal ends puts away what it has begun, says so in a line, and ends as the signal wants.

Ctrl-C, `kill`, `timeout` and a service manager are no faults of a command, and need no traceback.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import os
import signal
import sys
from types import FrameType

SAID = "CommandError: A signal stopped this before it was done.\n"


class Terminated(KeyboardInterrupt):
    """SIGTERM: it unwinds a command as Ctrl-C does, so that no half file and no program is left."""


@contextmanager
def stopping_in_a_word(*, unwinding_sigterm: bool = True) -> Iterator[None]:
    """Lets SIGINT and SIGTERM unwind the block, and then end the process.

    Args:
        unwinding_sigterm: Not where the block puts back what it found behind a handler of its own, and
            sends itself the signal again as it has ended well.
    """
    if unwinding_sigterm and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _unwind)
    try:
        yield
    except KeyboardInterrupt as stop:
        with suppress(OSError):
            sys.stderr.write(SAID)
            sys.stderr.flush()
        _end_by(signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)


def _unwind(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # asked twice: whoever asks means now
    raise Terminated


def _end_by(number: signal.Signals) -> None:
    """Ends this process as whoever started it expects: a shell ends its loop too.

    At once: a thread that works on would keep it, and what it writes is a transaction that is undone.
    """
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
