"""One timer for all streams of an event loop that wait for the same thing."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class Beat(Generic[T]):
    """Calls a function with all that have joined since the last beat; none joined, none beats.

    A timer for each of many streams wakes the event loop for each of them; one for all wakes it
    once, and they are served while the processor's caches are warm.
    """

    def __init__(self, seconds: float, play: Callable[[Sequence[T]], None]) -> None:
        """Prepares a beat.

        Args:
            seconds: From the first that joins to the beat.
            play: Called in the event loop of those that joined.
        """
        self._seconds = seconds
        self._play = play
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, list[T]] = WeakKeyDictionary()

    def join(self, member: T, loop: asyncio.AbstractEventLoop) -> None:
        """Waits for the next beat of the loop; there is no way to leave.

        The loop is given, since asking for the running one is a system call (Python 3.11).
        """
        waiting = self._waiting.get(loop)
        if waiting is None:
            waiting = self._waiting[loop] = []
            loop.call_later(self._seconds, self._beat, loop)
        waiting.append(member)

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._play(self._waiting.pop(loop))


class Pulse:
    """A tick that several tasks wait for."""

    def __init__(self, seconds: float) -> None:
        """Prepares a pulse; `seconds` is the longest that anybody waits for it."""
        self._beat: Beat[asyncio.Future[None]] = Beat(seconds, _wake)

    async def wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Returns at the next beat of the loop, which is the running one."""
        next_beat = loop.create_future()
        self._beat.join(next_beat, loop)
        await next_beat


def _wake(waiting: Sequence[asyncio.Future[None]]) -> None:
    for one in waiting:
        if not one.done():  # it is, when the task that waited was cancelled
            one.set_result(None)
