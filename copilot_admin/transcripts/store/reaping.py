"""Find runs whose process died, and end them with what their checkpoints hold.

Source: docs/transcripts.md, rules 5 and 6.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
import logging
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Outcome, Run, Turn, TurnState
from copilot_admin.redaction.rules import rules_of
from copilot_admin.transcripts.store.checkpoints import pieces_of
from copilot_admin.transcripts.store.finishing import finish
from copilot_admin.transcripts.store.heartbeat import SILENCE
from copilot_admin.transcripts.store.record import Ending, Piece
from copilot_admin.transcripts.store.recorder import from_pieces
from copilot_admin.transcripts.store.sealing import seal
from copilot_admin.transcripts.store.values import BOOT_ID

ABANDONED_AFTER = timedelta(minutes=30)
INTERRUPTED = "The server stopped while it answered."
logger = logging.getLogger(__name__)
AT_ONCE = 20  # runs of one transaction, behind which questions wait
ABANDONED_AT_ONCE = 1000  # turns, some 25 ms; the others follow in the next round, seconds later


def reap(*, every_other_boot: bool, alive: Collection[UUID] = ()) -> int:
    """Ends dead runs as interrupted, and gives up turns that waited too long for a result.

    Of this process those are dead that are silent and that it knows nothing of: a run that the database
    took, whose connection then broke before it could say so, was refused.

    Args:
        every_other_boot: Every running run of another process is dead: at the start of the one
            server of a SQLite database. Otherwise a run is dead when it was silent for 30 s.
        alive: The runs of this process that are being answered.

    Returns:
        Runs that were ended.
    """
    _abandon()
    is_own = Q(boot_id=BOOT_ID)
    is_silent = Q(heartbeat_at__lt=timezone.now() - SILENCE)
    is_dead = ~is_own if every_other_boot else is_silent & ~(is_own & Q(pk__in=alive))
    runs = Run.objects.filter(is_dead, outcome=Outcome.RUNNING)
    with transaction.atomic():
        return sum(_interrupt(run) for run in _locked(runs))


def _locked(runs: QuerySet[Run]) -> Sequence[Run]:
    locked = runs.select_for_update(skip_locked=True, of=("self",)).select_related("copilot")
    return list(locked.order_by("started_at")[:AT_ONCE])


def _interrupt(run: Run) -> bool:
    silent_since = run.heartbeat_at
    ending = Ending(
        outcome=Outcome.INTERRUPTED,
        ms=int((silent_since - run.started_at).total_seconds() * 1000),
        ttft_ms=None,
        error=INTERRUPTED,
        error_code="interrupted",
    )
    record = from_pieces(_pieces(run), ending)
    sealed = seal(record, run_id=run.pk, at=silent_since, rules=rules_of(run.copilot))
    return finish(sealed) is not None


def _pieces(run: Run) -> Sequence[Piece]:
    try:
        return pieces_of(run.pk)
    except ConfigurationError as error:
        logger.warning("run %s ends without its text: %s", run.pk, error.public)
        return ()


def _abandon() -> None:
    waiting = Turn.objects.filter(
        state=TurnState.AWAITING_RESULT, waiting_since__lt=timezone.now() - ABANDONED_AFTER
    )
    # Of very many at once, as after a long outage, all would take longer than a statement may.
    oldest = list(
        waiting.order_by("waiting_since").values_list("pk", flat=True)[:ABANDONED_AT_ONCE]
    )
    waiting.filter(pk__in=oldest).update(state=TurnState.ABANDONED, waiting_since=None)
