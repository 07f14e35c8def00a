"""A number of places that tasks take in turn, whichever event loop they run in.

Who has fewer places than the others is next, whoever waits longer: one question with many files
holds more than one place only while nobody else wants it. What takes long comes behind what may not:
it holds all places only while nobody else wants one.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from copilot_admin.engine.waiting import Waiter


class Busy(Exception):
    """There is no place, and none is likely to come soon."""


@dataclass(slots=True, eq=False)
class ProcessPlace:
    """A place, from when it is wanted until it is given back.

    Attributes:
        asker: For whom it is.
        is_long: It is known to be wanted for long.
    """

    asker: object
    is_long: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    place: ProcessPlace
    waiter: Waiter = field(default_factory=Waiter)


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
        self._held: list[ProcessPlace] = []  # those held for longest come first
        self._lock = Lock()

    @asynccontextmanager
    async def one(
        self, asker: object | None = None, *, is_long: bool = False
    ) -> AsyncGenerator[ProcessPlace, None]:
        """A place, for as long as the block lasts.

        Args:
            asker: For whom it is; None: for somebody who asks once.
            is_long: It is known to be wanted for long.

        Raises:
            Busy: Too many wait already, or it took too long.
        """
        place = ProcessPlace(object() if asker is None else asker, is_long)
        await self._take(place)
        try:
            yield place
        finally:
            self._give_back(place)

    def is_wanted(self, place: ProcessPlace) -> bool:
        """Whether a place that is held for long should be given back: all are, and others wait.

        The one that is held for longest never should, so that what is done there comes to its end.
        """
        with self._lock:
            place.is_long = True
            all_long = all(one.is_long for one in self._held)
            is_oldest = place is self._held[0]
            return (
                all_long and not is_oldest and any(not one.place.is_long for one in self._waiting)
            )

    async def _take(self, place: ProcessPlace) -> None:
        waiting = self._queued(place)
        if waiting is None:
            return
        leave = partial(self._leave, waiting)
        if not await waiting.waiter.turn(self._seconds, leave=leave):
            raise Busy

    def _queued(self, place: ProcessPlace) -> _Waiting | None:
        """The entry of who has to wait; None for who has a place at once."""
        with self._lock:
            if self._free:
                self._free -= 1
                self._held.append(place)
                return None
            if len(self._waiting) >= self._most_waiting:
                raise Busy
            waiting = _Waiting(place)
            self._waiting.append(waiting)
            return waiting

    def _leave(self, waiting: _Waiting) -> None:
        with self._lock:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
                return
        self._give_back(waiting.place)  # it came in the same moment

    def _give_back(self, place: ProcessPlace) -> None:
        with self._lock:
            if place not in self._held:
                return  # its event loop had ended before it came
            self._held.remove(place)
            while self._waiting:
                following = min(self._waiting, key=self._rank)
                self._waiting.remove(following)
                if following.waiter.hand_over():
                    self._held.append(following.place)
                    return
            self._free += 1

    def _rank(self, waiting: _Waiting) -> tuple[bool, int]:
        """Sorts those who wait: short work first, then whose asker holds the fewest places."""
        asker = waiting.place.asker
        return waiting.place.is_long, sum(one.asker == asker for one in self._held)
