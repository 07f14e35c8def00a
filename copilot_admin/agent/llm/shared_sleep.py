"""Timer that many streams of one event loop share."""

import asyncio
from weakref import WeakKeyDictionary


class SharedSleep:
    """A sleep from which all tasks that share it wake at the same tick.

    A timer for each stream would wake the event loop for each of them. One for all wakes it once.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = (
            WeakKeyDictionary()
        )

    async def wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Return at the next tick of this loop, at most `seconds` from now.

        The loop is an argument because looking up the running one is a system call (Python 3.11).
        """
        waiting = self._waiting.get(loop)
        if waiting is None:
            waiting = self._waiting[loop] = []
            loop.call_later(self._seconds, self._wake, loop)
        tick = loop.create_future()
        waiting.append(tick)
        await tick

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        for tick in self._waiting.pop(loop):
            if not tick.done():  # it is when its task was cancelled
                tick.set_result(None)
