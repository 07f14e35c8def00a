"""Says in the log that programs are told to come again: once in a while, as they do come again."""

from collections.abc import Callable, Iterator
import logging
from time import monotonic

from copilot_admin.errors import Unavailable
from copilot_admin.telemetry.quiet_lines import QuietLines

logger = logging.getLogger(__name__)


class PutOffs:
    """Requests that are put off, by the code that their sender is told.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._lines = QuietLines(logger, clock)
        self.forget = self._lines.forget  # for tests

    def note(self, error: Unavailable) -> None:
        """Writes a line with the cause of an error, unless there was one of its code just before."""
        # Only their classes: what a database says may have its address, or a password.
        causes = " <- ".join(_causes_of(error)) or error.public
        self._lines.warn(error.code, "requests are put off (%s): %s", error.code, causes)


def _causes_of(error: BaseException) -> Iterator[str]:
    cause = error.__cause__
    while cause is not None:
        yield type(cause).__name__
        cause = cause.__cause__


PUT_OFFS = PutOffs()
