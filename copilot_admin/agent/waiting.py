"""Somebody who waits for his turn, which another thread or event loop hands over."""

import asyncio
from collections.abc import Callable


class Waiter:
    """Waits in the event loop in which he is made."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._came: asyncio.Future[None] = self._loop.create_future()

    async def turn(self, seconds: float, *, leave: Callable[[], None]) -> bool:
        """Whether the turn came in time.

        Args:
            seconds: How long to wait.
            leave: Is called where it did not, or nobody waits any more. By then it may have been
                handed over nevertheless.
        """
        came = False
        try:
            async with asyncio.timeout(seconds):
                await self._came
            came = True
        except TimeoutError:
            return False
        finally:
            if not came:
                leave()
        return True

    def hand_over(self) -> bool:
        """Gives him the turn; False where his event loop has ended."""
        if self._loop.is_closed():
            return False
        self._loop.call_soon_threadsafe(self._settle)
        return True

    def _settle(self) -> None:
        if not self._came.done():
            self._came.set_result(None)
