"""A number of places that tasks take in turn, whichever event loop they run in.

Who has fewer places than the others is next, whoever waits longer: one question with many files
holds more than one place only while nobody else wants it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Lock


class Busy(Exception):
    """There is no place, and none is likely to come soon."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    asker: object
    loop: asyncio.AbstractEventLoop
    place: "asyncio.Future[None]"

    def hand_over(self) -> None:
        if not self.place.done():
            self.place.set_result(None)


class Places:
    """Hands out places: to whom has fewest of them, in the order in which they were asked for.

    Args:
        number: Of places.
        waiting: How many may wait for one.
        seconds: How long one waits.
    """

    def __init__(self, number: int, *, waiting: int, seconds: float) -> None:
        self._free = number
        self._most_waiting = waiting
        self._seconds = seconds
        self._waiting: list[_Waiting] = []
        self._held: Counter[object] = Counter()  # places of each asker
        self._lock = Lock()

    @asynccontextmanager
    async def one(self, asker: object | None = None) -> AsyncGenerator[None, None]:
        """A place, for as long as the block lasts.

        Args:
            asker: For whom it is, compared by identity; None: for somebody who asks once.

        Raises:
            Busy: Too many wait already, or it took too long.
        """
        asker = object() if asker is None else asker
        await self._take(asker)
        try:
            yield
        finally:
            self._give_back(asker)

    async def _take(self, asker: object) -> None:
        waiting = self._queued(asker)
        if waiting is None:
            return
        came = False
        try:
            async with asyncio.timeout(self._seconds):
                await waiting.place
            came = True
        except TimeoutError:
            raise Busy from None
        finally:
            if not came:
                self._leave(waiting)

    def _queued(self, asker: object) -> _Waiting | None:
        """The entry of who has to wait; None for who has a place at once."""
        with self._lock:
            if self._free:
                self._free -= 1
                self._held[asker] += 1
                return None
            if len(self._waiting) >= self._most_waiting:
                raise Busy
            loop = asyncio.get_running_loop()
            waiting = _Waiting(asker, loop, loop.create_future())
            self._waiting.append(waiting)
            return waiting

    def _leave(self, waiting: _Waiting) -> None:
        with self._lock:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
                return
        self._give_back(waiting.asker)  # it came in the same moment

    def _give_back(self, asker: object) -> None:
        with self._lock:
            self._held[asker] -= 1
            if not self._held[asker]:
                del self._held[asker]  # it is kept no longer than it has to be
            while self._waiting:
                following = min(self._waiting, key=lambda one: self._held[one.asker])
                self._waiting.remove(following)
                if not following.loop.is_closed():
                    self._held[following.asker] += 1
                    following.loop.call_soon_threadsafe(following.hand_over)
                    return
            self._free += 1
