"""Keeps the rates of this process for the `limits` library, whose own storage starts a task with each hit."""

from collections import deque
from collections.abc import Callable
import time

from limits.aio.storage import MovingWindowSupport, Storage

_SWEEP_AFTER = 1000  # hits: what has run out is let go of, or strangers' addresses would stay


class ProcessWindows(Storage, MovingWindowSupport):
    """The moments of hits, by key.

    Args:
        clock: Seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._clock = clock
        self._hits: dict[str, tuple[int, deque[float]]] = {}
        self._until_sweep = _SWEEP_AFTER

    @property
    def base_exceptions(self) -> type[Exception]:
        """What the library takes for a fault of the storage: there is none."""
        return ValueError

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Counts hits, if there is room for them.

        Args:
            key: Of the rate.
            limit: Hits in a window.
            expiry: Seconds of a window.
            amount: Hits at once.
        """
        hits, now = self._valid(key, expiry), self._clock()
        if len(hits) + amount > limit:
            return False
        hits.extend([now] * amount)
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._sweep()
        return True

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """The moment of the oldest hit in the window, and how many there are."""
        hits = self._valid(key, expiry)
        return (hits[0] if hits else self._clock()), len(hits)

    async def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Part of the interface; a moving window never calls it."""
        raise NotImplementedError

    async def get(self, key: str) -> int:
        """Part of the interface; a moving window never calls it."""
        raise NotImplementedError

    async def get_expiry(self, key: str) -> float:
        """Part of the interface; a moving window never calls it."""
        raise NotImplementedError

    async def check(self) -> bool:
        """Whether the store can be used; memory always can."""
        return True

    async def reset(self) -> int:
        """Forgets everything; says how many keys there were."""
        number = len(self._hits)
        self._hits.clear()
        return number

    async def clear(self, key: str) -> None:
        """Forgets the hits of one key."""
        self._hits.pop(key, None)

    def _valid(self, key: str, expiry: int) -> deque[float]:
        """The hits of the last seconds; one that is as old as the window is out of it.

        One that is still to come was counted before the clock was set back: it would count until the
        clock is there again.
        """
        _, hits = self._hits.setdefault(key, (expiry, deque()))
        now = self._clock()
        while hits and hits[0] <= now - expiry:
            hits.popleft()
        while hits and hits[-1] > now:
            hits.pop()
        return hits

    def _sweep(self) -> None:
        self._until_sweep = _SWEEP_AFTER
        now = self._clock()
        self._hits = {
            key: (expiry, hits)
            for key, (expiry, hits) in self._hits.items()
            if hits and hits[-1] > now - expiry
        }
