"""How many bytes of fetched files are in memory at the same time, whichever event loop fetches them.

Who fetches a file holds room for it until it has been read. A size that is known is made room for at
once; what grows takes more in steps, and comes before what has not begun, so that it can end.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from copilot_admin.agent.waiting import Waiter


class NoRoom(Exception):
    """There is no room, and none came in time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    size: int
    holds: int
    waiter: Waiter = field(default_factory=Waiter)


class FetchRoom:
    """So many bytes, for all who fetch.

    Args:
        size: In bytes.
        seconds: How long one waits for some of it.
    """

    def __init__(self, size: int, *, seconds: float) -> None:
        self._free = size
        self._size = size
        self._seconds = seconds
        self._waiting: deque[_Waiting] = deque()
        self._lock = Lock()

    @contextmanager
    def held(self) -> "Iterator[Held]":
        """A part of the room, empty at first; it is given back at the end of the block."""
        held = Held(self)
        try:
            yield held
        finally:
            held.shrink(0)

    async def take(self, size: int, *, holds: int) -> None:
        """Takes some room.

        Args:
            size: In bytes.
            holds: What whoever takes it holds of the room already; who does comes before all others.

        Raises:
            NoRoom: There was none in time, or all of it is held by who waits for more.
        """
        waiting = self._queued(size, holds=holds)
        if waiting is None:
            return
        leave = partial(self._leave, waiting)
        if not await waiting.waiter.turn(self._seconds, leave=leave):
            raise NoRoom

    def give_back(self, size: int) -> None:
        """Gives back what was taken; who waits gets it in turn."""
        with self._lock:
            self._free += size
            self._hand_out()

    def _queued(self, size: int, *, holds: int) -> _Waiting | None:
        with self._lock:
            if size > self._size:
                raise NoRoom
            if size <= self._free and (holds or not self._waiting):
                self._free -= size
                return None
            stuck = holds + sum(one.holds for one in self._waiting)
            if holds and stuck == self._size - self._free:
                raise NoRoom  # nobody would give anything back: one of them has to, and at once
            waiting = _Waiting(size, holds)
            (self._waiting.appendleft if holds else self._waiting.append)(waiting)
            return waiting

    def _leave(self, waiting: _Waiting) -> None:
        with self._lock:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            else:
                self._free += waiting.size  # it came in the same moment
            self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self._waiting[0].size <= self._free:
            following = self._waiting.popleft()
            if following.waiter.hand_over():
                self._free -= following.size


class Held:
    """What one file takes of the room."""

    def __init__(self, room: FetchRoom) -> None:
        self._room = room
        self.size = 0

    async def grow(self, size: int) -> None:
        """Makes it at least this large.

        Raises:
            NoRoom: There was no room in time.
        """
        if size > self.size:
            await self._room.take(size - self.size, holds=self.size)
            self.size = size

    def shrink(self, size: int) -> None:
        """Gives back what lies beyond this size."""
        if size < self.size:
            self._room.give_back(self.size - size)
            self.size = size
