"""Transcript store for runs: committed before the first byte, finished before the last."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import islice
import logging
import os
from pathlib import Path
from typing import TypeVar, cast
from uuid import UUID

from django import db
from django.db import DataError, IntegrityError, transaction
from pydantic import TypeAdapter

from copilot_admin.models import Blob
from copilot_admin.pricing.cost import UNKNOWN_COST, Cost
from copilot_admin.storage.errors import REFUSALS, DatabaseUnavailable
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import WRITER, Deadline, Writer
from copilot_admin.transcripts.store import checkpoints, end_rows, run_start
from copilot_admin.transcripts.store.recorder import Piece, RunEnd
from copilot_admin.transcripts.store.run_start import AcceptedRun, Rejection, RunStart
from protocol.json import JsonObject

# Hashing and packing 32 kB needs about 0.5 ms; bigger requests are prepared in a thread.
MAX_INLINE_BYTES = 32 * 1024
PROBE_BYTES = 64 * 1024  # the size of a long answer
_PROBE_KEY = "probe"  # not a hash, so no blob has this key
MAX_REPLAYED_RUNS = 50  # of one job, which delays requests
_RUN_END = TypeAdapter(RunEnd)

T = TypeVar("T")
logger = logging.getLogger(__name__)


class TranscriptStore:
    """Stores runs on the writer's thread; DatabaseUnavailable if the database can't take one."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._is_failing = False

    @property
    def problem(self) -> str:
        """Reason for which runs can't be stored at the moment; empty if they can."""
        return "the last write to the database failed" if self._is_failing else ""

    async def accept(self, start: RunStart) -> AcceptedRun:
        """Store conversation, messages, turn and run; they are committed when it returns."""
        if start.size <= MAX_INLINE_BYTES and not start.redaction.expressions:
            prepared = run_start.prepare(start)
        else:
            prepared = await asyncio.to_thread(run_start.prepare, start)
        return await self._write(partial(run_start.accept, prepared))

    async def reject(self, rejections: Sequence[Rejection]) -> None:
        """Store requests that were rejected."""
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
        """Store how a run ended, in the database or in the spool; return the cost, if known.

        None if both fail; the reaper ends the run later.
        """
        try:
            return await self._write(partial(end_rows.finish, end)) or UNKNOWN_COST
        except DatabaseUnavailable as error:
            # Only the class: the driver's message quotes the values of its parameters.
            cause = type(error.__cause__).__name__
            logger.warning("run %s goes to the spool: %s", end.run_id, cause)
        try:
            await asyncio.to_thread(SPOOL.put, end.run_id, end_to_json(end))
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


STORE = TranscriptStore(WRITER)


def end_to_json(end: RunEnd) -> JsonObject:
    return cast(JsonObject, _RUN_END.dump_python(end, mode="json"))


def end_from_json(data: JsonObject) -> RunEnd:
    """Parse what `end_to_json` returned; ValueError for another format."""
    return _RUN_END.validate_python(data)


def replay_spool(*, limit: int = MAX_REPLAYED_RUNS) -> int:
    """Store the ends of some spooled runs; return their number. At a start, call it before `reap`.

    A file is removed when its run is committed. One that can't be read or stored is set aside. Only
    one of several processes with the same spool does it at a time.
    """
    with SPOOL.lock() as is_locked:
        entries = SPOOL.entries() if is_locked else ()
        return sum(_replay(path, entry) for path, entry in islice(entries, limit))


def _replay(path: Path, entry: JsonObject) -> bool:
    try:
        with transaction.atomic():
            is_stored = end_rows.finish(end_from_json(entry)) is not None
    except (ValueError, OverflowError, DataError, IntegrityError) as error:
        logger.warning("the spooled run %s was set aside: %s", path.stem, type(error).__name__)
        SPOOL.reject(path)
        return False
    transaction.on_commit(partial(SPOOL.remove, path))
    return is_stored
