"""The journal as a run sees it: opened before the first byte, finished before the last."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
import logging
import threading
from typing import TypeVar
from uuid import UUID

from django import db
from django.utils import timezone

from copilot_admin.journal import checkpoints, finishing, opening
from copilot_admin.journal.recorder import Piece, Record, without_content
from copilot_admin.journal.sealing import Sealed, seal, to_json
from copilot_admin.journal.values import BOOT_ID, Accepted, Opening, Refusal
from copilot_admin.models import Logging
from copilot_admin.storage.database_thread import JournalDown
from copilot_admin.storage.spool import SPOOL, Spool
from copilot_admin.storage.writer import WRITER, Writer

__all__ = ["BOOT_ID", "JOURNAL", "Journal"]

# Hashing and packing 32 kB takes about 0.5 ms; what is bigger is done beside the event loop.
PREPARE_INLINE_BYTES = 32 * 1024

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Journal:
    """Keeps what happens; used in the event loop, works on the writer's thread."""

    def __init__(self, writer: Writer, spool: Spool) -> None:
        self._writer = writer
        self._spool = spool
        self._private: set[UUID] = set()  # runs of which no content may be stored
        self._lock = threading.Lock()  # guards the pieces that wait for the writer
        self._pieces: list[tuple[UUID, Piece]] = []

    async def accept(self, run: Opening) -> Accepted:
        """Stores conversation, messages, turn and run; they are committed when it returns.

        Raises:
            Unavailable: The database cannot take the run.
        """
        if run.logging is not Logging.EVERYTHING:
            self._private.add(run.run_id)
        if run.size <= PREPARE_INLINE_BYTES:
            prepared = opening.prepare(run)
        else:
            prepared = await asyncio.to_thread(opening.prepare, run)
        try:
            return await self._written(partial(opening.accept, prepared))
        except JournalDown:
            self._private.discard(run.run_id)
            raise

    async def refuse(self, refusal: Refusal) -> None:
        """Stores a request that was refused: a run without a turn.

        Raises:
            Unavailable: The database cannot take it.
        """
        await self._written(partial(opening.refuse, refusal))

    def checkpoint(self, run_id: UUID, piece: Piece) -> None:
        """Stores what was streamed since the last checkpoint, sometime soon; never raises."""
        if run_id in self._private:
            return
        with self._lock:
            waiting = self._pieces
            waiting.append((run_id, piece))
        if len(waiting) == 1 and not self._try(run_id, partial(self._store, waiting)):
            self._take(waiting)

    async def finish(self, run_id: UUID, record: Record) -> None:
        """Stores how a run ended; it is committed, or safe in the spool, when it returns."""
        if run_id in self._private:
            self._private.discard(run_id)
            record = without_content(record)
        sealed = seal(record, run_id=run_id, at=timezone.now())
        try:
            await self._writer.run(partial(finishing.finish, sealed))
        except (db.Error, JournalDown) as error:
            # Only the class: the driver's message quotes the values it was given.
            logger.warning("run %s goes to the spool: %s", run_id, type(error).__name__)
            await asyncio.to_thread(self._to_spool, sealed)

    def _store(self, pieces: list[tuple[UUID, Piece]]) -> None:
        """Stores what all runs have handed over by now, in one job; on the writer's thread."""
        self._take(pieces)
        checkpoints.store(pieces)

    def _take(self, pieces: list[tuple[UUID, Piece]]) -> None:
        """Lets no more be added to some pieces."""
        with self._lock:
            if self._pieces is pieces:
                self._pieces = []

    async def _written(self, job: Callable[[], T]) -> T:
        try:
            return await self._writer.run(job)
        except db.Error as error:
            raise JournalDown from error

    def _try(self, run_id: UUID, job: Callable[[], object]) -> bool:
        try:
            self._writer.submit(job).add_done_callback(partial(_log_failure, run_id))
        except JournalDown:
            logger.warning("run %s: no room for a checkpoint", run_id)
            return False
        return True

    def _to_spool(self, sealed: Sealed) -> None:
        try:
            self._spool.put(sealed.run_id, to_json(sealed))
        except OSError as error:
            logger.critical("run %s is lost: %s", sealed.run_id, error)


def _log_failure(run_id: UUID, done: Future[object]) -> None:
    if (error := done.exception()) is not None:
        logger.warning("run %s: checkpoint failed: %s", run_id, type(error).__name__)


JOURNAL = Journal(WRITER, SPOOL)
