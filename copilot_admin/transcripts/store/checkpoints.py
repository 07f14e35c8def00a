"""What running answers have streamed, kept from second to second against a sudden death.

Source: docs/transcripts.md, rule 5.
"""

from collections.abc import Sequence
import json
from uuid import UUID
import zlib

from copilot_admin.config.encryption import SecretLocation, decrypt, encrypt
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Checkpoint
from copilot_admin.storage.sql import execute
from copilot_admin.transcripts.store.heartbeat import beat
from copilot_admin.transcripts.store.record import Piece

# What is to be redacted is found in whole answers only, so until the end its pieces are encrypted.
_SEALED = b"sealed:"
FAST = 1  # zlib level: a checkpoint lives for as long as its run

_INSERT = """
INSERT INTO copilot_admin_checkpoint (run_id, ord, data) VALUES (%(run_id)s, %(ord)s, %(data)s)
ON CONFLICT DO NOTHING
"""


def store(pieces: Sequence[tuple[UUID, Piece]]) -> None:
    """Keeps pieces of running answers; what comes after a run has ended is dropped."""
    running = set(beat(run_id for run_id, _ in pieces))
    for run_id, piece in pieces:
        if run_id in running:
            execute(_INSERT, run_id=run_id, ord=piece.ord, data=_packed(run_id, piece))


def pieces_of(run_id: UUID) -> list[Piece]:
    """What a run had streamed at its last checkpoint."""
    rows = Checkpoint.objects.filter(run_id=run_id).order_by("ord").values_list("ord", "data")
    return [piece_of(run_id, order, bytes(data)) for order, data in rows]


def piece_of(run_id: UUID, order: int, data: bytes) -> Piece:
    """Reads the piece of an answer that a checkpoint holds.

    Raises:
        ConfigurationError: It is sealed, and the key is gone; or it is not what was stored.
    """
    if data.startswith(_SEALED):
        text = decrypt(
            data[len(_SEALED) :].decode(errors="replace"), location=_place(run_id, order)
        )
        return Piece.from_json(json.loads(text), ord=order)
    try:
        packed = zlib.decompress(data)
    except zlib.error as error:  # it has a checksum
        raise ConfigurationError("A piece of a running answer is damaged.") from error
    return Piece.from_json(json.loads(packed), ord=order)


def _packed(run_id: UUID, piece: Piece) -> bytes:
    text = json.dumps(piece.to_json())
    if piece.is_secret:
        return _SEALED + encrypt(text, location=_place(run_id, piece.ord)).encode()
    return zlib.compress(text.encode(), FAST)


def _place(run_id: UUID, order: int) -> SecretLocation:
    return SecretLocation(table="checkpoint", row=str(run_id), field=str(order))
