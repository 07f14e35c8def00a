"""A run of which the end is still to be stored, locked for whoever stores it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from copilot_admin.models import Outcome
from copilot_admin.storage.sql import fetch_row, read_json, read_time
from copilot_admin.transcripts.store.sealing import Sealed
from protocol.json import Json

_RUN = """
SELECT run.id, run.outcome, run.copilot_id, run.conversation_id, run.turn_id, run.principal,
    run.provider, run.model, run.started_at, run.notes, run.cost_confidence,
    turn.started_at AS turn_started_at,
    leaf.id AS leaf_id, leaf.depth, leaf.chain_hash, leaf.client_hash
FROM copilot_admin_run run
LEFT JOIN copilot_admin_turn turn ON turn.id = run.turn_id
LEFT JOIN copilot_admin_node leaf ON leaf.id = run.input_leaf_id
WHERE run.id = %(id)s
"""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The message under which the next one hangs."""

    id: int | None
    depth: int
    chain_hash: str
    client_hash: str


@dataclass(frozen=True, slots=True)
class OpenRun:
    """What is stored of a run that has not ended, or of which the end was only guessed.

    `leaf` is the last message that it read.
    """

    id: UUID
    outcome: Outcome
    copilot_id: int
    conversation_id: int | None
    turn_id: int | None
    principal: str
    provider: str
    model: str
    started_at: datetime
    notes: list[Json]
    cost_confidence: str
    turn_started_at: datetime | None
    leaf: Leaf | None

    @property
    def begins_turn(self) -> bool:
        """Return True for the first run of a question."""
        return self.turn_started_at is None or self.turn_started_at == self.started_at


def lock_open(sealed: Sealed) -> OpenRun | None:
    """Return and lock the run that an end is about; None if it has ended already, or is deleted."""
    row = fetch_row(_RUN, id=sealed.run_id, lock="run")
    if row is None or not _is_open(Outcome(row["outcome"]), sealed):
        return None
    leaf = Leaf(*(row.pop(name) for name in ("leaf_id", "depth", "chain_hash", "client_hash")))
    read = {
        "id": sealed.run_id,
        "outcome": Outcome(row["outcome"]),
        "started_at": read_time(row["started_at"]),
        "turn_started_at": read_time(row["turn_started_at"]),
        "notes": read_json(row["notes"]),
        "leaf": leaf if leaf.id is not None else None,
    }
    return OpenRun(**{**row, **read})


def _is_open(outcome: Outcome, sealed: Sealed) -> bool:
    if outcome is Outcome.INTERRUPTED:
        return sealed.outcome is not Outcome.INTERRUPTED
    return outcome is Outcome.RUNNING
