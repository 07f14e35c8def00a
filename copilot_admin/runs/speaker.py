"""Says events to one client in its dialect.

Text that comes faster than every 20 ms is merged into one frame: what costs a server is the frame,
not the character. The first text and whatever comes after a pause leave at once. What waits when
the answer ends is held until the run's final state is stored.
"""

import asyncio
from collections.abc import Sequence

from copilot_admin.agent.llm.ticker import Ticker
from copilot_admin.runs.outbox import Outbox
from protocol.dialects import say
from protocol.events import Event
from protocol.generations import Generation
from protocol.json import JsonObject
from protocol.sse import PING, encode, encode_chunk
from protocol.walk import finite, rebuild

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

    def event(self, event: Event, frame: bytes | None = None) -> None:
        """Says anything else, after the text before it.

        Args:
            event: What is said.
            frame: As `frames_of` made it, if it was made already.
        """
        self._close_text()
        if frame is None:
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
    said = tuple(say(event, generation))
    try:
        return b"".join(encode(name, data) for name, data in said)
    except ValueError:
        return b"".join(encode(name, _with_finite_numbers(data)) for name, data in said)


def _with_finite_numbers(data: JsonObject) -> JsonObject:
    return {name: rebuild(value, scalar=finite) for name, value in data.items()}


def _send_all(speakers: Sequence[Speaker]) -> None:
    for speaker in speakers:
        speaker.send_due()


_MERGING = Ticker(MERGE_SECONDS, _send_all)
