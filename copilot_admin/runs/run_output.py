"""Output of a run: recorded for the transcript, and written as events to its send buffer."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from uuid import UUID

from copilot_admin.agent.response_writer import warning_events
from copilot_admin.agent.values.answer_request import Output
from copilot_admin.agent.values.model_call import Finish
from copilot_admin.models import Logging, Outcome
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.telemetry.finished_runs import RunObserver
from copilot_admin.transcripts.store.recorder import Ending, Recorder, RunEnd
from protocol.events import Event, FunctionCall, MessageChunk
from protocol.json import clean_json, object_of
from protocol.models import Generation
from protocol.serializers import serialize
from protocol.sse import PING, encode, encode_chunk

FIRST_EVENT_SECONDS = 10.0  # silence before the first event; half of a 20 s proxy limit
PING_SECONDS = 15.0  # half of the 30 s after which common proxies close an idle connection


class RunOutput:
    """Output of the agent; used in the event loop that opened the run."""

    def __init__(self, question: AdmittedQuery, *, observer: RunObserver) -> None:
        live, generation = question.live, question.query.generation
        self.buffer = SendBuffer(generation)
        self.recorder = Recorder(
            keep_content=live.logging is Logging.EVERYTHING,
            generation=generation,
            rules=live.redaction,
        )
        self.finish_reason = Finish("stop")
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._ttft_ms: int | None = None

    def add(self, output: Output) -> None:
        if self._ttft_ms is None and isinstance(output, Event):
            self._ttft_ms = self._elapsed_ms()
        if isinstance(output, MessageChunk):
            self.recorder.add(output, at_ms=0)
            self.buffer.write_text(output.delta)
            return
        if isinstance(output, Finish):
            self.finish_reason = output
            self.buffer.hold()
        elif isinstance(output, Event):
            if isinstance(output, FunctionCall):
                self._observer.add_client_call(output.function, output.input_arguments)
                self.buffer.hold()
            self.buffer.write_event(output)
        # After sending: output that can't be sent doesn't spoil the record of the rest.
        self.recorder.add(output, at_ms=self._elapsed_ms())

    def add_failure(self, sentence: str) -> None:
        """Send and record the message of a failure; it is sent when the run is stored."""
        self.buffer.hold()
        for event in self._failure_events(sentence):
            self.recorder.add(event, at_ms=self._elapsed_ms())
            self.buffer.write_event(event)

    def append_failure(self, sentence: str) -> None:
        """Send the message of a failure instead of unsent output, unrecorded."""
        self.buffer.discard()
        for event in self._failure_events(sentence):
            self.buffer.write_event(event)

    def ending(
        self, outcome: Outcome, *, error: str = "", code: str = "", notes: tuple[str, ...] = ()
    ) -> Ending:
        return Ending(
            outcome=outcome,
            ms=self._elapsed_ms(),
            ttft_ms=self._ttft_ms,
            error=error,
            error_code=code,
            notes=notes,
        )

    async def finish(self, ending: Ending, *, run_id: UUID, is_broken: bool = False) -> RunEnd:
        """Hold back unsent output, and return the end of the run as it is stored."""
        self.buffer.hold()
        now = datetime.now(UTC)

        def build() -> RunEnd:
            return self.recorder.finish(ending, run_id=run_id, at=now, is_broken=is_broken)

        return build() if self.recorder.is_light else await asyncio.to_thread(build)

    def _failure_events(self, sentence: str) -> tuple[Event, ...]:
        gap = (MessageChunk("\n\n"),) if self.recorder.text_bytes else ()
        return (*gap, *warning_events(sentence))

    def _elapsed_ms(self) -> int:
        return int((self._loop.time() - self._started) * 1000)


class SendBuffer:
    """Frames of a run for its client, with one writer and one reader in the same event loop.

    Writing never waits, so a delta needs no task switch. The reader takes all that was written in
    an iteration of the event loop; text is merged into one chunk. The proxy ends slow readers.
    """

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._loop = asyncio.get_running_loop()
        self._text: list[str] = []
        self._frames: list[bytes] = []  # before the text
        self._is_holding = False
        self._is_closed = False
        self._has_begun = False
        self._last_sent = self._loop.time()
        self._reader: asyncio.Future[None] | None = None

    @property
    def is_finished(self) -> bool:
        return self._is_closed and not self._is_readable

    @property
    def _is_readable(self) -> bool:
        return bool(self._text or self._frames) and not self._is_holding

    def write_text(self, delta: str) -> None:
        """Send a piece of the answer."""
        self._text.append(delta)
        self._wake_reader()

    def write_event(self, event: Event) -> None:
        """Send another event, after the text before it."""
        self._put(frames_of(event, self._generation))

    def hold(self) -> None:
        """Send nothing more until `release`."""
        self._is_holding = True

    def release(self) -> None:
        self._is_holding = False
        self._wake_reader()

    def discard(self) -> None:
        """Drop everything that the client has not read, and send again."""
        self._take()
        self._is_holding = False

    def send_keepalive(self) -> None:
        """Prevent proxies from closing a silent stream.

        The first block is an event, since a helper of the client's SDK fails on a leading comment.
        Every generation accepts an empty chunk.
        """
        limit = PING_SECONDS if self._has_begun else FIRST_EVENT_SECONDS
        is_due = self._loop.time() - self._last_sent >= limit
        if is_due and not (self._is_holding or self._is_readable):
            self._put(PING if self._has_begun else encode_chunk(""))

    def close(self) -> None:
        """End the stream; what is held is never sent."""
        self._is_closed = True
        self._wake_reader()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield all waiting frames joined, until the buffer is closed and empty."""
        while True:
            while self._is_readable:
                self._has_begun = True
                self._last_sent = self._loop.time()
                yield self._take()
            if self._is_closed:
                return
            self._reader = self._loop.create_future()
            await self._reader

    def _wake_reader(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _put(self, frame: bytes) -> None:
        self._frame_text()
        if frame:
            self._frames.append(frame)
            self._wake_reader()

    def _frame_text(self) -> None:
        if self._text:
            self._frames.append(encode_chunk("".join(self._text)))
            self._text.clear()

    def _take(self) -> bytes:
        self._frame_text()
        taken = b"".join(self._frames)
        self._frames.clear()
        return taken


def frames_of(event: Event, generation: Generation) -> bytes:
    """Return an event as frames; empty if the generation doesn't support it.

    Models write NaN and infinities, which JSON doesn't have: they become null.
    """
    said = serialize(event, generation)
    try:
        return b"".join(encode(name, data) for name, data in said)
    except ValueError:
        return b"".join(encode(name, object_of(clean_json(data))) for name, data in said)
