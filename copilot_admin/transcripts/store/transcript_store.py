"""Transcript store for runs: committed before the first byte, finished before the last."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
import logging
import os
from typing import TypeVar
from uuid import UUID

from django import db

from copilot_admin.models import Blob
from copilot_admin.pricing.cost import UNKNOWN_COST, Cost
from copilot_admin.storage.errors import REFUSALS, DatabaseUnavailable
from copilot_admin.storage.spool import SPOOL, Spool
from copilot_admin.storage.writer import WRITER, Deadline, Writer
from copilot_admin.transcripts.store import checkpoints, end_rows, run_start
from copilot_admin.transcripts.store.recorder import Piece
from copilot_admin.transcripts.store.run_end import RunEnd
from copilot_admin.transcripts.store.run_start import AcceptedRun, Rejection, RunStart
from copilot_admin.transcripts.store.spooled_runs import spool_end

# Hashing and packing 32 kB needs about 0.5 ms; bigger requests are prepared in a thread.
MAX_INLINE_BYTES = 32 * 1024
PROBE_BYTES = 64 * 1024  # the size of a long answer
_PROBE_KEY = "probe"  # not a hash, so no blob has this key

T = TypeVar("T")
logger = logging.getLogger(__name__)


class TranscriptStore:
    """Stores runs; used in the event loop, works on the writer's thread."""

    def __init__(self, writer: Writer, spool: Spool) -> None:
        self._writer = writer
        self._spool = spool
        self._is_failing = False

    @property
    def problem(self) -> str:
        """Reason for which runs can't be stored at the moment; empty if they can."""
        return "the last write to the database failed" if self._is_failing else ""

    async def accept(self, start: RunStart) -> AcceptedRun:
        """Store conversation, messages, turn and run; they are committed when it returns.

        Raises:
            DatabaseUnavailable: The database can't store the run.
        """
        if start.size <= MAX_INLINE_BYTES and not start.redaction.expressions:
            prepared = run_start.prepare(start)
        else:
            prepared = await asyncio.to_thread(run_start.prepare, start)
        return await self._write(partial(run_start.accept, prepared))

    async def reject(self, rejections: Sequence[Rejection]) -> None:
        """Store requests that were rejected.

        Raises:
            DatabaseUnavailable: The database can't store them.
        """
        async with Deadline().limit():
            await self._write(partial(run_start.reject, rejections))

    def checkpoint(self, pieces: Mapping[UUID, Piece]) -> None:
        """Store output of runs since their last checkpoints soon; never raises."""
        try:
            job = self._writer.submit(partial(checkpoints.save_checkpoints, pieces))
        except DatabaseUnavailable:
            logger.warning("too many writes wait for the checkpoints of %d runs", len(pieces))
        else:
            job.add_done_callback(self._log_checkpoint)

    async def finish(self, end: RunEnd) -> Cost | None:
        """Store how a run ended, in the database or in the spool.

        Returns:
            The cost, unknown if it is spooled. None if both fail; the reaper ends the run later.
        """
        try:
            return await self._write(partial(end_rows.finish, end)) or UNKNOWN_COST
        except DatabaseUnavailable as error:
            # Only the class: the driver's message quotes the values of its parameters.
            cause = type(error.__cause__).__name__
            logger.warning("run %s goes to the spool: %s", end.run_id, cause)
        try:
            await asyncio.to_thread(spool_end, end, self._spool)
        except OSError as error:
            logger.critical("neither database nor spool takes run %s: %s", end.run_id, error)
            return None
        return UNKNOWN_COST

    async def check_health(self) -> None:
        """After a failed write, check if the database accepts writes again."""
        if self._is_failing:
            with suppress(DatabaseUnavailable):  # until the next time
                await self._write(_probe)

    async def _write(self, job: Callable[[], T]) -> T:
        try:
            result = await self._writer.run(job)
        except (db.Error, DatabaseUnavailable) as error:
            self._note_failure(error)
            raise DatabaseUnavailable from error
        self._is_failing = False
        return result

    def _note_failure(self, error: BaseException) -> None:
        if not isinstance(error, REFUSALS):  # an invalid row doesn't concern the others
            self._is_failing = True

    def _log_checkpoint(self, done: Future[None]) -> None:
        error = done.exception()
        if error is not None:
            self._note_failure(error)
            logger.warning("checkpoint failed: %s", type(error).__name__)


def _probe() -> None:
    """Write the size of an answer and delete it; the commit needs space for both."""
    Blob.objects.filter(sha256=_PROBE_KEY).delete()
    Blob.objects.create(sha256=_PROBE_KEY, data=os.urandom(PROBE_BYTES), size=PROBE_BYTES)
    Blob.objects.filter(sha256=_PROBE_KEY).delete()


STORE = TranscriptStore(WRITER, SPOOL)
