"""Heartbeats and checkpoints of running answers, and the end of runs whose process died.

Every process sends a heartbeat for all of its runs. A checkpoint is a heartbeat too.
Source: docs/transcripts.md, rules 5 and 6.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
import json
import logging
from uuid import UUID
import zlib

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from copilot_admin.config.encryption import SecretLocation, decrypt, encrypt
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Checkpoint, Outcome, Run, Turn, TurnState
from copilot_admin.redaction.rules import rules_of
from copilot_admin.storage.sql import execute
from copilot_admin.transcripts.store.end_rows import finish
from copilot_admin.transcripts.store.recorder import Ending, Piece, finalize, join_pieces
from copilot_admin.transcripts.store.run_start import BOOT_ID

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
logger = logging.getLogger(__name__)


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
        execute(_INSERT, run_id=run_id, ord=piece.ord, data=_pack(run_id, piece))


def load_pieces(run_id: UUID) -> list[Piece]:
    """Return the pieces of a running answer; ConfigurationError if one is damaged or its key lost."""
    rows = Checkpoint.objects.filter(run_id=run_id).order_by("ord").values_list("ord", "data")
    return [unpack_piece(run_id, order, bytes(data)) for order, data in rows]


def unpack_piece(run_id: UUID, order: int, data: bytes) -> Piece:
    """Return the piece in a checkpoint; see `load_pieces`."""
    if data.startswith(_ENCRYPTED):
        packed = data.removeprefix(_ENCRYPTED).decode(errors="replace")
        text = decrypt(packed, location=_location(run_id, order))
    else:
        try:
            text = zlib.decompress(data).decode()
        except zlib.error as error:  # it has a checksum
            raise ConfigurationError("A piece of a running answer is damaged.") from error
    return Piece.from_json(json.loads(text), ord=order)


def reap(*, every_other_boot: bool, alive: Collection[UUID] = ()) -> int:
    """End some dead runs as interrupted with their checkpoints, and abandon old turns.

    Args:
        every_other_boot: Treat every run of another process as dead, when the only server of a
            SQLite database starts. Otherwise a run is dead after 30 s of silence.
        alive: Runs that this process answers. The database may have others of it, whose clients
            were rejected because the connection broke before the commit was confirmed.
    """
    _abandon_turns()
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
    pieces: Sequence[Piece] = ()
    try:
        pieces = load_pieces(run.pk)
    except ConfigurationError as error:
        logger.warning("run %s ends without its text: %s", run.pk, error.public)
    end = finalize(
        join_pieces(pieces), ending, run_id=run.pk, at=run.heartbeat_at, rules=rules_of(run.copilot)
    )
    return finish(end) is not None


def _abandon_turns() -> None:
    waiting = Turn.objects.filter(
        state=TurnState.AWAITING_RESULT, waiting_since__lt=timezone.now() - ABANDONED_AFTER
    )
    oldest = waiting.order_by("waiting_since").values_list("pk", flat=True)[:MAX_ABANDONED]
    waiting.filter(pk__in=list(oldest)).update(state=TurnState.ABANDONED, waiting_since=None)


def _pack(run_id: UUID, piece: Piece) -> bytes:
    text = json.dumps(piece.to_json())
    if piece.is_secret:
        return _ENCRYPTED + encrypt(text, location=_location(run_id, piece.ord)).encode()
    return zlib.compress(text.encode(), COMPRESSION_LEVEL)


def _location(run_id: UUID, order: int) -> SecretLocation:
    return SecretLocation(table="checkpoint", row=str(run_id), field=str(order))
