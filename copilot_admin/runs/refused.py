"""Keeps what limits refused: one run for each caller, user, limit and minute, however many there were."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
import time

from copilot_admin.errors import Unavailable
from copilot_admin.transcripts.store import JOURNAL, Refusal

_SECONDS = 60.0
_MOST = 1000  # callers and limits of a minute; what is more is counted together, of its copilot


@dataclass(slots=True)
class _Kept:
    """A run that stands for others too.

    Attributes:
        more: How many more there are than the journal knows.
    """

    refusal: Refusal
    since: float
    more: int = 0


class Refused:
    """What was refused in the last minute.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[tuple[int, str, str, str], _Kept] = {}

    async def note(self, refusal: Refusal, *, limit: str) -> None:
        """Keeps a refusal, or counts it with one that is kept; never raises.

        Args:
            refusal: As the journal keeps it.
            limit: The kind of limit.
        """
        user = refusal.user.id if refusal.user else ""
        key = (refusal.copilot_id, refusal.principal, user, limit)
        kept = self._kept.get(key)
        if kept is not None:
            kept.more += 1
            return
        if len(self._kept) >= _MOST:
            key = (refusal.copilot_id, "", "", "")
            if key in self._kept:
                self._kept[key].more += 1
                return
            refusal = replace(refusal, user=None)  # it will stand for others
        self._kept[key] = _Kept(refusal, self._clock())
        with suppress(Unavailable):  # whoever is refused is told so, whatever can be kept
            await JOURNAL.refuse(refusal)

    async def look_after(self) -> None:
        """Tells the journal how many there were, of each minute that is over."""
        now = self._clock()
        for key, kept in tuple(self._kept.items()):
            if now - kept.since >= _SECONDS:
                await self._tell(kept)
                if not kept.more:  # else another one was refused meanwhile
                    self._kept.pop(key, None)

    async def close(self) -> None:
        """Tells the journal of all; the process ends."""
        with suppress(Unavailable):
            for kept in self._kept.values():
                await self._tell(kept)
        self._kept.clear()

    def forget(self) -> None:
        """Forgets all refusals that wait to be written; for tests."""
        self._kept.clear()

    async def _tell(self, kept: _Kept) -> None:
        more = kept.more
        if more:
            await JOURNAL.refuse_more(kept.refusal, more)
            kept.more -= more


REFUSED = Refused()
