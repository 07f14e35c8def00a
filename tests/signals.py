"""The signals of the process that runs the tests: some of what they call handles them, and leaves that so."""

from collections.abc import Iterator
from contextlib import contextmanager
import signal

# As Python begins.
BEGINS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
HANDLED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


def listen() -> None:
    """Ends the ignoring of signals that whoever started the tests may have left.

    A shell starts what is to go on beside it with Ctrl-C ignored, and so is everything that this
    starts in turn: a command that a test interrupts would go on for ever.
    """
    for number, handler in BEGINS.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@contextmanager
def put_back() -> Iterator[None]:
    """Gives signals back to whoever handled them.

    A command that waits for tasks, or a server, handles them until its process ends; that of the
    tests goes on, and Ctrl-C would stop somebody who has gone.
    """
    before = {number: signal.getsignal(number) for number in HANDLED}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)
