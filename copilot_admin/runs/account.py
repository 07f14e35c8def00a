"""Recording and observation of a run."""

import asyncio
from functools import partial

from django.conf import settings

from copilot_admin.agent.beside import beside_if
from copilot_admin.agent.values.engine_input import Output
from copilot_admin.agent.values.model_call import Finish
from copilot_admin.agent.warning_events import warning_events
from copilot_admin.copilots.live import Answerer
from copilot_admin.copilots.users import named
from copilot_admin.errors import ClientTooSlow
from copilot_admin.models import Logging, Outcome
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.sse_writer import Outbox, Speaker, frames_of
from copilot_admin.telemetry.finished_runs import FinishedRun, RunObserver, RunTimes
from copilot_admin.telemetry.tracing import wants_content
from copilot_admin.transcripts.store import Opening
from copilot_admin.transcripts.store.record import Ending, Record
from copilot_admin.transcripts.store.recorder import Recorder
from protocol.events import Event, FunctionCall, MessageChunk
from protocol.models import Generation

SLOW_CLIENT_SECONDS = 30.0


class Account:
    """The account of one run; lives in the event loop that opened it.

    Args:
        generation: Of the protocol that the client speaks.
        keep_content: Whether the journal keeps words.
        watch: Is told of what the client is asked for.
    """

    def __init__(self, *, generation: Generation, keep_content: bool, watch: RunObserver) -> None:
        self.outbox = Outbox()
        self.speaker = Speaker(self.outbox, generation=generation)
        self.recorder = Recorder(keep_content=keep_content, generation=generation)
        self.finish = Finish("stop")
        self._generation = generation
        self._watch = watch
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._ttft_ms: int | None = None

    def take(self, output: Output) -> None:
        """Send and record an output of the agent."""
        if isinstance(output, MessageChunk):
            self.recorder.add(output, at_ms=0)
            self.speaker.text(output.delta)
            if self._ttft_ms is None:
                self._ttft_ms = self._elapsed_ms()
            return
        match output:
            case Finish():
                self.finish = output
                self.speaker.hold()
            case FunctionCall():
                self._watch.add_client_call(output.function, output.input_arguments)
                self.speaker.hold()
                self._say(output)
            case Event():
                self._say(output)
            case _:
                pass  # for the transcript only
        # After it was said: what cannot be said does not spoil the record of what was.
        self.recorder.add(output, at_ms=self._elapsed_ms())

    def tell(self, sentence: str) -> None:
        """Says a failure, and nothing after it leaves before the run is kept."""
        self.speaker.hold()
        for event in self._words_of(sentence):
            self.recorder.add(event, at_ms=self._elapsed_ms())
            self.speaker.event(event)

    def add_words(self, sentence: str) -> None:
        """Says a failure behind what has left already, without the speaker and the record."""
        for event in self._words_of(sentence):
            self.outbox.put(frames_of(event, self._generation))

    async def wait_for_client(self) -> None:
        """Waits until the client has read.

        Raises:
            ClientTooSlow: It read nothing for too long.
        """
        try:
            async with asyncio.timeout(SLOW_CLIENT_SECONDS):
                await self.outbox.drained()
        except TimeoutError:
            raise ClientTooSlow(
                f"The client read nothing for {SLOW_CLIENT_SECONDS:.0f} seconds."
            ) from None

    def ending(
        self, outcome: Outcome, *, error: str = "", code: str = "", notes: tuple[str, ...] = ()
    ) -> Ending:
        """The ending of a run that ends now, with the times it took."""
        return Ending(
            outcome=outcome,
            ms=self._elapsed_ms(),
            ttft_ms=self._ttft_ms,
            error=error,
            error_code=code,
            notes=notes,
        )

    async def record(self, ending: Ending) -> Record:
        """What the journal keeps; what is left to say waits until it does."""
        self.speaker.close()
        return await beside_if(self.recorder.is_large, partial(self.recorder.record, ending))

    def _say(self, event: Event) -> None:
        if self._ttft_ms is None:
            self._ttft_ms = self._elapsed_ms()
        self.speaker.event(event)

    def _words_of(self, sentence: str) -> tuple[Event, ...]:
        gap = (MessageChunk("\n\n"),) if self.recorder.text_bytes else ()
        return (*gap, *warning_events(sentence))

    def _elapsed_ms(self) -> int:
        return int((self._loop.time() - self._started) * 1000)


def observe_run(
    question: AdmittedQuery, opening: Opening, *, answerer: Answerer | None
) -> RunObserver:
    """Start observing a run; without an answerer the copilot isn't ready."""
    ids, live = question.ids, question.live
    run = FinishedRun(
        run_id=ids.run_id,
        trace_id=ids.trace_id,
        chat_id=ids.chat_id,
        copilot=live.slug,
        version=live.version_number,
        caller=question.caller.principal,
        user=named(question.user, settings.USER_IN_LOGS),
        is_trial=question.caller.is_trying,
        generation=question.query.generation,
        outcome=Outcome.RUNNING,
        started_at=opening.started_at,
        provider=opening.provider,
        provider_kind=answerer.spec.provider.kind if answerer else "",
        provider_url=answerer.spec.provider.base_url if answerer else "",
        model=opening.model,
        times=RunTimes(received=question.came),
        # Redaction doesn't cover what a collector of traces gets.
        keeps_content=live.logging is Logging.EVERYTHING and not live.redaction,
        traceparent=ids.traceparent,
    )
    return RunObserver(run, wants_content=wants_content())
