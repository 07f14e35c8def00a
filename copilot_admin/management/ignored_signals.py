"""A part of a command that is quick, and done as a whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
import signal

_ASKING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ignoring_signals() -> Iterator[None]:
    """Lets SIGINT and SIGTERM do nothing: they come too late to stop what is as good as done."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ASKING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
