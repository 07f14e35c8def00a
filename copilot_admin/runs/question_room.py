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

from copilot_admin.agent.processes.places import Busy
from copilot_admin.errors import BodyTooLarge, Unavailable
from copilot_admin.http.heaps import give_back_gaps
from protocol.json_tokens import tokens_of
from protocol.pieces import PIECE
from protocol.query import Query
from protocol.weights import values_of

MB = 1024 * 1024
# Beside the 200 MB of an idle server and 56 MB of bodies: one alone may have all of it.
MOST_BYTES = 96 * MB
LARGE = 4 * MB  # who asks something that weighs less does not wait
LONG_TEXT = 64 * 1024  # characters
_NEVER_LARGE = 64 * 1024  # bytes of a body, of whatever it is made
# Measured: a number takes 28 bytes and its place in a list 8, a list 104, an object of one member 330.
BYTES_PER_TOKEN = 36
# A comma takes no longer than the bytes between two usual ones: a result of a tool may be a digit, and
# takes twenty microseconds to be read, hashed and stored.
COMMA_BYTES = 32
_NEVER_SHORT = 256 * 1024  # bytes
_FOUR_BYTES = re.compile(rb"[\xf0-\xf4]|\\u[dD][89abAB]")  # beyond U+FFFF, or half of an escape
_TWO_BYTES = re.compile(rb"[\xc4-\xef]|\\u(?!00)")  # beyond U+00FF
_FOLLOWING_BYTES = bytes(range(0x80, 0xC0))
_LONGEST_SIGN = 4  # bytes that the two look at


@dataclass(frozen=True, slots=True)
class Weight:
    """Bytes that a question takes.

    Attributes:
        reading: While it is read and prepared for the journal: the body, its text, what that says and
            what is hashed of it.
        staying: From then on: what it says, and its UTF-8 for the journal and the model.
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
    text = _width_of(body) * _characters(body)
    reading = len(body) + 3 * text
    values = BYTES_PER_TOKEN * tokens_of(body, no_matter=(LARGE - reading) // BYTES_PER_TOKEN)
    return Weight(reading + values, len(body) + text + values)


def size_of(body: bytes) -> int:
    """Bytes of a question, or of a usual one that takes as long to be read and kept."""
    if len(body) > _NEVER_SHORT:  # whose commas take milliseconds to be counted
        return len(body)
    return max(len(body), COMMA_BYTES * body.count(b","))


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
    if _has(body, _FOUR_BYTES):
        return 4
    return 2 if _has(body, _TWO_BYTES) else 1


def _characters(body: bytes) -> int:
    """How many there are: in UTF-8 all but the first byte of one are of a kind of their own."""
    if body.isascii():
        return len(body)
    starts = range(0, len(body), PIECE)
    return sum(len(body[at : at + PIECE].translate(None, _FOLLOWING_BYTES)) for at in starts)


def _has(body: bytes, sign: re.Pattern[bytes]) -> bool:
    """Whether a sign is in the body, looked for by the piece: 18 MB at once keep all others waiting for 80 ms."""
    for start in range(0, len(body), PIECE):
        found = sign.search(body, start, start + PIECE + _LONGEST_SIGN)
        if found and found.start() < start + PIECE:  # else the next piece has it as a whole
            return True
    return False


class QuestionShare:
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


@dataclass(slots=True, eq=False)
class _Waiting:
    loop: asyncio.AbstractEventLoop
    changed: asyncio.Event
    overtaken: int = 0  # bytes that were given to who asked later

    def wake(self) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.changed.set)


class QuestionRoom:
    """Hands out shares to whoever fits, but lets nobody be overtaken without end.

    Who waits for much lets those past who fit into what is free, as long as they took no more than
    the whole room, once over. From then on all who asked later stand behind him, until he has his
    share or is told that there was no room. In strict order, one that waits for nearly all of it
    would keep everybody out while a long answer holds a part of it; without a bound, a stream of
    smaller ones would keep him out for ever.

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
    async def share(self, size: int) -> AsyncGenerator[QuestionShare, None]:
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

    def shrink(self, share: QuestionShare, size: int) -> None:
        """Makes a share smaller; see `QuestionShare`."""
        with self._lock:
            size = min(size, share.size)
            self.taken += size - share.size
            share.size = size
            self._wake()

    async def _awaited(self, size: int) -> QuestionShare:
        waiting = _Waiting(asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.append(waiting)
        try:
            async with asyncio.timeout(self._seconds):
                while (share := self._taken(size, by=waiting)) is None:
                    await waiting.changed.wait()
                    waiting.changed.clear()
        except TimeoutError:
            raise Busy from None
        finally:
            with self._lock:
                self._waiting.remove(waiting)
                self._wake()  # those who stood behind
        return share

    def _taken(self, size: int, *, by: _Waiting | None = None) -> QuestionShare | None:
        with self._lock:
            before = self._waiting if by is None else self._waiting[: self._waiting.index(by)]
            if self.taken and self.taken + size > self._most:
                return None
            if any(one.overtaken + size > self._most for one in before):
                return None
            for one in before:
                one.overtaken += size
            self.taken += size
            return QuestionShare(self, size)

    def _wake(self) -> None:
        for waiting in self._waiting:
            waiting.wake()


# What one question may take while it is read. A body within the limit passes it only with a million
# values, or characters that take four bytes each, and with them all of its text.
MOST_MEMORY = 8 * settings.MAX_BODY_BYTES
TOO_WIDE = (
    "The question takes too much memory: its size and characters such as emoji, each of which makes "
    "the whole text four times as large. Send less data."
)
TOO_MANY = "The server is reading as many large questions as it can. Ask again in a few seconds."
QUESTION_ROOM = QuestionRoom(MOST_BYTES, seconds=settings.DATABASE_WAIT_SECONDS)


@asynccontextmanager
async def room_to_read(weight: Weight) -> AsyncGenerator[QuestionShare, None]:
    """Room for a large question, of whose forerunners nothing is left when it is had.

    Raises:
        Busy: There was no room for too long.
    """
    async with QUESTION_ROOM.share(weight.reading) as share:
        await asyncio.to_thread(give_back_gaps)
        yield share


@asynccontextmanager
async def room_for(body: bytes) -> AsyncGenerator[QuestionShare, None]:
    """Room for a question that a page asks, from before it is read; where it is small, none is needed.

    Raises:
        BodyTooLarge: It would take too much memory.
        Unavailable: There was no room for too long.
    """
    weight = await asyncio.to_thread(weight_of, body)
    if weight.reading > MOST_BYTES:
        raise BodyTooLarge(TOO_WIDE)
    if not weight.is_large:
        yield QuestionShare(QUESTION_ROOM, 0)
        return
    try:
        async with room_to_read(weight) as share:
            yield share
            share.shrink(weight.staying)
    except Busy:
        raise Unavailable(TOO_MANY, code="busy") from None
