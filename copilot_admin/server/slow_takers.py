"""uvicorn's HTTP protocol, which ends the connection of a client that takes nothing.

What was written waits in the memory of the process until the client takes it. uvicorn waits for that
without end: also when the answer is complete, and the connection only stays to be emptied.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# For a client that is out of reach for a moment; nginx gives it as long.
TAKING_SECONDS = 60.0
# While so much waits in all connections together, nobody has longer than this. Each holds up to 128 kB.
MOST_UNTAKEN_BYTES = 32 * 1024 * 1024
HURRIED_SECONDS = 2.0


class Untaken:
    """What waits to be taken, of all connections of the process that are looked at."""

    def __init__(self) -> None:
        self.bytes = 0


UNTAKEN = Untaken()


class TakenInTime(HttpToolsProtocol):
    """The stock protocol; while bytes wait, it looks from time to time whether they become fewer."""

    _untaken = 0  # when it was looked at last
    _taking_timer: asyncio.TimerHandle | None = None
    _has_resumed = False  # since then: much was taken, and more may have been written
    _waited = 0.0  # seconds since any were taken

    def pause_writing(self) -> None:
        """Begins to look whether the client takes what waits for it."""
        super().pause_writing()
        self._look_at_taking()

    def resume_writing(self) -> None:
        """Notes that much was taken: what waits by now may be new."""
        super().resume_writing()
        self._has_resumed = True

    def on_response_complete(self) -> None:
        """An answer has ended; of a short one all may wait."""
        super().on_response_complete()
        self._look_at_taking()

    def connection_lost(self, exc: Exception | None) -> None:
        """Looks no longer, since the client is gone."""
        self._note_untaken(0)
        if self._taking_timer is not None:
            self._taking_timer.cancel()
        super().connection_lost(exc)

    def _look_at_taking(self) -> None:
        if self._taking_timer is None:
            self._waited = 0.0
            self._note_untaken(self.transport.get_write_buffer_size())
            self._look_later()

    def _look_later(self) -> None:
        """Looks again in a while, as long as there is something to look at."""
        self._has_resumed = False
        waits = self._untaken > 0
        look = self._look_again
        self._taking_timer = self.loop.call_later(HURRIED_SECONDS, look) if waits else None

    def _look_again(self) -> None:
        before = self._untaken
        self._note_untaken(self.transport.get_write_buffer_size())
        none_taken = self._untaken >= before and not self._has_resumed
        self._waited = self._waited + HURRIED_SECONDS if none_taken else 0.0
        hurried = UNTAKEN.bytes > MOST_UNTAKEN_BYTES
        if self._waited >= (HURRIED_SECONDS if hurried else TAKING_SECONDS):
            self.transport.abort()
        else:
            self._look_later()

    def _note_untaken(self, size: int) -> None:
        UNTAKEN.bytes += size - self._untaken
        self._untaken = size
