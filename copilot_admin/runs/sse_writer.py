"""SSE writer and send buffer of a run."""

import asyncio
from collections.abc import AsyncGenerator

from protocol.events import Event
from protocol.json import clean_json, object_of
from protocol.models import Generation
from protocol.serializers import serialize
from protocol.sse import PING, encode, encode_chunk

MAX_BUFFERED_BYTES = 256 * 1024  # minutes of text: a client this far behind waits for its network
FIRST_EVENT_SECONDS = 10.0  # silence before the first event; half of a 20 s proxy limit
PING_SECONDS = 15.0  # half of the 30 s after which common proxies close an idle connection


class SendBuffer:
    """Bounded queue of bytes with one writer and one reader in the same event loop.

    `put` never waits, so a delta needs no task switch. A writer that finds the buffer full awaits
    `wait_until_drained`.
    """

    def __init__(self) -> None:
        self._frames: list[bytes] = []
        self._size = 0
        self._is_closed = False
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    @property
    def is_full(self) -> bool:
        return self._size > MAX_BUFFERED_BYTES

    @property
    def is_finished(self) -> bool:
        return self._is_closed and not self._frames

    def put(self, frame: bytes) -> None:
        """Add a frame; it is dropped if the buffer is closed."""
        if not self._is_closed:
            self._frames.append(frame)
            self._size += len(frame)
            _wake(self._reader)

    def close(self) -> None:
        self._is_closed = True
        _wake(self._reader)
        _wake(self._writer)

    async def wait_until_drained(self) -> None:
        while self._frames and not self._is_closed:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield all waiting frames joined, until the buffer is closed and empty."""
        while True:
            while self._frames:
                waiting = b"".join(self._frames)
                self._frames.clear()
                self._size = 0
                _wake(self._writer)
                yield waiting
            if self._is_closed:
                return
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


class SSEWriter:
    """Writes events of a run as frames to its send buffer; used in one event loop only."""

    def __init__(self, buffer: SendBuffer, *, generation: Generation) -> None:
        self._buffer = buffer
        self._generation = generation
        self._loop = asyncio.get_running_loop()
        self._text: list[str] = []
        self._frames: list[bytes] = []
        self._timer: asyncio.Handle | None = None
        self._is_holding = False
        self._has_begun = False
        self._last_sent = self._loop.time()

    def write_text(self, delta: str) -> None:
        """Send a piece of the answer, merged with others of this iteration of the event loop."""
        self._text.append(delta)
        self._schedule()

    def write_event(self, event: Event) -> None:
        """Send another event, after the text before it."""
        self._frame_text()
        if frame := frames_of(event, self._generation):
            self._frames.append(frame)
        self._schedule()

    def hold(self) -> None:
        """Send nothing more until `release`."""
        self._is_holding = True
        self._frame_text()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def release(self) -> None:
        """Send all held frames; the end of the stream."""
        self.hold()
        self._flush()

    def discard(self) -> None:
        self.hold()
        self._text.clear()
        self._frames.clear()

    def send_keepalive(self) -> None:
        """Prevent proxies from closing a silent stream.

        The first block is an event, since a helper of the client's SDK fails on a leading comment.
        Every generation accepts an empty chunk.
        """
        limit = PING_SECONDS if self._has_begun else FIRST_EVENT_SECONDS
        if not self._is_holding and self._loop.time() - self._last_sent >= limit:
            self._frames.append(PING if self._has_begun else encode_chunk(""))
            self._flush()

    def _schedule(self) -> None:
        if self._timer is None and not self._is_holding:
            # Deferred so that output of one loop iteration is sent together, or held at the end.
            self._timer = self._loop.call_soon(self._flush)

    def _frame_text(self) -> None:
        if self._text:
            self._frames.append(encode_chunk("".join(self._text)))
            self._text.clear()

    def _flush(self) -> None:
        self._timer = None
        self._frame_text()
        if self._frames:
            self._has_begun = True
            self._last_sent = self._loop.time()
            self._buffer.put(b"".join(self._frames))
            self._frames.clear()


def frames_of(event: Event, generation: Generation) -> bytes:
    """Return an event as frames; empty if the generation doesn't support it.

    Models write NaN and infinities, which JSON doesn't have: they become null.
    """
    said = serialize(event, generation)
    try:
        return b"".join(encode(name, data) for name, data in said)
    except ValueError:
        return b"".join(encode(name, object_of(clean_json(data))) for name, data in said)
