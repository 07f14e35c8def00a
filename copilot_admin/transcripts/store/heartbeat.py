"""The sign of life of running answers: how it is given, how often, and when it is missed.

Every process gives it for all of its runs at once, whether they say something or not. A checkpoint
gives it too, since it has to find out anyway whether its run is still open. What is done in batches
gives its own with each of them, and is missed after the same time.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from copilot_admin.storage.sql import execute

HEARTBEAT_SECONDS = 5.0
SILENCE = timedelta(seconds=6 * HEARTBEAT_SECONDS)  # after which whoever gave it counts as dead
# Further ahead than clocks of machines differ: a sign of life from then is of a clock that went wrong.
AHEAD = timedelta(minutes=30)

_BEAT = """
UPDATE copilot_admin_run SET heartbeat_at = %(now)s WHERE id = %(id)s AND outcome = 'running'
"""


def is_missed(column: str, now: datetime) -> Q:
    """Whether nobody goes on with what is done in batches, by the moment of its last sign of life.

    One that lies ahead was given before the clock was set back: it would count until the clock is
    there again, for a day or for years. Answers are not looked at in this way: none is cut because
    the clock of another machine is wrong.

    Args:
        column: That has the moment.
        now: By the clock of whoever asks.
    """
    return Q(**{f"{column}__lt": now - SILENCE}) | Q(**{f"{column}__gt": now + AHEAD})


def beat(run_ids: Iterable[UUID]) -> list[UUID]:
    """Says that runs are alive; one that has ended stays ended.

    Returns:
        Those that are still open.
    """
    now = timezone.now()
    # Always in the same order, so that no two processes lock crosswise.
    return [run_id for run_id in sorted(set(run_ids)) if execute(_BEAT, id=run_id, now=now)]
