"""Batches of rejected requests, so that a client that retries in a loop doesn't fill the database."""

from dataclasses import replace

from copilot_admin.errors import Unavailable
from copilot_admin.transcripts.store.run_start import Rejection
from copilot_admin.transcripts.store.transcript_store import STORE

_Key = tuple[int, str, str, str]


class RejectedRuns:
    """One rejected run for each caller, user and limit, until the next batch is stored."""

    def __init__(self) -> None:
        self._pending: dict[_Key, Rejection] = {}

    def add(self, rejection: Rejection, *, limit: str) -> None:
        """Count a request that a kind of limit rejected."""
        user = rejection.user.id if rejection.user else ""
        key = (rejection.copilot_id, rejection.principal, user, limit)
        known = self._pending.get(key)
        if known is not None:
            rejection = replace(known, times=known.times + rejection.times)
        self._pending[key] = rejection

    async def store(self) -> None:
        """Store the rejections since the last call.

        Raises:
            Unavailable: The database can't store them; the next call tries again.
        """
        pending, self._pending = self._pending, {}
        if not pending:
            return
        try:
            await STORE.reject(tuple(pending.values()))
        except Unavailable:
            for key, rejection in pending.items():
                self.add(rejection, limit=key[-1])
            raise

    def clear(self) -> None:
        """Drop all pending rejections."""
        self._pending.clear()


REJECTED_RUNS = RejectedRuns()
