"""The use case: opens a run for a question, pumps its frames, ends all runs at a shutdown.

A run is two tasks. The run task talks to the engine, fills the outbox and writes the journal; the
generator that the server iterates is only a pump over the outbox. The pump may die with its client
at any moment; the run task decides what that means.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
import threading

from django.conf import settings

from copilot_admin.copilots.callers import switched_off, valid_keys
from copilot_admin.copilots.live import being_deleted
from copilot_admin.copilots.users import named
from copilot_admin.errors import RequestError, Unavailable
from copilot_admin.limits.admission import Admission, LimitExceeded, admit_request
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.refused import REFUSED
from copilot_admin.runs.run import RUNNING, ActiveRun
from copilot_admin.runs.tasks import Stop
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import READER, WRITER, Deadline
from copilot_admin.telemetry.finished_runs import report_rejected_run
from copilot_admin.transcripts.store import (
    JOURNAL,
    PREPARE_INLINE_BYTES,
    Accepted,
    Refusal,
    beat,
    reap,
)

_draining = threading.Event()


async def open_run(question: AdmittedQuery, deadline: Deadline | None = None) -> ActiveRun:
    """Starts answering; when it returns, the run is in the journal.

    The first write and the call to the model start together, so the commit hides behind the
    model's first token.

    Args:
        question: What is asked.
        deadline: What is left of that of the request, which has read already.

    Raises:
        Unavailable: The server is draining, or the journal cannot take the run.
        LimitExceeded: A limit is reached.
    """
    deadline = deadline or Deadline()
    if is_draining():
        error = Unavailable(
            "The server is restarting. Ask again in a few seconds.", code="draining"
        )
        _tell(question, error)
        await JOURNAL.refuse(_refusal(question, error), deadline)
        raise error
    run = ActiveRun(question, await _admitted(question, deadline))
    accepted: Accepted | None = None
    reason = Stop.CLIENT_GONE
    try:
        if question.size > PREPARE_INLINE_BYTES:  # which may take seconds of a million numbers
            await run.prepared()
        async with deadline.limit():
            accepted = await asyncio.shield(run.acceptance)
    except DatabaseUnavailable as error:
        reason = Stop.NOT_ACCEPTED
        run.acceptance.add_done_callback(partial(_tell_unless_accepted, question, error))
        raise
    finally:
        if accepted is None:
            run.stop(reason)
    return run


async def frames(run: ActiveRun) -> AsyncGenerator[bytes, None]:
    """The pump: hands the frames of a run to the server, and tells the run when nobody reads."""
    try:
        async with aclosing(run.outbox.taken()) as waiting:
            async for piece in waiting:
                yield piece
    finally:
        run.stop(Stop.CLIENT_GONE)


def start_draining() -> None:
    """Lets no further question in; those being answered go on."""
    _draining.set()


def stop_draining() -> None:
    """Lets questions in again (a server starts in a process that drained before)."""
    _draining.clear()


def is_draining() -> bool:
    return _draining.is_set()


async def interrupt_all() -> None:
    """Ends every run with a sentence to its client, and waits until the journal has it."""
    runs = tuple(RUNNING)
    for run in runs:
        run.stop(Stop.SHUTDOWN)
    if runs:
        await asyncio.wait([run.task for run in runs])


async def end_revoked() -> None:
    """Ends the runs of keys that no longer open anything; reads the database if any has a key."""
    keyed = {run: run.question.caller.key_id for run in RUNNING if run.question.caller.key_id}
    if not keyed:
        return
    valid = await READER.run(partial(valid_keys, frozenset(keyed.values())))
    for run, key_id in keyed.items():
        if key_id not in valid:
            run.stop(Stop.KEY_REVOKED)


async def end_of_switched_off() -> None:
    """Ends the trials of builders whose accounts were switched off; reads the database if anybody tries."""
    callers = {run: run.question.caller for run in RUNNING}
    trying = {run: one.principal for run, one in callers.items() if one.is_trying}
    if not trying:
        return
    gone = await READER.run(partial(switched_off, frozenset(trying.values())))
    for run, principal in trying.items():
        if principal in gone:
            run.stop(Stop.SWITCHED_OFF)


async def end_deleted() -> None:
    """Ends the runs of copilots that are being deleted; reads the database if anything runs."""
    asked = {run: run.question.live.id for run in RUNNING}
    if not asked:
        return
    going = await READER.run(partial(being_deleted, frozenset(asked.values())))
    for run, copilot_id in asked.items():
        if copilot_id in going:
            run.stop(Stop.COPILOT_DELETED)


async def send_heartbeats() -> None:
    """Note that the runs of this process are alive."""
    if RUNNING:
        await WRITER.run(partial(beat, tuple(run.id for run in RUNNING)))


async def end_orphaned_runs() -> None:
    """End runs of dead processes, and runs that the database has although this process was not told."""
    running = frozenset(run.id for run in RUNNING)
    while await WRITER.run(partial(reap, every_other_boot=False, alive=running)):
        pass


async def _admitted(question: AdmittedQuery, deadline: Deadline) -> Admission:
    try:
        run_id = str(question.ids.run_id)
        return await admit_request(question.identity, id=run_id, deadline=deadline)
    except LimitExceeded as error:
        _tell(question, error, has_row=True)
        await REFUSED.note(_refusal(question, error), limit=error.rule.kind.key)
        raise


def _tell(question: AdmittedQuery, error: RequestError, *, has_row: bool = False) -> None:
    report_rejected_run(
        error,
        ids=question.ids,
        received=question.came,
        copilot=question.live.slug,
        version=question.live.version_number,
        caller=question.caller.principal,
        user=named(question.user, settings.USER_IN_LOGS),
        is_trial=question.caller.is_trying,
        generation=question.query.generation,
        has_row=has_row,
    )


def _tell_unless_accepted(
    question: AdmittedQuery, error: RequestError, acceptance: asyncio.Future[Accepted]
) -> None:
    if acceptance.cancelled() or acceptance.exception() is not None:
        _tell(question, error)


def _refusal(question: AdmittedQuery, error: RequestError) -> Refusal:
    return Refusal(
        run_id=question.ids.run_id,
        copilot_id=question.live.id,
        version_id=question.live.version_id,
        version_number=question.live.version_number,
        logging=question.live.logging,
        principal=question.caller.principal,
        started_at=datetime.now(UTC),
        generation=question.query.generation,
        error=error.public,
        error_code=error.code,
        user=question.user,
    )
