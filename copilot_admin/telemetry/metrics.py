"""Whether this process counts what it does; without it Prometheus' client is not even imported."""

from typing import TYPE_CHECKING

from copilot_admin.telemetry.refused_requests import LISTENERS
from copilot_admin.telemetry.watchers import WATCHERS

if TYPE_CHECKING:
    from copilot_admin.telemetry.figures import ServerFigures

_counting: "list[ServerFigures]" = []


def counting() -> "ServerFigures | None":
    """What this process counts with, if it does."""
    return _counting[0] if _counting else None


def start_counting() -> "ServerFigures":
    """Counts from now on; once in a process."""
    from copilot_admin.telemetry.figures import ServerFigures

    figures = ServerFigures()
    _counting.append(figures)
    WATCHERS.append(figures.count_run)
    LISTENERS.append(figures.count_refusal)
    return figures
