"""Full passes of the garbage collector wait while a large question is alive.

Such a pass looks at every object that there is, and nothing else runs meanwhile: 0.3 to 0.7 s for
the objects of one body of 16 MB, several times while it is read. What JSON is made of has no cycles:
it goes without the collector as soon as nobody needs it. The short passes over what is new go on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import gc
import threading
import time
import weakref

# Cycles of other questions pile up meanwhile, so after so long without a pass there is one, whatever is
# alive. Left to the collector it may never come: large questions that follow each other leave it gaps
# of milliseconds, a server at rest makes nothing new, and one full of large things is below its share.
MOST_SECONDS = 300.0
# The passes that go on look at ten times as many at most. Measured with 20,000: 0.13 s.
NEW_OBJECTS = 2_000
_NEVER = 2**31 - 1


class FullCollections:
    """Counts what holds them off; used by any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Holds nothing off.

        Args:
            clock: Gives seconds.
        """
        self._clock = clock
        # The collector may find an owner that is gone at any moment, also while this thread has it.
        self._lock = threading.RLock()
        self._holds = 0
        self._usual = gc.get_threshold()
        self._passes, self._since = _passes(), clock()  # how many there were at what time

    @property
    def are_held_off(self) -> bool:
        """Whether something large is alive."""
        return self._holds > 0

    def hold(self) -> None:
        """Holds full passes off, until `release` was called as often as this."""
        with self._lock:
            self._holds += 1
            if self._holds == 1:
                self._usual = gc.get_threshold()
                new, rounds, _ = self._usual
                gc.set_threshold(min(new, NEW_OBJECTS), rounds, _NEVER)

    def release(self) -> None:
        """Lets go of one hold, so that full collections may come again."""
        with self._lock:
            self._holds -= 1
            if not self._holds:
                gc.set_threshold(*self._usual)

    def hold_until_gone(self, owner: object) -> None:
        """Holds them off as long as an object lives."""
        self.hold()
        weakref.finalize(owner, self.release).atexit = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds them off during a block."""
        self.hold()
        try:
            yield
        finally:
            self.release()

    async def look_after(self) -> None:
        """Every few seconds: makes a pass where there was none for too long."""
        now, passes = self._clock(), _passes()
        if passes == self._passes:
            if now - self._since <= MOST_SECONDS:
                return
            gc.collect()
        self._passes, self._since = _passes(), now


def _passes() -> int:
    """How many full passes there have been."""
    return int(gc.get_stats()[2]["collections"])


FULL_COLLECTIONS = FullCollections()
