"""The room that request bodies of a process share; who finds none waits, and sends no further.

Answers have a room of the same kind, in which they wait to be taken (`answers_in_turn`).

Small bodies have some of their own, those of the usual size some beside the large ones.

A body is counted from its first byte until its answer begins. For the one of which most has come the
others leave room: several that are half there would otherwise wait for each other. While somebody
waits, a body keeps its place only as long as it comes: who stalls is put out.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from copilot_admin.errors import Unavailable

SMALL_BYTES = 64 * 1024
ROOM_OF_SMALL = 16 * 1024 * 1024  # theirs alone: full only of what stalls by the hundred
USUAL_BYTES = 1024 * 1024  # these have some of their own: a dashboard with its data
ROOM_OF_USUAL = 16 * 1024 * 1024
# For what a body in front takes to be answered, and less than a client's own patience.
PATIENCE_SECONDS = 15.0
# The first bytes of who waits are there already: more than so many would fill the memory of them.
MOST_WAITING = 200
# While others wait, so much of a body has to come in so many seconds: a tenth of what is there, so
# that what takes much of the room is done with it soon. 5 Mbit/s are enough for 10 MB.
PACE_SECONDS = 2.0
PACE_BYTES = 64 * 1024
PACE_PART = 10


class Share:
    """What one body takes of the room.

    Attributes:
        size: As it is counted.
        wanted: The size for which there was no room, when it waits.
        came: Bytes that were received, also of what is not kept; of an answer, those that were taken.
        is_whole: It has its size at once, and grows no further.
    """

    def __init__(self, room: "BodyRoom", *, weight: int = 1, is_whole: bool = False) -> None:
        self.is_whole = is_whole
        self._room = room
        self._weight = weight
        self._put_out: Callable[[], None] | None = None
        self._pace: int | None = None  # where it has to be when it is looked at next
        self._kept = 0
        self.size = 0
        self.wanted = 0
        self.came = 0
        self.is_put_out = False

    def on_put_out(self, stop: Callable[[], None]) -> None:
        """What ends the receiving of a body that stalls while others wait."""
        self._put_out = stop

    async def grow(self, kept: int, *, came: int) -> None:
        """Takes more of the room, as soon as there is any.

        Args:
            kept: Bytes of the body that are kept.
            came: Those that were received.

        Raises:
            Unavailable: There was none for too long.
        """
        self._kept, self.came = kept, came
        await self._room.grow(self, self._weight * kept)

    def arrived(self) -> None:
        """Says that the whole body is there."""
        self._room.arrived(self)

    def give_back(self) -> None:
        """Gives all of it back."""
        self._room.give_back(self)

    def set_pace(self) -> None:
        """Says how much has to have come when it is looked at next."""
        self._pace = self.came + max(PACE_BYTES, self._kept // PACE_PART)

    def rest(self) -> None:
        """It sends nothing because it waits itself: how it comes is not looked at."""
        self._pace = None

    def put_out_if_slow(self) -> None:
        """Ends it if less has come than had to."""
        if self._pace is not None and self.came < self._pace and self._put_out is not None:
            self.is_put_out = True
            self._put_out()


class BodyRoom:
    """Counts the bytes of bodies; used in one event loop.

    Args:
        largest: The most bytes that a body may have, or is counted with.
        most: Bytes of all of them together.
        most_waiting: How many may wait.
    """

    def __init__(
        self,
        *,
        largest: int,
        most: int,
        seconds: float = PATIENCE_SECONDS,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.taken = 0
        self.most = most
        self._small = 0  # of what is taken, by small bodies
        self._largest = largest
        self._seconds = seconds
        self._most_waiting = most_waiting
        self._coming: set[Share] = set()
        self._waiting: dict[Share, asyncio.Future[None]] = {}
        self._watch: asyncio.TimerHandle | None = None  # while somebody waits

    @contextmanager
    def share(self, *, weight: int = 1, is_whole: bool = False) -> Iterator[Share]:
        """What a request takes of it while the block lasts.

        Args:
            weight: Bytes of memory for one of the body.
            is_whole: It is there already, and will not grow.
        """
        share = Share(self, weight=weight, is_whole=is_whole)
        try:
            yield share
        finally:
            share.give_back()

    async def grow(self, share: Share, size: int) -> None:
        """Lets a body grow; see `Share`."""
        size = min(size, self._largest)
        if not self._fits(share, size):
            await self._wait(share, size)
        self._count(share, size)
        self._coming.add(share)

    def arrived(self, share: Share) -> None:
        """A body is there, and the room is free that was left for the rest of it."""
        self._coming.discard(share)
        self._look()

    def give_back(self, share: Share) -> None:
        """A body has gone."""
        self._count(share, 0)
        self.arrived(share)

    def _count(self, share: Share, size: int) -> None:
        self.taken += size - share.size
        self._small += _if_small(size) - _if_small(share.size)
        share.size = size

    async def _wait(self, share: Share, size: int) -> None:
        share.rest()
        share.wanted = size
        if len(self._waiting) >= self._most_waiting:
            raise _no_room()
        try:
            async with asyncio.timeout(self._seconds):
                while not self._fits(share, size):
                    self._waiting[share] = asyncio.get_running_loop().create_future()
                    self._keep_watch()
                    await self._waiting[share]
        except TimeoutError:
            raise _no_room() from None
        finally:
            self._waiting.pop(share, None)

    def _keep_watch(self) -> None:
        """Looks in a while at how the bodies come on that have room."""
        if self._watch is None:
            for share in self._in_the_way():
                share.set_pace()
            self._watch = asyncio.get_running_loop().call_later(PACE_SECONDS, self._put_out_slow)

    def _put_out_slow(self) -> None:
        self._watch = None
        if self._waiting:
            for share in self._in_the_way():
                share.put_out_if_slow()
            self._keep_watch()

    def _in_the_way(self) -> list[Share]:
        """The bodies that come, and have what those want who wait."""
        wanted = {share.wanted <= SMALL_BYTES for share in self._waiting}
        coming = self._coming - self._waiting.keys()
        return [share for share in coming if (share.size <= SMALL_BYTES) in wanted]

    def _look(self) -> None:
        """Wakes all who wait, in the order in which they came: what has gone may let several in."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)

    def _fits(self, share: Share, size: int) -> bool:
        if size <= SMALL_BYTES:
            return self._small + size - _if_small(share.size) <= ROOM_OF_SMALL
        taken = self.taken + size - share.size
        if size <= USUAL_BYTES:
            return taken <= self.most + ROOM_OF_USUAL
        large = (one for one in self._coming if one.size > USUAL_BYTES and not one.is_whole)
        first = max(large, key=lambda one: one.size, default=share)
        rest = 0 if share is first else self._largest - first.size
        return taken + rest <= self.most


def _no_room() -> Unavailable:
    return Unavailable(
        "The server is receiving or sending too much at once. Try again in a few seconds.",
        code="busy",
    )


def _if_small(size: int) -> int:
    return size if size <= SMALL_BYTES else 0
