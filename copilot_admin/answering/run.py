"""One query being answered: asked of the engine, said to the client, written to the journal."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from functools import partial
import hashlib
import logging

from django.conf import settings

from copilot_admin.answering.admitted_query import AdmittedQuery
from copilot_admin.answering.announce import TurnChange, announce, may_be_watched
from copilot_admin.answering.outbox import Outbox
from copilot_admin.answering.speaker import Speaker, frames_of
from copilot_admin.answering.tasks import forgive_cancellation, spawn
from copilot_admin.answering.watched import watch_of
from copilot_admin.copilots.user_words import named
from copilot_admin.engine.answer import answer
from copilot_admin.engine.fetching.egress import Egress
from copilot_admin.engine.llm.choosing import choose_model
from copilot_admin.engine.llm.endings import truncation
from copilot_admin.engine.llm.options import option_notes
from copilot_admin.engine.llm.ticker import Ticker
from copilot_admin.engine.values.engine_input import EngineInput, Output, Recollection
from copilot_admin.engine.values.model_call import Finish, Usage
from copilot_admin.engine.warning_events import warning_events
from copilot_admin.errors import ClientTooSlow, NotReady, RunError, Unavailable
from copilot_admin.journal import JOURNAL, Opening
from copilot_admin.journal.recorder import Ending, Record, Recorder, sum_of
from copilot_admin.journal.unkept import DELIVERED, NOT_KEPT, NOT_KEPT_CODE
from copilot_admin.limits.admission import Admission
from copilot_admin.limits.demand import Charge
from copilot_admin.limits.rules import nano
from copilot_admin.models import Logging, Outcome
from copilot_admin.prices.bill import bill_of
from copilot_admin.storage.database_thread import JournalDown
from copilot_admin.storage.writer import READER
from protocol.events import Event, FunctionCall, MessageChunk
from protocol.query import Query

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0  # between checkpoints: what a killed process may lose of an answer
SLOW_CLIENT_SECONDS = 30.0
CRASHED = "Something went wrong on the server. It has been recorded; please ask again."
REVOKED = "The endpoint key was revoked or has expired, so this answer ends here."
DELETED = "This copilot was deleted, so this answer ends here."
RESTARTING = "The server is restarting, so this answer ends here. Ask again in a moment."


class Stop(StrEnum):
    """Why a run is told to stop before its answer is whole."""

    CLIENT_GONE = "client gone"
    NOT_ACCEPTED = "not accepted in time"
    SHUTDOWN = "shutdown"
    KEY_REVOKED = "key revoked"
    COPILOT_DELETED = "copilot deleted"
    CRASH = "crash"


class ActiveRun:
    """One question being answered; lives in the event loop that opened it."""

    def __init__(self, question: AdmittedQuery, admission: Admission | None = None) -> None:
        self.question = question
        self._admission = admission or Admission()
        self.id = question.ids.run_id
        self.outbox = Outbox()
        self.recorder = Recorder(
            keep_content=question.live.logging is Logging.EVERYTHING,
            generation=question.query.generation,
        )
        self.speaker = Speaker(self.outbox, generation=question.query.generation)
        self.started_at = datetime.now(UTC)
        live = question.live.answerer
        self._answerer = live.for_query(question.query) if live else None
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._ttft_ms: int | None = None
        self._finish = Finish("stop")
        self._stop: Stop | None = None
        self._done = False
        opening = self._opening()
        self._bill_of = partial(
            bill_of, provider=opening.provider, model=opening.model, at=opening.started_at
        )
        self._watch = watch_of(question, opening, answerer=self._answerer)
        self.acceptance = spawn(JOURNAL.accept(opening), name=f"accept {self.id}")
        self.acceptance.add_done_callback(self._watch.accepted)
        self.task = spawn(self._conduct(), name=f"run {self.id}")

    def stop(self, reason: Stop) -> None:
        """Ends the run early: the upstream is closed at once, the journal says why."""
        if not self._done and self._stop is None:
            self._stop = reason
            self.task.cancel()

    def stop_from_any_thread(self, reason: Stop) -> None:
        """Like `stop`, for callers outside the event loop."""
        if not self._done and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.stop, reason)

    def announce(self, change: TurnChange) -> None:
        """Tells whoever watches the conversation that it changed."""
        if not self.acceptance.done():
            return
        accepted = self.acceptance.result()
        if accepted.conversation_id is None or accepted.turn_id is None:
            return
        if may_be_watched(accepted.conversation_id):
            spawn(
                announce(accepted.conversation_id, turn_id=accepted.turn_id, kind=change),
                name=f"announce {self.id}",
            )

    def _opening(self) -> Opening:
        question = self.question
        spec = self._answerer.spec if self._answerer else None
        model, note = choose_model(spec, question.query) if spec else ("", "")
        notes = [note, *option_notes(spec, question.query)] if spec else []
        return Opening(
            run_id=self.id,
            copilot_id=question.live.id,
            version_id=question.live.version_id,
            version_number=question.live.version_number,
            logging=question.live.logging,
            redaction=question.live.redaction,
            principal=question.caller.principal,
            trace_id=question.ids.chat_id,
            query=_noted(question.query, notes),
            size=question.size,
            provider=spec.provider.name if spec else "",
            model=model,
            params=spec.parameters if spec else {},
            started_at=self.started_at,
            user=question.user,
        )

    async def _recall(self) -> Recollection:
        return (await asyncio.shield(self.acceptance)).recollection

    async def _conduct(self) -> None:
        """Answers, records, says goodbye: the whole life of the run task."""
        RUNNING.add(self)
        _TICKING.join(self, self._loop)
        try:
            await self._conclude(await self._answer())
        except Exception:  # a run's boundary (ADR 1): what records and says it broke
            logger.exception("run %s crashed and is kept without its content", self.id)
            await self._give_up()
        finally:
            self.outbox.close()
            RUNNING.discard(self)
            if self._admission.is_open:
                spawn(self._admission.end(), name=f"leave {self.id}")

    async def _conclude(self, ending: Ending) -> None:
        """Keeps the run; the last frame leaves when that is done, and not at all if it is not."""
        self._done = True
        if not await self._was_accepted():
            return
        self.speaker.close()
        record = self.recorder.record(ending)
        self._watch.finishing()
        is_kept = await JOURNAL.finish(self.id, record)
        await self._settle(record, ending.outcome)
        if is_kept:
            self.speaker.release()
            self.announce(TurnChange.FINISHED)
        else:
            self.speaker.discard()
            self._add_words(NOT_KEPT)
            if ending.outcome in DELIVERED:
                ending = replace(ending, outcome=Outcome.FAILED, error_code=NOT_KEPT_CODE)
        self._tell_ended(ending, sum_of(record.usages) if record.usages else None)

    async def _settle(self, record: Record, outcome: Outcome) -> None:
        """Charges the run to its budgets; who asks again at once finds room where there is some."""
        if not self._admission.is_open:
            return
        tokens = sum(one.input_tokens + one.output_tokens for one in record.usages)
        cost: Decimal | None = None
        if self._admission.counts_money:
            with suppress(Unavailable):  # then nobody knows what it cost
                bill = await READER.run(partial(self._bill_of, record.usages, outcome=outcome))
                cost = bill.cost.amount
        await self._admission.end(
            Charge(tokens=tokens, nano_usd=None if cost is None else nano(cost))
        )

    async def _give_up(self) -> None:
        """Keeps how a broken run ended and tells its client, with nothing that may be broken."""
        self._done = True
        if not await self._was_accepted():
            return
        crash = self._crash()
        try:
            await JOURNAL.finish(self.id, self.recorder.ending_alone(crash))
            self.announce(TurnChange.FINISHED)
        finally:
            self._add_words(CRASHED)
            self._tell_ended(crash, None)

    def _tell_ended(self, ending: Ending, usage: Usage | None) -> None:
        """Tells those who watch the server."""
        self._watch.ended(
            ending.outcome,
            error_code=ending.error_code,
            ms=ending.ms,
            first_ms=ending.ttft_ms,
            usage=usage,
        )

    def _add_words(self, sentence: str) -> None:
        """Says a failure behind what has left already, without the speaker."""
        for event in self._words_of(sentence):
            self.outbox.put(frames_of(event, self.question.query.generation))

    async def _was_accepted(self) -> bool:
        await asyncio.wait({self.acceptance})
        return not self.acceptance.cancelled() and self.acceptance.exception() is None

    async def _answer(self) -> Ending:
        """Streams the answer; every way in which it can end becomes an ending."""
        try:
            return await self._streamed()
        except Exception:  # a run's boundary (ADR 1): what answers it broke
            logger.exception("run %s crashed", self.id)
            self._tell(CRASHED)
            return self._crash()

    async def _streamed(self) -> Ending:
        """Streams the answer; the ways in which it is known to end become endings."""
        try:
            await self._stream()
        except RunError as error:
            logger.warning("%s", self._failure(error))
            self._tell(error.public)
            return self._ending(Outcome.FAILED, error=error.public, code=type(error).__name__)
        except (ClientTooSlow, Unavailable) as error:
            return self._ending(Outcome.CANCELLED, error=error.public, code=type(error).__name__)
        except asyncio.CancelledError:
            forgive_cancellation()
            return self._stopped()
        sentence = truncation(self._finish)
        if sentence is not None:
            return self._ending(Outcome.TRUNCATED, error=sentence, code="truncated")
        return self._ending(Outcome.COMPLETED)

    def _failure(self, error: RunError) -> str:
        """What an operator reads of a failure: no words of the question, the provider or a key."""
        spec = self._answerer.spec if self._answerer else None
        provider = f"provider {spec.provider.name!r}" if spec else "no provider"
        return f"run {self.id} failed: {provider}, {type(error).__name__}"

    async def _stream(self) -> None:
        answerer = self._answerer
        if answerer is None:
            raise NotReady(self.question.live.problem)
        user = self.question.user
        engine_input = EngineInput(
            spec=answerer.spec,
            query=self.question.query,
            provider=answerer.provider,
            now=self.started_at,
            trace_id=self.question.ids.trace_id,
            chat_id=self.question.ids.chat_id,
            signing_key=signing_key(),
            older_keys=older_signing_keys(),
            recall=self._recall,
            fetch=Egress(settings.FETCH_ALLOW).fetch,
            user_id=user.id if user else "",
            user_email=(user.email or None) if user else None,
            told_user=named(user, settings.USER_UPSTREAM),
            principal=self.question.caller.principal,
            size=self.question.size,
            witness=self._watch.witness,
        )
        async with aclosing(answer(engine_input)) as outputs:
            async for output in outputs:
                self._take(output)
                if self.outbox.full:
                    await self._wait_for_client()

    def _take(self, output: Output) -> None:
        if isinstance(output, MessageChunk):
            self.recorder.add(output, at_ms=0)
            self.speaker.text(output.delta)
            if self._ttft_ms is None:
                self._ttft_ms = self._elapsed_ms()
            return
        match output:
            case Finish():
                self._finish = output
                self.speaker.hold()
            case FunctionCall():
                self._watch.client_called(output.function, output.input_arguments)
                self.speaker.hold()
                self._say(output)
            case Event():
                self._say(output)
            case _:
                pass  # for the transcript only
        # After it was said: what cannot be said does not spoil the record of what was.
        self.recorder.add(output, at_ms=self._elapsed_ms())

    def _say(self, event: Event) -> None:
        if self._ttft_ms is None:
            self._ttft_ms = self._elapsed_ms()
        self.speaker.event(event)

    def _tell(self, sentence: str) -> None:
        """Says a failure, and nothing after it leaves before the run is kept."""
        self.speaker.hold()
        for event in self._words_of(sentence):
            self.recorder.add(event, at_ms=self._elapsed_ms())
            self.speaker.event(event)

    def _words_of(self, sentence: str) -> tuple[Event, ...]:
        """A failure in words, in a paragraph of its own behind the text there is."""
        gap = (MessageChunk("\n\n"),) if self.recorder.text_bytes else ()
        return (*gap, *warning_events(sentence))

    async def _wait_for_client(self) -> None:
        try:
            async with asyncio.timeout(SLOW_CLIENT_SECONDS):
                await self.outbox.drained()
        except TimeoutError:
            raise ClientTooSlow(
                f"The client read nothing for {SLOW_CLIENT_SECONDS:.0f} seconds."
            ) from None

    def _stopped(self) -> Ending:
        match self._stop:
            case Stop.CLIENT_GONE:
                return self._ending(Outcome.CANCELLED)
            case Stop.NOT_ACCEPTED:
                return self._ending(
                    Outcome.CANCELLED, error=JournalDown().public, code=JournalDown.code
                )
            case Stop.COPILOT_DELETED:
                self._tell(DELETED)
                return self._ending(Outcome.FAILED, error=DELETED, code="copilot-deleted")
            case Stop.KEY_REVOKED:
                self._tell(REVOKED)
                return self._ending(Outcome.FAILED, error=REVOKED, code="key-revoked")
            case Stop.CRASH:
                self._tell(CRASHED)
                return self._crash()
            case _:  # a shutdown, or an event loop that ends
                self._tell(RESTARTING)
                return self._ending(Outcome.INTERRUPTED, error=RESTARTING, code="shutdown")

    def _crash(self) -> Ending:
        return self._ending(Outcome.CRASHED, error=CRASHED, code="crash")

    def _ending(self, outcome: Outcome, *, error: str = "", code: str = "") -> Ending:
        return Ending(
            outcome=outcome,
            ms=self._elapsed_ms(),
            ttft_ms=self._ttft_ms,
            error=error,
            error_code=code,
        )

    def _elapsed_ms(self) -> int:
        return int((self._loop.time() - self._started) * 1000)

    def tick(self) -> None:
        """Once a second: silence is broken, what was streamed is made safe, viewers are told."""
        if self._done:
            return
        _TICKING.join(self, self._loop)
        try:
            self._checkpoint()
        except Exception:  # a run's boundary (ADR 1): no other run misses its tick
            logger.exception("run %s crashed at a checkpoint", self.id)
            self.stop(Stop.CRASH)

    def _checkpoint(self) -> None:
        self.speaker.break_silence()
        piece = self.recorder.unsaved()
        if piece is not None:
            JOURNAL.checkpoint(self.id, piece)
            self.announce(TurnChange.PROGRESS)


def _tick_all(runs: Sequence[ActiveRun]) -> None:
    """Lets all runs tick in one turn of the loop, so that their checkpoints are one commit."""
    for run in runs:
        run.tick()


_TICKING = Ticker(TICK_SECONDS, _tick_all)
RUNNING: set[ActiveRun] = set()


def signing_key() -> bytes:
    """The key that signs what travels through the client."""
    return _signing_key(settings.SECRET_KEY)


def older_signing_keys() -> tuple[bytes, ...]:
    """The keys that signed it before, oldest first: clients bring it back for a day."""
    return tuple(map(_signing_key, reversed(settings.SECRET_KEY_FALLBACKS)))


def _signing_key(secret: str) -> bytes:
    return hashlib.sha256(b"extra-state:" + secret.encode()).digest()


def _noted(query: Query, notes: Sequence[str]) -> Query:
    said = tuple(filter(None, notes))
    return replace(query, notes=(*query.notes, *said)) if said else query
