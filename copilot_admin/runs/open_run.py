"""Open runs, send their frames to the server, and end them for external reasons.

A run is two tasks. The run task calls the agent, fills the send buffer and stores the run. The
generator that the server iterates only empties the send buffer: it may be cancelled with its client
at any moment, and the run task decides how to react.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
import threading
from typing import TypeVar

from copilot_admin.copilots.callers import switched_off, valid_keys
from copilot_admin.copilots.live import being_deleted
from copilot_admin.errors import RequestError, Unavailable
from copilot_admin.limits.admission import Admission, LimitExceeded, admit_request
from copilot_admin.runs.query_context import AdmittedQuery, run_facts
from copilot_admin.runs.run import RUNNING, ActiveRun
from copilot_admin.runs.tasks import CancelReason
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import READER, WRITER, Deadline
from copilot_admin.telemetry.finished_runs import report_rejected_run
from copilot_admin.transcripts.store.run_start import AcceptedRun, Rejection
from copilot_admin.transcripts.store.transcript_store import STORE, beat, reap

T = TypeVar("T")
DRAINING = threading.Event()  # set: further questions are rejected, running answers continue


async def open_run(question: AdmittedQuery, deadline: Deadline | None = None) -> ActiveRun:
    """Start answering; when it returns, the run is committed.

    The first write runs concurrently with the call of the model, so the first token hides the
    latency of the commit.

    Raises:
        Unavailable: The server is draining, or the database can't store the run.
        LimitExceeded: A limit is reached.
    """
    deadline = deadline or Deadline()
    if DRAINING.is_set():
        text = "The server is restarting. Ask again in a few seconds."
        error = Unavailable(text, code="draining")
        _reject(question, error, limit="draining")
        raise error
    run = ActiveRun(question, await _admit(question, deadline))
    accepted: AcceptedRun | None = None
    reason = CancelReason.CLIENT_LEFT
    try:
        async with deadline.limit():
            accepted = await asyncio.shield(run.acceptance)
    except DatabaseUnavailable as error:
        reason = CancelReason.NOT_ACCEPTED
        run.acceptance.add_done_callback(partial(_report_unless_accepted, question, error))
        raise
    finally:
        if accepted is None:
            run.cancel(reason)
    return run


async def frames(run: ActiveRun) -> AsyncGenerator[bytes, None]:
    """Yield the frames of a run, and cancel it when its reader leaves."""
    try:
        async with aclosing(run.buffer.chunks()) as chunks:
            async for chunk in chunks:
                yield chunk
    finally:
        run.cancel(CancelReason.CLIENT_LEFT)


async def interrupt_all() -> None:
    """End every run with a message to its client, and wait until all are stored."""
    runs = tuple(RUNNING)
    for run in runs:
        run.cancel(CancelReason.SHUTDOWN)
    if runs:
        await asyncio.wait([run.task for run in runs])


async def end_revoked() -> None:
    keys = {run: run.question.caller.key_id for run in RUNNING}
    await _end_those_of(CancelReason.KEY_REVOKED, keys, lambda ids: ids - valid_keys(ids))


async def end_of_disabled_users() -> None:
    """End the trials of builders whose accounts were disabled."""
    callers = {run: run.question.caller for run in RUNNING}
    trials = {run: caller.principal for run, caller in callers.items() if caller.is_trying}
    await _end_those_of(CancelReason.USER_DISABLED, trials, switched_off)


async def end_deleted() -> None:
    copilots = {run: run.question.live.id for run in RUNNING}
    await _end_those_of(CancelReason.COPILOT_DELETED, copilots, being_deleted)


async def _end_those_of(
    reason: CancelReason,
    owners: Mapping[ActiveRun, T | None],
    find_ended: Callable[[frozenset[T]], frozenset[T]],
) -> None:
    ids = frozenset(owner for owner in owners.values() if owner is not None)
    ended = await READER.run(partial(find_ended, ids)) if ids else ids
    for run, owner in owners.items():
        if owner in ended:
            run.cancel(reason)


async def send_heartbeats() -> None:
    if RUNNING:
        await WRITER.run(partial(beat, tuple(run.id for run in RUNNING)))


async def end_orphaned_runs() -> None:
    """End runs of dead processes, and stored runs that this process never learned of."""
    running = frozenset(run.id for run in RUNNING)
    while await WRITER.run(partial(reap, every_other_boot=False, alive=running)):
        pass


async def _admit(question: AdmittedQuery, deadline: Deadline) -> Admission:
    try:
        run_id = str(question.ids.run_id)
        return await admit_request(question.identity, id=run_id, deadline=deadline)
    except LimitExceeded as error:
        _reject(question, error, limit=error.rule.kind.key)
        raise


def _reject(question: AdmittedQuery, error: RequestError, *, limit: str) -> None:
    _report(question, error, has_row=True)
    rejection = Rejection(
        run_id=question.ids.run_id,
        copilot_id=question.live.id,
        version_id=question.live.version_id,
        logging=question.live.logging,
        principal=question.caller.principal,
        started_at=datetime.now(UTC),
        generation=question.query.generation,
        error=error.public,
        error_code=error.code,
        user=question.user,
    )
    REJECTED_RUNS.add(rejection, limit=limit)


def _report_unless_accepted(
    question: AdmittedQuery, error: RequestError, acceptance: asyncio.Future[AcceptedRun]
) -> None:
    if acceptance.cancelled() or acceptance.exception() is not None:
        _report(question, error)


def _report(question: AdmittedQuery, error: RequestError, *, has_row: bool = False) -> None:
    facts = run_facts(question)
    received = question.received_at
    report_rejected_run(error, ids=question.ids, received=received, has_row=has_row, **facts)


_Key = tuple[int, str, str, str]


class RejectedRuns(dict[_Key, Rejection]):
    """One rejected run for each caller, user and limit, until the next batch is stored."""

    def add(self, rejection: Rejection, *, limit: str) -> None:
        user = rejection.user.id if rejection.user else ""
        key = (rejection.copilot_id, rejection.principal, user, limit)
        known = self.get(key)
        self[key] = replace(rejection, times=known.times + rejection.times) if known else rejection

    async def store(self) -> None:
        """Store the rejections since the last call; those that can't be stored wait for the next one."""
        pending = dict(self)
        self.clear()
        if not pending:
            return
        try:
            await STORE.reject(tuple(pending.values()))
        except Unavailable:
            for key, rejection in pending.items():
                self.add(rejection, limit=key[-1])
            raise


REJECTED_RUNS = RejectedRuns()
