"""A semaphore with a limited queue that tasks of any event loop share."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from threading import Lock

from copilot_admin.agent.waiting import Waiter


class Busy(Exception):
    """There is no place, and none is likely to come soon."""


class Places:
    """Hands out places in the order in which they are asked for.

    Args:
        number: Of places.
        waiting: How many may wait for one.
        seconds: How long one waits.
    """

    def __init__(self, number: int, *, waiting: int, seconds: float) -> None:
        self._free = number
        self._max_waiting = waiting
        self._seconds = seconds
        self._waiting: deque[Waiter] = deque()
        self._lock = Lock()

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[None, None]:
        """Hold a place for as long as the block lasts.

        Raises:
            Busy: Too many wait already, or it took too long.
        """
        waiter = self._queued()
        if waiter and not await waiter.turn(self._seconds, leave=partial(self._leave, waiter)):
            raise Busy
        try:
            yield
        finally:
            self._give_back()

    def _queued(self) -> Waiter | None:
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            if len(self._waiting) >= self._max_waiting:
                raise Busy
            waiter = Waiter()
            self._waiting.append(waiter)
            return waiter

    def _leave(self, waiter: Waiter) -> None:
        with self._lock:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
                return
        self._give_back()  # it came in the same moment

    def _give_back(self) -> None:
        with self._lock:
            while self._waiting:
                if self._waiting.popleft().hand_over():
                    return
            self._free += 1
