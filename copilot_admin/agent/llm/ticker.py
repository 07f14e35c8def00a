"""One timer for all streams of an event loop that wait for the same thing."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class Ticker(Generic[T]):
    """Calls a function with all that have joined since the last tick; none joined, none ticks.

    A timer for each of many streams wakes the event loop for each of them; one for all wakes it
    once, and they are served while the processor's caches are warm.
    """

    def __init__(self, seconds: float, serve: Callable[[Sequence[T]], None]) -> None:
        """Prepares a ticker.

        Args:
            seconds: From the first that joins to the tick.
            serve: Called in the event loop of those that joined.
        """
        self._seconds = seconds
        self._serve = serve
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, list[T]] = WeakKeyDictionary()

    def join(self, member: T, loop: asyncio.AbstractEventLoop) -> None:
        """Waits for the next tick of the loop; there is no way to leave.

        The loop is given, since asking for the running one is a system call (Python 3.11).
        """
        waiting = self._waiting.get(loop)
        if waiting is None:
            waiting = self._waiting[loop] = []
            loop.call_later(self._seconds, self._tick, loop)
        waiting.append(member)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._serve(self._waiting.pop(loop))


class SharedSleep:
    """A sleep from which all tasks that share it wake at the same tick."""

    def __init__(self, seconds: float) -> None:
        self._ticker: Ticker[asyncio.Future[None]] = Ticker(seconds, _wake)

    async def wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Returns at the next tick of the loop, which is the running one."""
        next_tick = loop.create_future()
        self._ticker.join(next_tick, loop)
        await next_tick


class LoopTurns:
    """Lets what takes long go one after the other, each in a turn of the event loop of its own.

    Many streams that read a lot at the same tick would keep everybody else waiting for all of them.
    """

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Returns in a turn of the loop, which is the running one, in which nobody else returns."""
        lock = self._locks.get(loop)
        if lock is None:
            lock = self._locks[loop] = asyncio.Lock()
        async with lock:
            await asyncio.sleep(0)


def _wake(waiting: Sequence[asyncio.Future[None]]) -> None:
    for one in waiting:
        if not one.done():  # it is, when the task that waited was cancelled
            one.set_result(None)
