"""What running answers have streamed, kept from second to second against a sudden death.

Source: docs/transcripts.md, rule 5.
"""

from collections.abc import Sequence
import json
from uuid import UUID
import zlib

from copilot_admin.journal.heartbeat import beat
from copilot_admin.journal.recorder import Piece
from copilot_admin.models import Checkpoint
from copilot_admin.storage.statements import Insert

FAST = 1  # zlib level: a checkpoint lives for as long as its run

_INSERT = Insert(Checkpoint, or_ignore=True)


def store(pieces: Sequence[tuple[UUID, Piece]]) -> None:
    """Keeps pieces of running answers; what comes after a run has ended is dropped."""
    running = set(beat(run_id for run_id, _ in pieces))
    for run_id, piece in pieces:
        if run_id in running:
            data = zlib.compress(json.dumps(piece.to_json()).encode(), FAST)
            _INSERT(run_id=run_id, ord=piece.ord, data=data)


def pieces_of(run_id: UUID) -> list[Piece]:
    """What a run had streamed at its last checkpoint."""
    rows = Checkpoint.objects.filter(run_id=run_id).order_by("ord").values_list("ord", "data")
    return [piece_of(order, bytes(data)) for order, data in rows]


def piece_of(order: int, data: bytes) -> Piece:
    """Reads the piece of an answer that a checkpoint holds."""
    return Piece.from_json(json.loads(zlib.decompress(data)), ord=order)
