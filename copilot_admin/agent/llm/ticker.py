"""Timers that many streams of one event loop share."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class Ticker(Generic[T]):
    """Calls a function with all that joined since the last tick; without members there is no tick.

    A timer for each stream would wake the event loop for each of them. One for all wakes it once.
    """

    def __init__(self, seconds: float, serve: Callable[[Sequence[T]], None]) -> None:
        """Prepare a ticker.

        Args:
            seconds: From the first that joins to the tick.
            serve: Called in the event loop of those that joined.
        """
        self._seconds = seconds
        self._serve = serve
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, list[T]] = WeakKeyDictionary()

    def join(self, member: T, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for the next tick of this loop.

        The loop is an argument because looking up the running one is a system call (Python 3.11).
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
        """Return at the next tick of this loop, which is the running one."""
        next_tick = loop.create_future()
        self._ticker.join(next_tick, loop)
        await next_tick


def _wake(waiting: Sequence[asyncio.Future[None]]) -> None:
    for one in waiting:
        if not one.done():  # it is when its task was cancelled
            one.set_result(None)
