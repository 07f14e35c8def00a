"""One query being answered: asked of the engine, said to the client, written to the journal."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
import logging
import weakref

from copilot_admin.agent.answer import answer
from copilot_admin.agent.llm.finish_reasons import truncation
from copilot_admin.agent.llm.ticker import Ticker
from copilot_admin.agent.values.engine_input import Recollection
from copilot_admin.agent.values.model_call import Usage
from copilot_admin.errors import ClientTooSlow, NotReady, RunError, Unavailable, strip_traceback
from copilot_admin.limits.admission import Admission
from copilot_admin.models import Logging, Outcome
from copilot_admin.pricing.cost import Cost, calculate_run_cost
from copilot_admin.runs.account import Account, observe_run
from copilot_admin.runs.live_updates import TurnChange, announce, may_be_watched
from copilot_admin.runs.query_context import AdmittedQuery, engine_input_of, opening_of
from copilot_admin.runs.sse_writer import Outbox
from copilot_admin.runs.tasks import (
    CRASHED,
    STOPPED,
    UNHEARD,
    Stop,
    forgive_cancellation,
    settle,
    spawn,
)
from copilot_admin.transcripts.store import JOURNAL, Accepted
from copilot_admin.transcripts.store.record import Ending
from copilot_admin.transcripts.store.token_sums import sum_of
from copilot_admin.transcripts.store.unkept import DELIVERED, NOT_KEPT, NOT_KEPT_CODE

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0  # between checkpoints: what a killed process may lose of an answer


class ActiveRun:
    """One question being answered; lives in the event loop that opened it."""

    def __init__(self, question: AdmittedQuery, admission: Admission | None = None) -> None:
        self.question = question
        self._admission = admission or Admission()
        self.id = question.ids.run_id
        self.started_at = datetime.now(UTC)
        live = question.live.answerer
        self._answerer = live.for_query(question.query) if live else None
        self._loop = asyncio.get_running_loop()
        self._stop: Stop | None = None
        self._done = False
        opening = opening_of(question, self._answerer, started_at=self.started_at)
        self._bill_of = partial(
            calculate_run_cost,
            provider=opening.provider,
            model=opening.model,
            at=opening.started_at,
        )
        self._watch = observe_run(question, opening, answerer=self._answerer)
        self._account = Account(
            generation=question.query.generation,
            keep_content=question.live.logging is Logging.EVERYTHING,
            watch=self._watch,
        )
        self._prepared = self._loop.create_future()
        # Not a method: what the journal raises keeps what it was given, and this run keeps the error.
        accepting = JOURNAL.accept(opening, prepared=partial(self._prepared.set_result, None))
        self.acceptance = spawn(accepting, name=f"accept {self.id}")
        self.acceptance.add_done_callback(self._watch.mark_stored)
        self.acceptance.add_done_callback(self._announce_started)
        self.task = spawn(self._conduct(), name=f"run {self.id}")

    @property
    def outbox(self) -> Outbox:
        """What the client has not read yet."""
        return self._account.outbox

    async def prepared(self) -> None:
        """Waits until nothing but the database is left to wait for, or its run is there or refused."""
        await asyncio.wait({self._prepared, self.acceptance}, return_when=asyncio.FIRST_COMPLETED)

    def stop(self, reason: Stop) -> None:
        """Ends the run early: the upstream is closed at once, the journal says why."""
        if self._stop is not None:
            return
        if not self._done:
            self._stop = reason
            self.task.cancel()
        elif reason in UNHEARD and not self.acceptance.done():
            self._stop = reason  # the answer is whole, and nobody will hear it

    def stop_from_any_thread(self, reason: Stop) -> None:
        """Like `stop`, for callers outside the event loop."""
        if not self._done and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.stop, reason)

    def announce(self, change: TurnChange) -> None:
        """Tells whoever watches the conversation that it changed; the journal has it by then."""
        accepted = self.acceptance.result()
        if accepted.conversation_id is None or accepted.turn_id is None:
            return
        if may_be_watched(accepted.conversation_id):
            spawn(
                announce(accepted.conversation_id, turn_id=accepted.turn_id, kind=change),
                name=f"announce {self.id}",
            )

    def _announce_started(self, acceptance: asyncio.Future[Accepted]) -> None:
        if not acceptance.cancelled() and acceptance.exception() is None:
            self.announce(TurnChange.STARTED)

    async def _recall(self) -> Recollection:
        return (await asyncio.shield(self.acceptance)).recollection

    async def _conduct(self) -> None:
        RUNNING.add(self)
        _TICKING.join(weakref.ref(self), self._loop)
        try:
            await self._conclude(await self._answer())
        except Exception as error:  # a run's boundary (ADR 1): what records and says it broke
            logger.exception("run %s crashed and is kept without its content", self.id)
            strip_traceback(error)
            await self._give_up()
        finally:
            self.outbox.close()
            RUNNING.discard(self)
            if self._admission.is_open:
                spawn(self._admission.end(), name=f"leave {self.id}")

    async def _conclude(self, ending: Ending) -> None:
        self._done = True
        if not await self._was_accepted():
            return
        if self._stop in UNHEARD and ending.outcome in DELIVERED:
            ending = self._end_of(self._stop)
        account = self._account
        record = await account.record(ending)
        self._watch.mark_finishing()
        kept = await JOURNAL.finish(self.id, record)
        cost = kept.cost if kept else None
        reckon = partial(self._bill_of, record.usages, outcome=ending.outcome)
        await settle(self._admission, record.usages, cost=cost, reckon=reckon)
        if kept:
            account.speaker.release()
            self.announce(TurnChange.FINISHED)
        else:
            account.speaker.discard()
            account.add_words(NOT_KEPT)
            if ending.outcome in DELIVERED:
                ending = replace(ending, outcome=Outcome.FAILED, error_code=NOT_KEPT_CODE)
        self._tell_ended(ending, sum_of(record.usages) if record.usages else None, cost)

    async def _give_up(self) -> None:
        self._done = True
        if not await self._was_accepted():
            return
        crash = self._end_of(Stop.CRASH)
        try:
            await JOURNAL.finish(self.id, self._account.recorder.ending_alone(crash))
            self.announce(TurnChange.FINISHED)
        finally:
            self._account.add_words(CRASHED)
            self._tell_ended(crash, None, None)

    def _tell_ended(self, ending: Ending, usage: Usage | None, cost: Cost | None) -> None:
        self._watch.finish(
            outcome=ending.outcome,
            error_code=ending.error_code,
            ms=ending.ms,
            first_ms=ending.ttft_ms,
            usage=usage,
            cost=cost.amount if cost else None,
            cost_confidence=cost.confidence if cost else None,
        )

    async def _was_accepted(self) -> bool:
        if self.acceptance.done():
            # What is called when it is known comes first, and tells who watches: it stands before this turn.
            await asyncio.sleep(0)
        else:
            await asyncio.wait({self.acceptance})
        return not self.acceptance.cancelled() and self.acceptance.exception() is None

    async def _answer(self) -> Ending:
        try:
            return await self._streamed()
        except Exception as error:  # a run's boundary (ADR 1): what answers it broke
            logger.exception("run %s crashed", self.id)
            strip_traceback(error)
            return self._stopped(Stop.CRASH)

    async def _streamed(self) -> Ending:
        account = self._account
        try:
            await self._stream()
        except RunError as error:
            logger.warning("%s", self._failure(strip_traceback(error)))
            account.tell(error.public)
            notes = (f"The provider's words: {error.detail}",) if error.detail else ()
            return account.ending(
                Outcome.FAILED, error=error.public, code=type(error).__name__, notes=notes
            )
        except (ClientTooSlow, Unavailable) as error:
            strip_traceback(error)
            return account.ending(Outcome.CANCELLED, error=error.public, code=type(error).__name__)
        except asyncio.CancelledError:
            forgive_cancellation()
            return self._stopped(self._stop or Stop.SHUTDOWN)  # or the event loop ends
        sentence = truncation(account.finish)
        if sentence is not None:
            return account.ending(Outcome.TRUNCATED, error=sentence, code="truncated")
        return account.ending(Outcome.COMPLETED)

    def _failure(self, error: RunError) -> str:
        spec = self._answerer.spec if self._answerer else None
        provider = f"provider {spec.provider.name!r}" if spec else "no provider"
        keeps_words = self.question.live.logging is Logging.EVERYTHING
        words = f": {error.detail}" if error.detail and keeps_words else ""
        return f"run {self.id} failed: {provider}, {type(error).__name__}{words}"

    async def _stream(self) -> None:
        if self._answerer is None:
            raise NotReady(self.question.live.problem)
        account = self._account
        engine_input = engine_input_of(
            self.question,
            self._answerer,
            now=self.started_at,
            recall=self._recall,
            witness=self._watch.witness,
        )
        async with aclosing(answer(engine_input)) as outputs:
            async for output in outputs:
                account.take(output)
                if account.outbox.full:
                    await account.wait_for_client()

    def _stopped(self, reason: Stop) -> Ending:
        if told := STOPPED[reason].told:
            self._account.tell(told)
        return self._end_of(reason)

    def _end_of(self, reason: Stop) -> Ending:
        end = STOPPED[reason]
        return self._account.ending(end.outcome, error=end.sentence, code=end.code)

    def tick(self) -> None:
        """Once a second: silence is broken, what was streamed is made safe, viewers are told."""
        if self._done:
            return
        _TICKING.join(weakref.ref(self), self._loop)
        try:
            self._checkpoint()
        except Exception:  # a run's boundary (ADR 1): no other run misses its tick
            logger.exception("run %s crashed at a checkpoint", self.id)
            self.stop(Stop.CRASH)

    def _checkpoint(self) -> None:
        self._account.speaker.break_silence()
        if not self.acceptance.done():  # no row that it could belong to
            return
        piece = self._account.recorder.unsaved()
        if piece is not None:
            JOURNAL.checkpoint(self.id, piece)
            self.announce(TurnChange.PROGRESS)


def _tick_all(runs: Sequence[weakref.ref[ActiveRun]]) -> None:
    """Lets all runs tick in one turn of the loop, so that their checkpoints are one commit.

    One that has ended is not kept for it, with a question of megabytes and its share of the room.
    """
    for known in runs:
        run = known()
        if run is not None:
            run.tick()


_TICKING = Ticker(TICK_SECONDS, _tick_all)
RUNNING: set[ActiveRun] = set()
