"""Transcript store for runs: committed before the first byte, finished before the last.

Every process sends heartbeats for all of its runs; a checkpoint is one too. Runs whose process died
are ended by another one. Source: docs/transcripts.md, rules 5 and 6.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
import json
import logging
import os
from pathlib import Path
from typing import TypeVar, cast
from uuid import UUID
import zlib

from django import db
from django.db import DataError, IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from pydantic import TypeAdapter

from copilot_admin.config.encryption import SecretLocation, decrypt, encrypt
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Blob, Checkpoint, Outcome, Run, Turn, TurnState
from copilot_admin.pricing.cost import UNKNOWN_COST, Cost
from copilot_admin.redaction.rules import rules_of
from copilot_admin.storage.errors import REFUSALS, DatabaseUnavailable
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.sql import execute
from copilot_admin.storage.writer import WRITER, Deadline, Writer
from copilot_admin.transcripts.matching.requests import RunStart, prepare
from copilot_admin.transcripts.store import end_rows, run_start
from copilot_admin.transcripts.store.recorder import (
    Ending,
    Piece,
    Recording,
    RunEnd,
    finalize,
    join_pieces,
)
from copilot_admin.transcripts.store.run_start import BOOT_ID, AcceptedRun, Rejection
from protocol.json import JsonObject

# Hashing and packing 32 kB needs about 0.5 ms; bigger requests are prepared in a thread.
MAX_INLINE_BYTES = 32 * 1024
PROBE_BYTES = 64 * 1024  # the size of a long answer
_PROBE_KEY = "probe"  # not a hash, so no blob has this key
MAX_REPLAYED_RUNS = 50  # of one job, which delays requests
_RUN_END = TypeAdapter(RunEnd)

T = TypeVar("T")
logger = logging.getLogger(__name__)
HEARTBEAT_SECONDS = 5.0
SILENCE = timedelta(seconds=6 * HEARTBEAT_SECONDS)  # a batch job without a heartbeat is dead
MAX_RUN_SILENCE = SILENCE
ABANDONED_AFTER = timedelta(minutes=30)
INTERRUPTED = "The server stopped while it answered."
MAX_INTERRUPTED = 20  # runs of one transaction, which delays questions
MAX_ABANDONED = 1000  # turns of one transaction, some 25 ms
COMPRESSION_LEVEL = 1  # of zlib: a checkpoint lives for as long as its run
# Personal data is only found in complete answers, so pieces are encrypted until the end.
_ENCRYPTED = b"sealed:"
_BEAT = """
UPDATE copilot_admin_run SET heartbeat_at = %(now)s WHERE id = %(id)s AND outcome = 'running'
"""
_INSERT = """
INSERT INTO copilot_admin_checkpoint (run_id, ord, data) VALUES (%(run_id)s, %(ord)s, %(data)s)
ON CONFLICT DO NOTHING
"""


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
            prepared = prepare(start)
        else:
            prepared = await asyncio.to_thread(prepare, start)
        return await self._write(partial(run_start.accept, prepared))

    async def reject(self, rejections: Sequence[Rejection]) -> None:
        """Store requests that were rejected."""
        async with Deadline().limit():
            await self._write(partial(run_start.reject, rejections))

    def checkpoint(self, pieces: Mapping[UUID, Piece]) -> None:
        """Store output of runs since their last checkpoints soon; never raises."""
        try:
            job = self._writer.submit(partial(save_checkpoints, pieces))
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


def is_missed(column: str, now: datetime) -> Q:
    """Return the condition that a batch job has missed its heartbeats."""
    return Q(**{f"{column}__lt": now - SILENCE})


def beat(run_ids: Iterable[UUID]) -> list[UUID]:
    """Send a heartbeat for runs; return those that are still running."""
    now = timezone.now()
    # All processes use the same order to avoid deadlocks.
    return [run_id for run_id in sorted(set(run_ids)) if execute(_BEAT, id=run_id, now=now)]


def save_checkpoints(pieces: Mapping[UUID, Piece]) -> None:
    """Store a piece of each running answer; pieces of ended runs are dropped."""
    for run_id in beat(pieces):
        piece = pieces[run_id]
        text = json.dumps(piece.to_json())
        if piece.is_secret:
            data = _ENCRYPTED + encrypt(text, location=_location(run_id, piece.ord)).encode()
        else:
            data = zlib.compress(text.encode(), COMPRESSION_LEVEL)
        execute(_INSERT, run_id=run_id, ord=piece.ord, data=data)


def load_pieces(run_id: UUID) -> list[Piece]:
    """Return the pieces of a running answer; ConfigurationError if one is damaged or its key lost."""
    rows = Checkpoint.objects.filter(run_id=run_id).order_by("ord").values_list("ord", "data")
    return [_unpack(run_id, order, bytes(data)) for order, data in rows]


def _unpack(run_id: UUID, order: int, data: bytes) -> Piece:
    if data.startswith(_ENCRYPTED):
        packed = data.removeprefix(_ENCRYPTED).decode(errors="replace")
        text = decrypt(packed, location=_location(run_id, order))
    else:
        try:
            text = zlib.decompress(data).decode()
        except zlib.error as error:  # it has a checksum
            raise ConfigurationError("A piece of a running answer is damaged.") from error
    return Piece.from_json(json.loads(text), ord=order)


def load_unfinished(run_id: UUID) -> Recording:
    """Return what the pieces of a running answer have; nothing if one can't be read."""
    try:
        return join_pieces(load_pieces(run_id))
    except ConfigurationError as error:
        logger.warning("the text of run %s can't be read: %s", run_id, error.public)
        return Recording()


def reap(*, every_other_boot: bool, alive: Collection[UUID] = ()) -> int:
    """End some dead runs as interrupted with their checkpoints, and abandon old turns.

    With `every_other_boot`, when the only server of a SQLite database starts, every run of another
    process is dead; otherwise one after 30 s of silence. This process answers the `alive` runs. Its
    others had clients that were rejected, since the connection broke before the commit was confirmed.
    """
    waiting = Turn.objects.filter(
        state=TurnState.AWAITING_RESULT, waiting_since__lt=timezone.now() - ABANDONED_AFTER
    )
    oldest = waiting.order_by("waiting_since").values_list("pk", flat=True)[:MAX_ABANDONED]
    waiting.filter(pk__in=list(oldest)).update(state=TurnState.ABANDONED, waiting_since=None)
    is_own = Q(boot_id=BOOT_ID)
    is_silent = Q(heartbeat_at__lt=timezone.now() - MAX_RUN_SILENCE)
    is_dead = ~is_own if every_other_boot else is_silent & ~(is_own & Q(pk__in=alive))
    runs = Run.objects.filter(is_dead, outcome=Outcome.RUNNING).select_related("copilot")
    with transaction.atomic():
        locked = runs.select_for_update(skip_locked=True, of=("self",)).order_by("started_at")
        return sum(_interrupt(run) for run in list(locked[:MAX_INTERRUPTED]))


def _interrupt(run: Run) -> bool:
    ending = Ending(
        outcome=Outcome.INTERRUPTED,
        ms=max(0, int((run.heartbeat_at - run.started_at).total_seconds() * 1000)),
        ttft_ms=None,
        error=INTERRUPTED,
        error_code="interrupted",
    )
    rules, at = rules_of(run.copilot), run.heartbeat_at
    end = finalize(load_unfinished(run.pk), ending, run_id=run.pk, at=at, rules=rules)
    return end_rows.finish(end) is not None


def _location(run_id: UUID, order: int) -> SecretLocation:
    return SecretLocation(table="checkpoint", row=str(run_id), field=str(order))
