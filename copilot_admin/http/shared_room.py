"""The room that what is received, or waits to be taken, shares; who finds none waits for it.

What is small has some of its own, what is of the usual size some beside what is large: it may have
more of it, as long as one of the largest finds room. While somebody
waits, who has room keeps it only as long as he comes on: who stalls is put out. Bodies of requests
(`body_room`) and answers (`answers_in_turn`) have a room each.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum, auto

from django.utils.translation import gettext_noop

from copilot_admin.errors import Unavailable

SMALL_BYTES = 64 * 1024
ROOM_OF_SMALL = 16 * 1024 * 1024  # theirs alone: full only of what stalls by the hundred
USUAL_BYTES = 1024 * 1024  # a dashboard with its data
ROOM_OF_USUAL = 16 * 1024 * 1024
# For what somebody in front takes to be done with, and less than a client's own patience.
PATIENCE_SECONDS = 15.0
# The first bytes of who waits are there already: more than so many would fill the memory of them.
MOST_WAITING = 200
# While others wait, so much has to come or be taken in so many seconds: a tenth of what is there, so
# that what takes much of the room is done with it soon. 5 Mbit/s are enough for 10 MB.
PACE_SECONDS = 2.0
PACE_BYTES = 64 * 1024
PACE_PART = 10
_TOO_MUCH = gettext_noop(
    "The server is receiving or sending too much at once. Try again in a few seconds."
)


class SizeClass(IntEnum):
    """How large something is; a number, as those are hashed in a fifth of the time."""

    SMALL = auto()
    USUAL = auto()
    LARGE = auto()


class Share:
    """What one body or answer takes of the room.

    Attributes:
        size: As it is counted.
        wanted: The size for which there was no room, when it waits.
        came: Bytes that were received, also of what is not kept; of an answer, those that were taken.
    """

    def __init__(self, room: "SharedRoom", *, weight: int = 1) -> None:
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
        """What ends one that stalls while others wait."""
        self._put_out = stop

    async def grow(self, kept: int, *, came: int) -> None:
        """Takes more of the room, as soon as there is any.

        Args:
            kept: Bytes that are kept.
            came: Those that were received, or taken.

        Raises:
            Unavailable: There was none for too long.
        """
        self._kept, self.came = kept, came
        await self._room.grow(self, self._weight * kept)

    def arrived(self) -> None:
        """Says that it grows no more: the whole body, or answer, is there."""
        self._room.arrived(self)

    def give_back(self) -> None:
        """Gives back all that it holds of the room."""
        self._room.give_back(self)

    def set_pace(self) -> None:
        """Says how much has to have come when it is looked at next."""
        self._pace = self.came + max(PACE_BYTES, self._kept // PACE_PART)

    def rest(self) -> None:
        """Stops measuring how fast it comes: it waits for room, and can come no further."""
        self._pace = None

    def put_out_if_slow(self) -> None:
        """Ends it if less has come than had to."""
        if self._pace is not None and self.came < self._pace and self._put_out is not None:
            self.is_put_out = True
            self._put_out()


class SharedRoom:
    """Counts bytes; used in one event loop.

    Args:
        largest: The most bytes that one is counted with.
        most: Bytes of all of them together, but for what has room of its own.
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
        self.most = most
        self.largest = largest
        self._taken: Counter[SizeClass] = Counter()
        self._seconds = seconds
        self._most_waiting = most_waiting
        self._coming: dict[Share, None] = {}  # in the order in which they came
        self._waiting: dict[Share, asyncio.Future[None]] = {}
        self._watch: asyncio.TimerHandle | None = None  # while somebody waits

    @property
    def taken(self) -> int:
        """Bytes of all that there is."""
        return self._taken.total()

    @contextmanager
    def share(self, *, weight: int = 1) -> Iterator[Share]:
        """What a request takes of it while the block lasts.

        Args:
            weight: Bytes of memory for one that is kept.
        """
        share = Share(self, weight=weight)
        try:
            yield share
        finally:
            share.give_back()

    async def grow(self, share: Share, size: int) -> None:
        """Lets a share grow, or has it wait, as `Share.grow` says."""
        size = min(size, self.largest)
        if not self._fits(share, size):
            await self._wait(share, size)
        self._count(share, size)
        self._coming[share] = None

    def arrived(self, share: Share) -> None:
        """Leaves nothing for a share any more that grows no further."""
        self._coming.pop(share, None)
        self._look()

    def give_back(self, share: Share) -> None:
        """Counts a share no longer: what it held is there for others."""
        if not share.size and share not in self._coming:
            return  # a stream asks for it with each of its frames
        self._count(share, 0)
        self.arrived(share)

    def _count(self, share: Share, size: int) -> None:
        self._taken[_extent(share.size)] -= share.size
        self._taken[_extent(size)] += size
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
        """Looks in a while at how those come on that have room."""
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
        """What comes and takes the kind of room, for small or for large, that somebody waits for."""
        wanted = {share.wanted <= SMALL_BYTES for share in self._waiting}
        coming = self._coming.keys() - self._waiting.keys()
        return [share for share in coming if (share.size <= SMALL_BYTES) in wanted]

    def _look(self) -> None:
        """Wakes all who wait, in the order in which they came: what has gone may let several in."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)

    def _fits(self, share: Share, size: int) -> bool:
        if size <= SMALL_BYTES:
            return self._taken_with(share, size, SizeClass.SMALL) <= ROOM_OF_SMALL
        usual = self._taken_with(share, size, SizeClass.USUAL)
        large = self._taken_with(share, size, SizeClass.LARGE)
        beside_small = usual + large
        most = self.most + ROOM_OF_USUAL
        if size <= USUAL_BYTES:
            # Not more of the rest: most of what is large was of this size once. Where it had all come
            # so far and no further, nobody had room to go on.
            return usual <= ROOM_OF_USUAL or beside_small + self.largest <= most
        others = [one for one in self._coming if one.size > USUAL_BYTES]
        left = self.left_for_others(share, others)
        return large + left <= self.most and beside_small + left <= most

    def _taken_with(self, share: Share, size: int, extent: SizeClass) -> int:
        """Bytes of all of one class if a share had this size."""
        before = share.size if _extent(share.size) is extent else 0
        return self._taken[extent] - before + (size if _extent(size) is extent else 0)

    def left_for_others(self, share: Share, large: Sequence[Share]) -> int:
        """Bytes that a large share has to leave free for those large ones that come: here none."""
        return 0


def _no_room() -> Unavailable:
    return Unavailable(_TOO_MUCH, code="busy")


def _extent(size: int) -> SizeClass:
    if size <= SMALL_BYTES:
        return SizeClass.SMALL
    return SizeClass.USUAL if size <= USUAL_BYTES else SizeClass.LARGE
