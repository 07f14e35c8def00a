"""The room that request bodies of a process share; who finds none waits, and sends no further.

A body is counted from its first byte until its answer begins. For the one of which most has come the
others leave room: several that are half there would otherwise wait for each other.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from copilot_admin.errors import Unavailable

SMALL_BYTES = 64 * 1024  # such bodies always have room
USUAL_BYTES = 1024 * 1024  # these have some of their own: a dashboard with its data
ROOM_OF_USUAL = 16 * 1024 * 1024
# For what a body in front takes to be answered, and less than a client's own patience.
PATIENCE_SECONDS = 15.0


class Share:
    """What one body takes of the room."""

    def __init__(self, room: "BodyRoom") -> None:
        self._room = room
        self.size = 0

    async def grow(self, size: int) -> None:
        """Takes more of it, as soon as there is any.

        Raises:
            Unavailable: There was none for too long.
        """
        await self._room.grow(self, size)

    def arrived(self) -> None:
        """Says that the whole body is there."""
        self._room.arrived(self)

    def give_back(self) -> None:
        """Gives all of it back."""
        self._room.give_back(self)


class BodyRoom:
    """Counts the bytes of bodies; used in one event loop.

    Args:
        largest: The most bytes that a body may have.
        most: Bytes of all of them together.
    """

    def __init__(self, *, largest: int, most: int, seconds: float = PATIENCE_SECONDS) -> None:
        self.taken = 0
        self.most = most
        self._largest = largest
        self._seconds = seconds
        self._coming: set[Share] = set()  # of the bodies beyond the usual
        self._waiting: dict[Share, asyncio.Future[None]] = {}

    @contextmanager
    def share(self) -> Iterator[Share]:
        """What a request takes of it while the block lasts."""
        share = Share(self)
        try:
            yield share
        finally:
            share.give_back()

    async def grow(self, share: Share, size: int) -> None:
        """Lets a body grow; see `Share`."""
        if not self._fits(share, size):
            await self._wait(share, size)
        self.taken += size - share.size
        share.size = size
        if size > USUAL_BYTES:
            self._coming.add(share)

    def arrived(self, share: Share) -> None:
        """A body is there, and the room is free that was left for the rest of it."""
        self._coming.discard(share)
        self._look()

    def give_back(self, share: Share) -> None:
        """A body has gone."""
        self.taken -= share.size
        share.size = 0
        self.arrived(share)

    async def _wait(self, share: Share, size: int) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                while not self._fits(share, size):
                    self._waiting[share] = asyncio.get_running_loop().create_future()
                    await self._waiting[share]
        except TimeoutError:
            raise Unavailable(
                "The server is receiving too much at once. Try again in a few seconds.",
                code="busy",
            ) from None
        finally:
            self._waiting.pop(share, None)

    def _look(self) -> None:
        """Wakes all who wait, in the order in which they came: what has gone may let several in."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)

    def _fits(self, share: Share, size: int) -> bool:
        if size <= SMALL_BYTES:
            return True
        taken = self.taken + size - share.size
        if size <= USUAL_BYTES:
            return taken <= self.most + ROOM_OF_USUAL
        first = max(self._coming, key=lambda one: one.size, default=share)
        rest = 0 if share is first else self._largest - first.size
        return taken + rest <= self.most
