"""Find runs whose process died, and end them with what their checkpoints hold.

Source: docs/transcripts.md, rules 5 and 6.
"""

from collections.abc import Sequence
from datetime import timedelta
import logging

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from copilot_admin.errors import ConfigurationError
from copilot_admin.journal.checkpoints import pieces_of
from copilot_admin.journal.finishing import finish
from copilot_admin.journal.heartbeat import SILENCE
from copilot_admin.journal.recorder import Ending, Piece, from_pieces
from copilot_admin.journal.sealing import seal
from copilot_admin.journal.values import BOOT_ID
from copilot_admin.models import Outcome, Run, Turn, TurnState
from copilot_admin.redaction.rules import rules_of

ABANDONED_AFTER = timedelta(minutes=30)
INTERRUPTED = "The server stopped while it answered."
logger = logging.getLogger(__name__)
AT_ONCE = 200  # runs of one transaction


def reap(*, every_other_boot: bool) -> int:
    """Ends dead runs as interrupted, and gives up turns that waited too long for a result.

    Args:
        every_other_boot: Every running run of another process is dead: at the start of the one
            server of a SQLite database. Otherwise a run is dead when it was silent for 30 s.

    Returns:
        Runs that were ended.
    """
    _abandon()
    runs = Run.objects.filter(outcome=Outcome.RUNNING).exclude(boot_id=BOOT_ID)
    if not every_other_boot:
        runs = runs.filter(heartbeat_at__lt=timezone.now() - SILENCE)
    with transaction.atomic():
        return sum(_interrupt(run) for run in _locked(runs))


def _locked(runs: QuerySet[Run]) -> Sequence[Run]:
    """Dead runs that no other process is just ending."""
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
    """What the run had streamed; nothing where it is sealed and the key is gone."""
    try:
        return pieces_of(run.pk)
    except ConfigurationError as error:
        logger.warning("run %s ends without its text: %s", run.pk, error.public)
        return ()


def _abandon() -> None:
    waiting = Turn.objects.filter(
        state=TurnState.AWAITING_RESULT, waiting_since__lt=timezone.now() - ABANDONED_AFTER
    )
    waiting.update(state=TurnState.ABANDONED, waiting_since=None)
