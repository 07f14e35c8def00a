"""Says in the log that programs are told to come again: once in a while, as they do come again."""

from collections import Counter
from collections.abc import Callable, Iterator
import logging
from threading import Lock
from time import monotonic

from copilot_admin.errors import Unavailable

QUIET_SECONDS = 60.0  # between two lines of the same code

logger = logging.getLogger(__name__)


class PutOffs:
    """Counts requests that are put off, by the code that their sender is told, in this process.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._said_at: dict[str, float] = {}
        self._unsaid = Counter[str]()
        self._lock = Lock()

    def note(self, error: Unavailable) -> None:
        """Writes a line with the cause of an error, unless there was one of its code just before."""
        now = self._clock()
        with self._lock:
            said_at = self._said_at.get(error.code)
            if said_at is not None and now - said_at < QUIET_SECONDS:
                self._unsaid[error.code] += 1
                return
            self._said_at[error.code] = now
            unsaid = self._unsaid.pop(error.code, 0)
        logger.warning(
            "requests are put off (%s): %s; %d more since the line before",
            error.code,
            # Only their classes: what a database says may have its address, or a password.
            " <- ".join(_causes_of(error)) or error.public,
            unsaid,
        )

    def forget(self) -> None:
        """Forgets what was said; for tests."""
        with self._lock:
            self._said_at.clear()
            self._unsaid.clear()


def _causes_of(error: BaseException) -> Iterator[str]:
    cause = error.__cause__
    while cause is not None:
        yield type(cause).__name__
        cause = cause.__cause__


PUT_OFFS = PutOffs()
