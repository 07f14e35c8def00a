"""The journal as a run sees it: opened before the first byte, finished before the last."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
import logging
import threading
from typing import TypeVar
from uuid import UUID

from django import db
from django.utils import timezone

from copilot_admin.models import Logging
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.storage.errors import REFUSALS, DatabaseUnavailable, is_outage
from copilot_admin.storage.spool import SPOOL, Spool
from copilot_admin.storage.writer import READER, WRITER, Deadline, Writer
from copilot_admin.transcripts.store import checkpoints, finishing, opening
from copilot_admin.transcripts.store.doubt import REFUSED, Doubt
from copilot_admin.transcripts.store.older_messages import with_older
from copilot_admin.transcripts.store.probing import probe
from copilot_admin.transcripts.store.record import Piece, Record, without_content
from copilot_admin.transcripts.store.recorder import are_large
from copilot_admin.transcripts.store.sealed_contents import SealedContents
from copilot_admin.transcripts.store.sealing import Sealed, seal, to_json
from copilot_admin.transcripts.store.unkept import Unkept
from copilot_admin.transcripts.store.users import forget_users
from copilot_admin.transcripts.store.values import BOOT_ID, Accepted, Kept, Opening, Refusal

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
        self._redacted: dict[UUID, Rules] = {}  # runs of which some may not
        self._lock = threading.Lock()  # guards the pieces that wait for the writer
        self._pieces: list[tuple[UUID, Piece]] = []
        self._unkept = Unkept()
        self._is_failing = False
        self._doubt = Doubt()

    @property
    def problem(self) -> str:
        """Why nothing can be kept for sure at the moment; empty while everything is."""
        if self._unkept:
            return f"{len(self._unkept)} answers wait in memory: nothing can be written"
        if self._doubt.is_confirmed:
            return REFUSED
        return "the last write to the database failed" if self._is_failing else ""

    @property
    def unkept(self) -> int:
        """Ends of runs that wait in memory, as neither database nor spool takes them."""
        return len(self._unkept)

    async def accept(
        self, run: Opening, *, prepared: Callable[[], object] = lambda: None
    ) -> Accepted:
        """Stores conversation, messages, turn and run; they are committed when it returns.

        Args:
            run: What begins.
            prepared: Is called when it waits for nothing but the database.

        Raises:
            Unavailable: The database cannot take the run.
        """
        if run.logging is not Logging.EVERYTHING:
            self._private.add(run.run_id)
        elif run.redaction:
            self._redacted[run.run_id] = run.redaction
        try:
            ready = await _made_ready(run)
            prepared()
            return await self._written_of_user(partial(opening.accept, ready))
        except DatabaseUnavailable:
            self._private.discard(run.run_id)
            self._redacted.pop(run.run_id, None)
            raise

    async def _written_of_user(self, job: Callable[[], T]) -> T:
        try:
            return await self._written(job)
        except DatabaseUnavailable as error:
            if not isinstance(error.__cause__, db.IntegrityError):
                raise
        # Not only where anybody was known: another question may just have had all forgotten.
        forget_users()
        return await self._written(job)

    async def refuse(self, refusal: Refusal, deadline: Deadline | None = None) -> None:
        """Stores a request that was refused: a run without a turn.

        Args:
            refusal: What was refused, and why.
            deadline: What is left of that of the request.

        Raises:
            Unavailable: The database cannot take it.
        """
        async with (deadline or Deadline()).limit():
            await self._written_of_user(partial(opening.refuse, refusal))

    async def refuse_more(self, refusal: Refusal, more: int) -> None:
        """Counts requests that were refused like one that is kept.

        Args:
            refusal: That is kept.
            more: How many.

        Raises:
            Unavailable: The database cannot take it.
        """
        async with Deadline().limit():
            await self._written(partial(opening.refuse_more, refusal, more))

    def checkpoint(self, run_id: UUID, piece: Piece) -> None:
        """Stores what was streamed since the last checkpoint, sometime soon; never raises."""
        if run_id in self._private:
            return
        with self._lock:
            waiting = self._pieces
            waiting.append((run_id, replace(piece, is_secret=run_id in self._redacted)))
        if len(waiting) == 1 and not self._try(run_id, partial(self._store, waiting)):
            self._take(waiting)

    async def finish(self, run_id: UUID, record: Record) -> Kept | None:
        """Stores how a run ended.

        Returns:
            That it is kept: committed, or safe in the spool. None: it waits in memory, where
            `look_after` tries again.
        """
        if run_id in self._private:
            self._private.discard(run_id)
            record = without_content(record)
        sealed = await self._sealed(record, run_id)
        kept = await self._store_end(sealed)
        if kept is not None:
            return kept
        if await asyncio.to_thread(self._spool_end, sealed):
            return Kept()
        logger.error("run %s waits in memory: neither database nor spool takes it", run_id)
        self._unkept.add(sealed)
        return None

    async def _sealed(self, record: Record, run_id: UUID) -> Sealed:
        rules = self._redacted.pop(run_id, NO_RULES)
        sealing = partial(seal, record, run_id=run_id, at=timezone.now(), rules=rules)
        payloads = (entry.payload for entry in record.entries)
        if rules or are_large(chain((record.text,), payloads)):
            return await asyncio.to_thread(sealing)
        return sealing()

    async def look_after(self) -> None:
        """Tries again what could not be kept, and whether the database can be written again."""
        await self._try_waiting()
        if self._doubt.is_there:
            try:
                await self._writer.run(self._doubt.settle)
            except (db.Error, DatabaseUnavailable) as error:
                self._note(error)
        if self._is_failing and not self._unkept:
            with suppress(DatabaseUnavailable):  # the next time
                await self._written(probe)

    async def close(self) -> None:
        """Tries what waits in memory for the last time; the process ends."""
        await self._try_waiting()
        for sealed in self._unkept:
            self._unkept.lose(sealed.run_id)

    def _note(self, error: BaseException) -> None:
        if is_outage(error) or not isinstance(error, REFUSALS):
            self._is_failing = True
        self._doubt.note(error)

    async def _try_waiting(self) -> None:
        in_database = True
        for sealed in self._unkept:
            in_database = in_database and await self._store_end(sealed) is not None
            if not in_database and not await asyncio.to_thread(self._spool_end, sealed):
                return
            self._unkept.remove(sealed.run_id)

    async def _store_end(self, sealed: Sealed) -> Kept | None:
        contents = SealedContents(sealed)
        job = partial(finishing.finish, sealed, contents)
        try:
            return Kept(await self._written(job))
        except DatabaseUnavailable as error:
            # Only the class: the driver's message quotes the values it was given.
            cause = type(error.__cause__).__name__
            logger.warning("run %s goes to the spool: %s", sealed.run_id, cause)
            return None

    def _spool_end(self, sealed: Sealed) -> bool:
        try:
            self._spool.put(sealed.run_id, to_json(sealed))
        except OSError as error:
            logger.warning("the spool does not take run %s: %s", sealed.run_id, error)
            return False
        return True

    def _store(self, pieces: list[tuple[UUID, Piece]]) -> None:
        self._take(pieces)
        checkpoints.store(pieces)

    def _take(self, pieces: list[tuple[UUID, Piece]]) -> None:
        with self._lock:
            if self._pieces is pieces:
                self._pieces = []

    async def _written(self, job: Callable[[], T]) -> T:
        try:
            result = await self._writer.run(job)
        except (db.Error, DatabaseUnavailable) as error:
            self._note(error)
            raise DatabaseUnavailable from error
        self._is_failing = False
        return result

    def _try(self, run_id: UUID, job: Callable[[], object]) -> bool:
        try:
            self._writer.submit(job).add_done_callback(partial(self._look, run_id))
        except DatabaseUnavailable:
            logger.warning("run %s: no room for a checkpoint", run_id)
            return False
        return True

    def _look(self, run_id: UUID, done: Future[object]) -> None:
        if (error := done.exception()) is not None:
            self._note(error)
            logger.warning("run %s: checkpoint failed: %s", run_id, type(error).__name__)


async def _made_ready(run: Opening) -> opening.Prepared:
    """A run with everything done that holds nobody up.

    Raises:
        DatabaseUnavailable: The database was asked, and is away.
    """
    is_small = run.size <= PREPARE_INLINE_BYTES
    if is_small and not run.redaction.expressions:
        return opening.prepare(run)
    ready = await asyncio.to_thread(opening.prepare, run)
    messages = ready.incoming
    if is_small or messages is None or not messages.keep_content or len(messages.messages) < 2:
        return ready
    start = await READER.run(messages.count_stored)
    return await asyncio.to_thread(with_older, ready, messages, start=start)


JOURNAL = Journal(WRITER, SPOOL)
