"""Slows those who try one endpoint key after the other, by the address that they try from."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from threading import Lock
from time import monotonic

from copilot_admin.edge.networks import network_of

MOST_GUESSES = (
    20  # wrong keys within a minute; a client whose key has expired asks every few seconds
)
SECONDS = 60.0
MOST_ADDRESSES = 10_000  # that are remembered; a megabyte or two


@dataclass(slots=True)
class _Count:
    began: float
    guesses: int = 0


class Guesses:
    """Counts wrong keys by address, in this process: each worker has a count of its own.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._counts: OrderedDict[str, _Count] = OrderedDict()  # the one that began first is first
        self._lock = Lock()

    def count(self, address: str) -> int:
        """Counts a wrong key; returns the seconds to wait when there were too many, else 0."""
        name, now = network_of(address), self._clock()
        with self._lock:
            count = self._counts.get(name)
            if count is None or now - count.began >= SECONDS:
                count = self._counts[name] = _Count(now)
                self._counts.move_to_end(name)
            count.guesses += 1
            if len(self._counts) > MOST_ADDRESSES:
                self._counts.popitem(last=False)
        if count.guesses <= MOST_GUESSES:
            return 0
        return max(ceil(count.began + SECONDS - now), 1)

    def forget(self) -> None:
        """Forgets all failed guesses; for tests."""
        with self._lock:
            self._counts.clear()


GUESSES = Guesses()
