"""Who is told of each run that has ended; what fails there is logged, and harms no answer."""

from collections.abc import Callable
import logging
from typing import TypeAlias

from copilot_admin.telemetry.ended_run import EndedRun
from copilot_admin.telemetry.run_line import write_line

Watcher: TypeAlias = Callable[[EndedRun], None]

logger = logging.getLogger(__name__)
WATCHERS: list[Watcher] = [write_line]


def tell(run: EndedRun) -> None:
    """Tells everybody; never raises."""
    for watcher in WATCHERS:
        try:
            watcher(run)
        except Exception:  # a watcher's boundary (ADR 12): no answer pays for it
            logger.exception("run %s could not be told", run.run_id)
