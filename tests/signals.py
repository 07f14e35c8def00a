"""The signals of the process that runs the tests: some of what they call handles them, and leaves that so."""

from collections.abc import Iterator
from contextlib import contextmanager
import signal

HANDLED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


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
