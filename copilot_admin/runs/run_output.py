"""Output of a run: sent to the client and recorded for the transcript."""

import asyncio
from datetime import UTC, datetime
from uuid import UUID

from copilot_admin.agent.response_writer import warning_events
from copilot_admin.agent.values.answer_request import Output
from copilot_admin.agent.values.model_call import Finish
from copilot_admin.errors import ClientTooSlow
from copilot_admin.models import Logging, Outcome
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.sse_writer import SendBuffer, SSEWriter, frames_of
from copilot_admin.telemetry.finished_runs import RunObserver
from copilot_admin.transcripts.store.recorder import Recorder
from copilot_admin.transcripts.store.run_end import Ending, RunEnd
from protocol.events import Event, FunctionCall, MessageChunk

SLOW_CLIENT_SECONDS = 30.0


class RunOutput:
    """Output of the agent; used in the event loop that opened the run."""

    def __init__(self, question: AdmittedQuery, *, observer: RunObserver) -> None:
        live, generation = question.live, question.query.generation
        self.buffer = SendBuffer()
        self.writer = SSEWriter(self.buffer, generation=generation)
        self.recorder = Recorder(
            keep_content=live.logging is Logging.EVERYTHING,
            generation=generation,
            rules=live.redaction,
        )
        self.finish_reason = Finish("stop")
        self._generation = generation
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._ttft_ms: int | None = None

    def add(self, output: Output) -> None:
        if self._ttft_ms is None and isinstance(output, Event):
            self._ttft_ms = self._elapsed_ms()
        if isinstance(output, MessageChunk):
            self.recorder.add(output, at_ms=0)
            self.writer.write_text(output.delta)
            return
        if isinstance(output, Finish):
            self.finish_reason = output
            self.writer.hold()
        elif isinstance(output, Event):
            if isinstance(output, FunctionCall):
                self._observer.add_client_call(output.function, output.input_arguments)
                self.writer.hold()
            self.writer.write_event(output)
        # After sending: output that can't be sent doesn't spoil the record of the rest.
        self.recorder.add(output, at_ms=self._elapsed_ms())

    def add_failure(self, sentence: str) -> None:
        """Send and record the message of a failure; it is sent when the run is stored."""
        self.writer.hold()
        for event in self._failure_events(sentence):
            self.recorder.add(event, at_ms=self._elapsed_ms())
            self.writer.write_event(event)

    def append_failure(self, sentence: str) -> None:
        """Send the message of a failure after all sent output, unrecorded."""
        for event in self._failure_events(sentence):
            self.buffer.put(frames_of(event, self._generation))

    async def wait_for_client(self) -> None:
        """Wait until the client has read everything; raise `ClientTooSlow` if it reads nothing."""
        try:
            async with asyncio.timeout(SLOW_CLIENT_SECONDS):
                await self.buffer.wait_until_drained()
        except TimeoutError:
            raise ClientTooSlow(
                f"The client read nothing for {SLOW_CLIENT_SECONDS:.0f} seconds."
            ) from None

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
        self.writer.hold()
        now = datetime.now(UTC)

        def build() -> RunEnd:
            return self.recorder.finish(ending, run_id=run_id, at=now, is_broken=is_broken)

        return build() if self.recorder.is_light else await asyncio.to_thread(build)

    def _failure_events(self, sentence: str) -> tuple[Event, ...]:
        gap = (MessageChunk("\n\n"),) if self.recorder.text_bytes else ()
        return (*gap, *warning_events(sentence))

    def _elapsed_ms(self) -> int:
        return int((self._loop.time() - self._started) * 1000)
