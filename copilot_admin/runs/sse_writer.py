"""SSE writer and send buffer of a run."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from copilot_admin.agent.llm.ticker import Ticker
from protocol.events import Event
from protocol.json import JsonObject, clean_json
from protocol.models import Generation
from protocol.serializers import serialize
from protocol.sse import PING, encode, encode_chunk

# A client this far behind waits for nothing but its network: 256 kB are minutes of text.
FULL_BYTES = 256 * 1024


class Outbox:
    """A bounded queue of bytes with one writer and one reader in the same event loop.

    `put` never waits, so a delta costs no switch of tasks; a writer that finds the outbox `full`
    awaits `drained`. What waits is taken in one piece.
    """

    def __init__(self) -> None:
        self._frames: list[bytes] = []
        self._size = 0
        self._closed = False
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    @property
    def full(self) -> bool:
        """Whether the reader is so far behind that the writer should wait."""
        return self._size > FULL_BYTES

    @property
    def empty(self) -> bool:
        """Whether no frame waits for the pump."""
        return not self._frames

    @property
    def finished(self) -> bool:
        """Whether all was taken that there will ever be."""
        return self._closed and not self._frames

    def put(self, frame: bytes) -> None:
        """Adds a frame; after `close` it is dropped, since nobody will take it."""
        if self._closed:
            return
        self._frames.append(frame)
        self._size += len(frame)
        _wake(self._reader)

    def close(self) -> None:
        """Says that no frame follows, and frees whoever waits."""
        self._closed = True
        _wake(self._reader)
        _wake(self._writer)

    async def drained(self) -> None:
        """Waits until everything was taken, or the outbox is closed."""
        while self._frames and not self._closed:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer

    async def taken(self) -> AsyncGenerator[bytes, None]:
        """Yields what waits, joined, until the outbox is closed and empty."""
        while True:
            while self._frames:
                waiting = b"".join(self._frames)
                self._frames.clear()
                self._size = 0
                _wake(self._writer)
                yield waiting
            if self._closed:
                return
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


MERGE_SECONDS = 0.02
FIRST_EVENT_SECONDS = 10.0  # silence before the first event; half of a 20 s proxy limit
PING_SECONDS = 15.0  # half of the 30 s after which common proxies close an idle connection


class Speaker:
    """Turns the events of a run into frames in its outbox; used in one event loop only."""

    def __init__(self, outbox: Outbox, *, generation: Generation) -> None:
        self._outbox = outbox
        self._generation = generation
        self._loop = asyncio.get_running_loop()
        self._text: list[str] = []
        self._frames: list[bytes] = []
        self._due = False  # something will be sent, in this turn of the loop or at the next tick
        self._holding = False
        self._begun = False
        self._last_sent = self._loop.time()

    def text(self, delta: str) -> None:
        """Says a piece of the answer, now or with what follows within 20 ms."""
        self._text.append(delta)
        if not self._due and not self._holding:
            self._schedule()

    def event(self, event: Event) -> None:
        """Queue an event after the text before it."""
        self._close_text()
        frame = frames_of(event, self._generation)
        if frame:
            self._frames.append(frame)
        if not self._due and not self._holding:
            self._schedule()

    def hold(self) -> None:
        """Lets nothing more leave until `release`."""
        self._holding = True
        self._due = False

    def close(self) -> None:
        """Makes frames of all that is left, so that `release` only has to hand them over."""
        self.hold()
        self._close_text()

    def release(self) -> None:
        """Sends what was held; the end of the stream."""
        self.close()
        self._send()

    def discard(self) -> None:
        """Drops what is held: it may not be said any more."""
        self.hold()
        self._text.clear()
        self._frames.clear()

    def break_silence(self) -> None:
        """Keeps proxies from closing a silent stream.

        The first block is an event, since a helper of the peer's SDK stumbles over a comment
        there; an empty chunk is one that every generation understands.
        """
        silence = self._loop.time() - self._last_sent
        if self._holding:
            return
        if not self._begun and silence >= FIRST_EVENT_SECONDS:
            self._text.append("")
            self._send()
        elif self._begun and silence >= PING_SECONDS:
            self._frames.append(PING)
            self._send()

    def _schedule(self) -> None:
        self._due = True
        if self._begun and self._loop.time() < self._last_sent + MERGE_SECONDS:
            _MERGING.join(self, self._loop)
        else:
            # Not at once but in this turn of the loop: what is already in hand comes along.
            self._loop.call_soon(self.send_due)

    def send_due(self) -> None:
        """Sends what waits, unless it was sent or held meanwhile."""
        if self._due:
            self._send()

    def _close_text(self) -> None:
        if self._text:
            self._frames.append(encode_chunk("".join(self._text)))
            self._text.clear()

    def _send(self) -> None:
        self._due = False
        self._close_text()
        if self._frames:
            self._begun = True
            self._last_sent = self._loop.time()
            self._outbox.put(b"".join(self._frames))
            self._frames.clear()


def frames_of(event: Event, generation: Generation) -> bytes:
    """An event in the dialect of a client; nothing where it has no words for it.

    Models write NaN for what is missing, and numbers without end; JSON has neither, so they become
    null.
    """
    said = tuple(serialize(event, generation))
    try:
        return b"".join(encode(name, data) for name, data in said)
    except ValueError:
        return b"".join(encode(name, _with_finite_numbers(data)) for name, data in said)


def _with_finite_numbers(data: JsonObject) -> JsonObject:
    return {name: clean_json(value) for name, value in data.items()}


def _send_all(speakers: Sequence[Speaker]) -> None:
    for speaker in speakers:
        speaker.send_due()


_MERGING = Ticker(MERGE_SECONDS, _send_all)
