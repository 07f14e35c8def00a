"""How many files and connections the process may have open at once: with too few it breaks anywhere."""

import logging
from math import inf
import resource
import time

from copilot_admin.errors import ConfigurationError
from copilot_admin.exhaustion import Exhausted, without_file

LEAST = 128  # an idle server has 40; each answer has three, and twenty at once are nothing unusual
TOLD_EVERY_SECONDS = 60.0
logger = logging.getLogger(__name__)


def check_open_files() -> None:
    """Refuses to start where hardly anything may be open.

    Raises:
        ConfigurationError: The limit is too low.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < LEAST:
        raise ConfigurationError(
            f"This process may have {most} files and connections open at once; a server needs at least "
            f"{LEAST}. Raise the limit (`ulimit -n 4096`, or LimitNOFILE= of its systemd unit)."
        )


class FullTable:
    """Says that this process may open nothing more: the loop closes new connections without a word of it."""

    def __init__(self) -> None:
        self._told = -inf

    async def tell(self) -> None:
        """Looks, and says it once a minute; in the loop's own thread, as there may be no other."""
        if without_file() is None or time.monotonic() - self._told < TOLD_EVERY_SECONDS:
            return
        self._told = time.monotonic()
        logger.error(
            "This process may open no more files: new connections are closed at once. %s",
            Exhausted.FILES.advice,
        )
