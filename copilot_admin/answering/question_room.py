"""The memory that large questions of a process may take together.

A question is weighed before it is read: by its bytes, by how wide their characters are in memory, and
by its values, of which a byte or two may be one. It weighs most while it is read; what is left then
stays as long as its answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
import re
from sys import getsizeof
from threading import RLock
import weakref

from django.conf import settings

from copilot_admin.engine.processes.places import Busy
from protocol.query import Query
from protocol.strict_json import tokens_of
from protocol.weights import values_of

MB = 1024 * 1024
# Beside the 200 MB of an idle server and 56 MB of bodies: one alone may have all of it.
MOST_BYTES = 96 * MB
LARGE = 4 * MB  # who asks something that weighs less does not wait
LONG_TEXT = 64 * 1024  # characters
_NEVER_LARGE = 64 * 1024  # bytes of a body, of whatever it is made
# Measured: a number takes 28 bytes and its place in a list 8, a list 104, an object of one member 330.
BYTES_PER_TOKEN = 36
_FOUR_BYTES = re.compile(rb"[\xf0-\xf4]|\\u[dD][89abAB]")  # beyond U+FFFF, or half of an escape
_TWO_BYTES = re.compile(rb"[\xc4-\xef]|\\u(?!00)")  # beyond U+00FF


@dataclass(frozen=True, slots=True)
class Weight:
    """Bytes that a question takes.

    Attributes:
        reading: While it is read: the body, its text, and what that says.
        staying: From then on.
    """

    reading: int
    staying: int

    @property
    def is_large(self) -> bool:
        """Whether it has to wait for room."""
        return self.reading > LARGE


def weight_of(body: bytes) -> Weight:
    """Weighs a question; takes some 30 ms for each megabyte of JSON in texts."""
    if len(body) <= _NEVER_LARGE:
        return Weight(0, 0)
    width = _width_of(body)
    tokens = tokens_of(body, no_matter=(LARGE - len(body) * (1 + 2 * width)) // BYTES_PER_TOKEN)
    values = tokens * BYTES_PER_TOKEN
    return Weight(len(body) * (1 + 2 * width) + values, len(body) * width + values)


def text_of(query: Query) -> int:
    """Bytes that the long texts of a query take in memory, each once."""
    texts: dict[int, int] = {}
    pending = list(values_of(replace(query, env={})))
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            if len(value) > LONG_TEXT:
                texts[id(value)] = getsizeof(value)
        elif isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
    return sum(texts.values())


def _width_of(body: bytes) -> int:
    """Bytes that each character of the body's text takes: the widest one decides."""
    if body.isascii() and rb"\u" not in body:  # as most are: fifty times as fast as the two below
        return 1
    if _FOUR_BYTES.search(body):
        return 4
    return 2 if _TWO_BYTES.search(body) else 1


class Share:
    """What one question takes of the room; may be given back in any thread, and at any moment."""

    def __init__(self, room: "QuestionRoom", size: int) -> None:
        self._room = room
        self.size = size
        self.is_kept = False

    def shrink(self, size: int) -> None:
        """Gives back what it takes beyond this."""
        self._room.shrink(self, size)

    def keep_for(self, owner: object) -> None:
        """Gives all of it back when an object is gone."""
        self.is_kept = True
        weakref.finalize(owner, self.shrink, 0).atexit = False


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    loop: asyncio.AbstractEventLoop
    changed: asyncio.Event

    def wake(self) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.changed.set)


class QuestionRoom:
    """Hands out shares to whoever fits; of those who wait, who asked first is woken first.

    Args:
        most: Bytes; what is larger has all of it, when nobody else has any.
        seconds: How long one waits.
    """

    def __init__(self, most: int, *, seconds: float) -> None:
        self.taken = 0
        self._most = most
        self._seconds = seconds
        self._waiting: list[_Waiting] = []
        # The collector may find an owner that is gone while this thread has it.
        self._lock = RLock()

    @asynccontextmanager
    async def share(self, size: int) -> AsyncGenerator[Share, None]:
        """A share; nothing is left of it behind the block unless it is kept for somebody.

        Raises:
            Busy: There was no room for too long.
        """
        share = self._taken(size) or await self._awaited(size)
        try:
            yield share
        finally:
            if not share.is_kept:
                share.shrink(0)

    def shrink(self, share: Share, size: int) -> None:
        """Makes a share smaller; see `Share`."""
        with self._lock:
            size = min(size, share.size)
            self.taken += size - share.size
            share.size = size
            for waiting in self._waiting:
                waiting.wake()

    async def _awaited(self, size: int) -> Share:
        waiting = _Waiting(asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.append(waiting)
        try:
            async with asyncio.timeout(self._seconds):
                while (share := self._taken(size)) is None:
                    await waiting.changed.wait()
                    waiting.changed.clear()
        except TimeoutError:
            raise Busy from None
        finally:
            with self._lock:
                self._waiting.remove(waiting)
        return share

    def _taken(self, size: int) -> Share | None:
        with self._lock:
            if self.taken and self.taken + size > self._most:
                return None
            self.taken += size
            return Share(self, size)


QUESTION_ROOM = QuestionRoom(MOST_BYTES, seconds=settings.DATABASE_WAIT_SECONDS)
