"""Ends of runs that neither the database nor the spool has taken yet, in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
import json
import logging
from uuid import UUID

from copilot_admin.models import Outcome
from copilot_admin.transcripts.store.sealing import Sealed, to_json
from protocol.canonical import Kind

logger = logging.getLogger(__name__)

NOT_KEPT = (
    "The answer could not be recorded, because the server cannot write at the moment. "
    "Do not rely on it, and ask again in a few minutes."
)
NOT_KEPT_CODE = "not-kept"
# A quarter of an hour at two answers a second; as much memory as three of the longest requests.
MOST_RUNS = 2000
MOST_BYTES = 64 * 1024 * 1024
DELIVERED = frozenset({Outcome.COMPLETED, Outcome.TRUNCATED})


@dataclass(frozen=True, slots=True)
class _Waiting:
    sealed: Sealed
    size: int


class Unkept:
    """A bounded queue; what goes beyond its bounds is lost, the oldest first, and logged."""

    def __init__(self, *, most_runs: int = MOST_RUNS, most_bytes: int = MOST_BYTES) -> None:
        self._most_runs = most_runs
        self._most_bytes = most_bytes
        self._waiting: dict[UUID, _Waiting] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Sealed]:
        return iter([waiting.sealed for waiting in self._waiting.values()])

    def add(self, sealed: Sealed) -> None:
        """Keeps an end in memory, as its client has learnt it."""
        self.remove(sealed.run_id)
        told = as_told(sealed)
        waiting = _Waiting(told, len(json.dumps(to_json(told))))
        self._waiting[sealed.run_id] = waiting
        self._size += waiting.size
        while self._is_over():
            self.lose(next(iter(self._waiting)))

    def remove(self, run_id: UUID) -> None:
        """Forgets an end; nothing happens when it is not here."""
        waiting = self._waiting.pop(run_id, None)
        if waiting is not None:
            self._size -= waiting.size

    def lose(self, run_id: UUID) -> None:
        """Gives the end of a run up for lost, and says so in the log."""
        self.remove(run_id)
        logger.critical("run %s is lost: neither database nor spool took it", run_id)

    def _is_over(self) -> bool:
        return len(self._waiting) > self._most_runs or self._size > self._most_bytes


def as_told(sealed: Sealed) -> Sealed:
    """The end of a run whose client was told that it could not be recorded.

    An answer that came to its end has failed then, and a call of the client never left.
    """
    if sealed.outcome not in DELIVERED:
        return sealed
    return replace(
        sealed,
        outcome=Outcome.FAILED,
        error=NOT_KEPT if sealed.keep_content else "",
        error_code=NOT_KEPT_CODE,
        replies=tuple(reply for reply in sealed.replies if reply.kind is not Kind.CALL),
    )
