"""A number of places that tasks take in turn, whichever event loop they run in.

Who has fewer places than the others is next, and of these who had fewest, whoever waits longer: one
question with many files holds more than one place only while nobody else wants it, and several of
them have one in turn, behind whoever had none. What takes long comes behind what may not: it holds
all places only while nobody else wants one.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from copilot_admin.agent.waiting import Waiter


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


@dataclass(slots=True)
class _Asker:
    """Somebody, from when he wants a place until he neither holds nor wants one.

    Attributes:
        places: That he holds or waits for.
        had: That he was given.
    """

    had: int
    places: int = 0


class Places:
    """Hands out places: to whom has, and had, fewest of them, in the order in which they were asked for.

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
        self._askers: dict[object, _Asker] = {}
        self._round = 0  # how many places those had who are given one now
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
                self._note(place)
                self._hold(place)
                return None
            if len(self._waiting) >= self._most_waiting:
                raise Busy
            waiting = _Waiting(place)
            self._note(place)
            self._waiting.append(waiting)
            return waiting

    def _leave(self, waiting: _Waiting) -> None:
        with self._lock:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
                self._forget(waiting.place)
                return
        self._give_back(waiting.place)  # it came in the same moment

    def _give_back(self, place: ProcessPlace) -> None:
        with self._lock:
            if place not in self._held:
                return  # its event loop had ended before it came
            self._held.remove(place)
            self._forget(place)
            while self._waiting:
                following = min(self._waiting, key=self._rank)
                self._waiting.remove(following)
                if following.waiter.hand_over():
                    self._hold(following.place)
                    return
                self._forget(following.place)
            self._free += 1

    def _note(self, place: ProcessPlace) -> None:
        """Counts a place that is wanted. Who comes anew is ahead of this round, and of no other.

        Else somebody who is never done would wait for as long as he has worked.
        """
        asker = self._askers.get(place.asker)
        if asker is None:
            asker = self._askers[place.asker] = _Asker(had=max(self._round - 1, 0))
        asker.places += 1

    def _hold(self, place: ProcessPlace) -> None:
        asker = self._askers[place.asker]
        self._round = max(self._round, asker.had)
        asker.had += 1
        self._held.append(place)

    def _forget(self, place: ProcessPlace) -> None:
        asker = self._askers[place.asker]
        asker.places -= 1
        if not asker.places:
            del self._askers[place.asker]
        if not self._askers:
            self._round = 0

    def _rank(self, waiting: _Waiting) -> tuple[bool, int, int]:
        """Sorts those who wait: short work first, then whose asker holds, and had, the fewest."""
        held = sum(one.asker == waiting.place.asker for one in self._held)
        return waiting.place.is_long, held, self._askers[waiting.place.asker].had
