"""A run of which the end is still to be stored, locked for whoever stores it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import OperationalError

from copilot_admin.models import Outcome, Run
from copilot_admin.storage.selects import Select, member
from copilot_admin.transcripts.store.sealing import Sealed
from protocol.json import Json

_RUNNING = frozenset({Outcome.RUNNING})
_RUN = (
    "id", "outcome", "copilot_id", "conversation_id", "turn_id", "principal", "provider", "model",
    "started_at", "notes", "cost_confidence", "turn__started_at",
)  # fmt: skip
_LEAF = (
    "input_leaf_id", "input_leaf__depth", "input_leaf__chain_hash", "input_leaf__client_hash",
)  # fmt: skip
_LOCK_RUN = Select(Run, *_RUN, *_LEAF, where=("id",), lock=True)


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
    """The run that an end is about; None where it has ended already, or is gone.

    Raises:
        OperationalError: The database gave another run.
    """
    row = _LOCK_RUN(id=sealed.run_id)
    if row is None:
        return None
    run_id, outcome, *others = row[: len(_RUN)]
    leaf = Leaf(*row[len(_RUN) :])
    if run_id != sealed.run_id:
        raise OperationalError("another run came than the one that was asked for")
    was = member(Outcome, outcome)
    run = OpenRun(*[run_id, was, *others, leaf if leaf.id is not None else None])
    return run if run.outcome in _open_to(sealed) else None


def make_sure_of_end(sealed: Sealed) -> None:
    """Asks in another way whether a run has ended or is gone: who asked is told that it is kept.

    Raises:
        OperationalError: It is still open.
    """
    still_open = Run.objects.filter(pk=sealed.run_id, outcome__in=_open_to(sealed))
    if still_open.update(heartbeat_at=sealed.ended_at):
        raise OperationalError("a run has ended, and has not")


def _open_to(sealed: Sealed) -> frozenset[Outcome]:
    return _RUNNING if sealed.outcome is Outcome.INTERRUPTED else _RUNNING | {Outcome.INTERRUPTED}
