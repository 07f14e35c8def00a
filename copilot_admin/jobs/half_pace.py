"""Batches of commands: they rest as long as they work, as those of servers do, which wait beside them."""

from collections.abc import Callable
import time
from typing import TypeVar

T = TypeVar("T")


def at_half_pace(batch: Callable[[], T]) -> T:
    """Does a batch and rests as long as it took.

    Whoever waits for SQLite's one lock looks for it now and then, and is not told that it is free: of a
    command that takes it again at once, a server saw nothing for seconds.
    """
    began = time.monotonic()
    done = batch()
    time.sleep(time.monotonic() - began)
    return done
