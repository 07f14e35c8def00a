"""A number of places that tasks take in turn, whichever event loop they run in."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from threading import Lock
from typing import TypeAlias

_Waiting: TypeAlias = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Busy(Exception):
    """There is no place, and none is likely to come soon."""


class Places:
    """Hands out places in the order in which they were asked for.

    Args:
        number: Of places.
        waiting: How many may wait for one.
        seconds: How long one waits.
    """

    def __init__(self, number: int, *, waiting: int, seconds: float) -> None:
        self._free = number
        self._most_waiting = waiting
        self._seconds = seconds
        self._waiting: deque[_Waiting] = deque()
        self._lock = Lock()

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[None, None]:
        """A place, for as long as the block lasts.

        Raises:
            Busy: Too many wait already, or it took too long.
        """
        await self._take()
        try:
            yield
        finally:
            self._give_back()

    async def _take(self) -> None:
        waiting = self._queued()
        if waiting is None:
            return
        came = False
        try:
            async with asyncio.timeout(self._seconds):
                await waiting[1]
            came = True
        except TimeoutError:
            raise Busy from None
        finally:
            if not came:
                self._leave(waiting)

    def _queued(self) -> _Waiting | None:
        """The entry of who has to wait; None for who has a place at once."""
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            if len(self._waiting) >= self._most_waiting:
                raise Busy
            loop = asyncio.get_running_loop()
            waiting = (loop, loop.create_future())
            self._waiting.append(waiting)
            return waiting

    def _leave(self, waiting: _Waiting) -> None:
        with self._lock:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
                return
        self._give_back()  # it came in the same moment

    def _give_back(self) -> None:
        with self._lock:
            while self._waiting:
                loop, place = self._waiting.popleft()
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_hand_over, place)
                    return
            self._free += 1


def _hand_over(place: "asyncio.Future[None]") -> None:
    if not place.done():
        place.set_result(None)
