"""Frames on their way from a run to its client: the run puts, the pump takes."""

import asyncio
from collections.abc import AsyncGenerator

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
