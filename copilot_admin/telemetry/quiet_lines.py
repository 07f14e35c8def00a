"""Says in the log once in a while what would be a line for each of thousands of requests."""

from collections import Counter
from collections.abc import Callable
import logging
from threading import Lock
from time import monotonic

QUIET_SECONDS = 60.0  # between two lines of the same reason


class QuietLines:
    """Writes warnings, and counts those that it leaves out, by their reason, in this process.

    Args:
        logger: Where they are written.
        clock: Seconds that never go back.
    """

    def __init__(self, logger: logging.Logger, clock: Callable[[], float] = monotonic) -> None:
        self._logger = logger
        self._clock = clock
        self._said_at: dict[str, float] = {}
        self._unsaid = Counter[str]()
        self._lock = Lock()

    def warn(self, reason: str, line: str, *values: object) -> None:
        """Writes a line with how many were left out, unless there was one of its reason just before.

        Args:
            reason: One of few.
            line: As a logger takes it, with the values that stand in it.
            values: What stands in it.
        """
        now = self._clock()
        with self._lock:
            said_at = self._said_at.get(reason)
            if said_at is not None and now - said_at < QUIET_SECONDS:
                self._unsaid[reason] += 1
                return
            self._said_at[reason] = now
            unsaid = self._unsaid.pop(reason, 0)
        self._logger.warning("%s; %d more since the line before", line % values, unsaid)

    def forget(self) -> None:
        """Forgets what was said; for tests."""
        with self._lock:
            self._said_at.clear()
            self._unsaid.clear()
