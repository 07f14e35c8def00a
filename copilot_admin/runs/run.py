"""One running query: call the agent, stream the answer to the client, store the run."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
import logging
from weakref import WeakSet

from copilot_admin.agent.llm.finish_reasons import truncation
from copilot_admin.agent.loop import answer
from copilot_admin.agent.values.answer_request import StoredTurn
from copilot_admin.agent.values.model_call import Usage
from copilot_admin.errors import NotReady, RunError, Unavailable, strip_traceback
from copilot_admin.limits.admission import Admission
from copilot_admin.limits.rules import to_nano_dollars
from copilot_admin.limits.usage import Usage as LimitUsage
from copilot_admin.models import Logging, Outcome
from copilot_admin.pricing.cost import Cost, calculate_run_cost
from copilot_admin.runs.live_updates import TurnChange, broadcast, may_have_viewers
from copilot_admin.runs.query_context import (
    AdmittedQuery,
    build_answer_request,
    observe_run,
    run_start_of,
)
from copilot_admin.runs.run_output import RunOutput
from copilot_admin.runs.tasks import (
    CLIENT_UNREACHABLE,
    CRASHED,
    CancelReason,
    clear_cancellation,
    spawn,
)
from copilot_admin.storage.writer import READER
from copilot_admin.transcripts.store.recorder import Ending, Piece, RunEnd, sum_usages
from copilot_admin.transcripts.store.run_start import AcceptedRun
from copilot_admin.transcripts.store.transcript_store import STORE

CHECKPOINT_SECONDS = 1.0  # the maximum loss of an answer when the process is killed
NOT_STORED = (
    "The answer could not be recorded, because the server cannot write at the moment. "
    "Do not rely on it, and ask again in a few minutes."
)
NOT_STORED_CODE = "not-kept"
DELIVERED = frozenset({Outcome.COMPLETED, Outcome.TRUNCATED})

logger = logging.getLogger(__name__)


class ActiveRun:
    """One running query; lives in the event loop that opened it."""

    def __init__(self, question: AdmittedQuery, admission: Admission | None = None) -> None:
        self.question = question
        self.id = question.ids.run_id
        self.loop = asyncio.get_running_loop()
        self._admission = admission or Admission()
        live = question.live.answerer
        self._answerer = live.for_query(question.query) if live else None
        self._cancel_reason: CancelReason | None = None
        self._is_answered = False
        self._start = run_start_of(question, self._answerer, started_at=datetime.now(UTC))
        self._observer = observe_run(question, self._start, answerer=self._answerer)
        self._output = RunOutput(question, observer=self._observer)
        self.buffer = self._output.buffer  # frames that the client has not read yet
        self.acceptance = spawn(STORE.accept(self._start), name=f"accept {self.id}")
        self.acceptance.add_done_callback(self._observer.mark_stored)
        self.acceptance.add_done_callback(self._broadcast_start)
        self.task = spawn(self._run(), name=f"run {self.id}")

    def cancel(self, reason: CancelReason) -> None:
        """End the run early: close the model's stream immediately and record the reason."""
        if self._cancel_reason is not None:
            return
        if not self._is_answered:
            self._cancel_reason = reason
            self.task.cancel()
        elif reason in CLIENT_UNREACHABLE and not self.acceptance.done():
            self._cancel_reason = reason  # the answer is complete but can't be delivered

    def cancel_from_any_thread(self, reason: CancelReason) -> None:
        """Like `cancel`, for callers outside of the event loop."""
        if not self._is_answered and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.cancel, reason)

    def take_checkpoint(self) -> Piece | None:
        """Every second: send a keep-alive if due, notify open pages and return new output."""
        if self._is_answered:
            return None
        try:
            self._output.buffer.send_keepalive()
            piece = self._output.recorder.take_unsaved() if self.acceptance.done() else None
            if piece is not None:
                self._broadcast(TurnChange.PROGRESS)
        except Exception:  # a run's boundary (ADR 1): other runs get their checkpoints
            logger.exception("run %s crashed at a checkpoint", self.id)
            self.cancel(CancelReason.CRASH)
            return None
        return piece

    async def _run(self) -> None:
        RUNNING.add(self)
        _start_checkpoints(self.loop)
        try:
            await self._store_end(await self._answer())
        except Exception as error:  # a run's boundary (ADR 1): storing and sending broke
            logger.exception("run %s crashed and is kept without its content", self.id)
            strip_traceback(error)
            await self._store_crash()
        finally:
            self.buffer.close()
            RUNNING.discard(self)
            if self._admission.is_open:
                spawn(self._admission.end(), name=f"leave {self.id}")

    async def _answer(self) -> Ending:
        output = self._output
        try:
            await self._stream()
        except RunError as error:
            strip_traceback(error)
            spec = self._answerer.spec if self._answerer else None
            provider = f"provider {spec.provider.name!r}" if spec else "no provider"
            code = type(error).__name__
            keeps_words = self.question.live.logging is Logging.EVERYTHING
            words = f": {error.detail}" if error.detail and keeps_words else ""
            logger.warning("run %s failed: %s, %s%s", self.id, provider, code, words)
            output.add_failure(error.public)
            notes = (f"The provider's words: {error.detail}",) if error.detail else ()
            return output.ending(Outcome.FAILED, error=error.public, code=code, notes=notes)
        except Unavailable as error:
            strip_traceback(error)
            return output.ending(Outcome.CANCELLED, error=error.public, code=type(error).__name__)
        except asyncio.CancelledError:
            clear_cancellation()
            return self._terminate(self._cancel_reason or CancelReason.SHUTDOWN)
        except Exception as error:  # a run's boundary (ADR 1): the answer broke
            logger.exception("run %s crashed", self.id)
            strip_traceback(error)
            return self._terminate(CancelReason.CRASH)
        sentence = truncation(output.finish_reason)
        if sentence is not None:
            return output.ending(Outcome.TRUNCATED, error=sentence, code="truncated")
        return output.ending(Outcome.COMPLETED)

    async def _stream(self) -> None:
        if self._answerer is None:
            raise NotReady(self.question.live.problem)
        answer_request = build_answer_request(
            self.question,
            self._answerer,
            now=self._start.started_at,
            load_stored_turn=self._load_stored_turn,
            tracer=self._observer.tracer,
        )
        await answer(answer_request, self._output.add)

    async def _load_stored_turn(self) -> StoredTurn:
        return (await asyncio.shield(self.acceptance)).stored_turn

    def _terminate(self, reason: CancelReason) -> Ending:
        if reason not in CLIENT_UNREACHABLE:
            self._output.add_failure(reason.sentence)
        return self._ending_of(reason)

    def _ending_of(self, reason: CancelReason) -> Ending:
        return self._output.ending(reason.outcome, error=reason.sentence, code=reason.code)

    async def _store_end(self, ending: Ending) -> None:
        self._is_answered = True
        if not await self._is_accepted():
            return
        if self._cancel_reason in CLIENT_UNREACHABLE and ending.outcome in DELIVERED:
            ending = self._ending_of(self._cancel_reason)
        output = self._output
        end = await output.finish(ending, run_id=self.id)
        self._observer.mark_finishing()
        cost = await STORE.finish(end)
        await self._charge(end, cost)
        if cost is not None:
            output.buffer.release()
            self._broadcast(TurnChange.FINISHED)
        else:
            output.append_failure(NOT_STORED)
            if ending.outcome in DELIVERED:
                ending = replace(ending, outcome=Outcome.FAILED, error_code=NOT_STORED_CODE)
        self._report_end(ending, end.usages, cost)

    async def _store_crash(self) -> None:
        self._is_answered = True
        if not await self._is_accepted():
            return
        crash = self._ending_of(CancelReason.CRASH)
        try:
            await STORE.finish(await self._output.finish(crash, run_id=self.id, is_broken=True))
            self._broadcast(TurnChange.FINISHED)
        finally:
            self._output.append_failure(CRASHED)
            self._report_end(crash, (), None)

    async def _is_accepted(self) -> bool:
        if self.acceptance.done():
            await asyncio.sleep(0)  # let its callbacks broadcast the start first
        else:
            await asyncio.wait({self.acceptance})
        return not self.acceptance.cancelled() and self.acceptance.exception() is None

    async def _charge(self, end: RunEnd, cost: Cost | None) -> None:
        """Charge limits and budgets before the last frame, so that the next request counts it."""
        if not self._admission.is_open:
            return
        if (cost is None or cost.amount is None) and self._admission.counts_money:
            calculate = partial(
                calculate_run_cost,
                end.usages,
                provider=end.provider or self._start.provider,
                model=end.model or self._start.model,
                at=self._start.started_at,
                outcome=end.ending.outcome,
            )
            with suppress(Unavailable):  # the cost remains unknown
                cost = (await READER.run(calculate)).cost
        tokens = sum(one.input_tokens + one.output_tokens for one in end.usages)
        amount = cost.amount if cost else None
        nano_usd = 0 if amount is None else to_nano_dollars(amount)
        usage = LimitUsage(tokens=tokens, nano_usd=nano_usd, unpriced=int(amount is None))
        await self._admission.end(usage)

    def _report_end(self, ending: Ending, usages: Sequence[Usage], cost: Cost | None) -> None:
        self._observer.finish(
            outcome=ending.outcome,
            error_code=ending.error_code,
            ms=ending.ms,
            first_ms=ending.ttft_ms,
            usage=sum_usages(usages) if usages else None,
            cost=cost.amount if cost else None,
            cost_confidence=cost.confidence if cost else None,
        )

    def _broadcast_start(self, acceptance: asyncio.Future[AcceptedRun]) -> None:
        if not acceptance.cancelled() and acceptance.exception() is None:
            self._broadcast(TurnChange.STARTED)

    def _broadcast(self, change: TurnChange) -> None:
        accepted = self.acceptance.result()
        conversation_id, turn_id = accepted.conversation_id, accepted.turn_id
        if conversation_id is None or turn_id is None or not may_have_viewers(conversation_id):
            return
        sending = broadcast(conversation_id, turn_id=turn_id, kind=change)
        spawn(sending, name=f"broadcast {self.id}")


RUNNING: set[ActiveRun] = set()
_checkpointing: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


def _start_checkpoints(loop: asyncio.AbstractEventLoop) -> None:
    if loop not in _checkpointing:
        _checkpointing.add(loop)
        loop.call_later(CHECKPOINT_SECONDS, _save_checkpoints, loop)


def _save_checkpoints(loop: asyncio.AbstractEventLoop) -> None:
    """Save the checkpoints of all runs with one job, so that they are one commit."""
    runs = [run for run in RUNNING if run.loop is loop]
    taken = {run.id: run.take_checkpoint() for run in runs}
    pieces = {run_id: piece for run_id, piece in taken.items() if piece is not None}
    if pieces:
        STORE.checkpoint(pieces)
    if runs:
        loop.call_later(CHECKPOINT_SECONDS, _save_checkpoints, loop)
    else:
        _checkpointing.discard(loop)
