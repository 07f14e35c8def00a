"""Delete a copilot in short batches, so that streams go on between; writes.

A mark on the row says that a copilot is on its way out. What is left to do is read anew for each
batch, so that deleting goes on after a restart where it stopped.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from copilot_admin.models import (
    Alert,
    AlertDelivery,
    CallerDay,
    Checkpoint,
    ComponentCall,
    Conversation,
    Copilot,
    CopilotVersion,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    Event,
    Feedback,
    HourlyUsage,
    Mark,
    Node,
    Outcome,
    RecordedAnswer,
    Replay,
    ReplayAnswer,
    Run,
    SavedAnswer,
    SavedQuestion,
    Seat,
    Turn,
    TurnNote,
    TurnText,
    Verdict,
    VersionProvider,
)
from copilot_admin.storage.many import delete_rows

ROWS = 400  # of one batch, about 20 ms: whoever waits for the writer waits no longer
CONVERSATIONS = 20  # looked at in one batch; one with more rows than a batch takes several
STALLED = timedelta(seconds=30)  # without a batch: whoever deleted has stopped


class Step(StrEnum):
    """What came of a batch."""

    MOVED = "moved"
    WAITING = "waiting"  # answers that still run, or another process that deletes
    GONE = "gone"


def mark(copilot_ids: Collection[int]) -> None:
    """Takes copilots off at once; what belongs to them is deleted from now on."""
    now = timezone.now()
    Copilot.objects.filter(pk__in=copilot_ids, deletion_requested_at=None).update(
        enabled=False,
        archived_at=None,
        live=None,
        deletion_requested_at=now,
        deletion_moved_at=now,
    )


def claim_stalled() -> list[int]:
    """Copilots whose deletion has stopped; each is handed to one caller only."""
    now = timezone.now()
    stalled = Copilot.objects.filter(
        Q(deletion_moved_at=None) | Q(deletion_moved_at__lt=now - STALLED),
        deletion_requested_at__isnull=False,
    )
    return [
        pk
        for pk in stalled.values_list("pk", flat=True)
        if stalled.filter(pk=pk).update(deletion_moved_at=now)
    ]


def delete_batch(copilot_id: int) -> Step:
    """Deletes some rows of a copilot that is marked, and at last the copilot."""
    marked = Copilot.objects.filter(pk=copilot_id, deletion_requested_at__isnull=False)
    copilot = marked.select_for_update(skip_locked=True, no_key=True).first()
    if copilot is None:
        return Step.WAITING if marked.exists() else Step.GONE
    marked.update(deletion_moved_at=timezone.now())
    oldest = Conversation.objects.filter(copilot_id=copilot_id).order_by("last_at", "id")
    found = list(oldest.values_list("pk", flat=True)[:CONVERSATIONS])
    if found:
        ended = _without_running(found)
        return Step.MOVED if _delete_first(_of_conversations(ended)) else Step.WAITING
    if _delete_first(_of_copilot(copilot_id)):
        return Step.MOVED
    if Run.objects.filter(copilot_id=copilot_id).exists():
        return Step.WAITING
    copilot.delete()
    return Step.GONE


def _without_running(conversation_ids: Sequence[int]) -> list[int]:
    running = Run.objects.filter(conversation_id__in=conversation_ids, outcome=Outcome.RUNNING)
    busy = set(running.values_list("conversation_id", flat=True))
    return [pk for pk in conversation_ids if pk not in busy]


def _of_conversations(ids: Sequence[int]) -> Iterable[QuerySet[Any]]:
    """All rows of conversations, those first that others do not refer to."""
    yield Event.objects.filter(run__conversation_id__in=ids).order_by()
    yield Checkpoint.objects.filter(run__conversation_id__in=ids).order_by()
    yield Run.objects.filter(conversation_id__in=ids).order_by()
    yield Feedback.objects.filter(turn__conversation_id__in=ids).order_by()
    yield TurnText.objects.filter(conversation_id__in=ids).order_by()
    yield Mark.objects.filter(verdict__conversation_id__in=ids).order_by()
    yield Verdict.objects.filter(conversation_id__in=ids).order_by()
    yield Seat.objects.filter(conversation_id__in=ids).order_by()
    yield TurnNote.objects.filter(turn__conversation_id__in=ids).order_by()
    yield Turn.objects.filter(conversation_id__in=ids).order_by()
    yield Node.objects.filter(conversation_id__in=ids).order_by("-depth", "-id")
    yield Conversation.objects.filter(pk__in=ids).order_by()


def _of_copilot(copilot_id: int) -> Iterable[QuerySet[Any]]:
    """The rows of a copilot without conversations, those first that others do not refer to."""
    ended = Run.objects.filter(copilot_id=copilot_id).exclude(outcome=Outcome.RUNNING)
    yield Event.objects.filter(run__in=ended).order_by()
    yield Checkpoint.objects.filter(run__in=ended).order_by()
    yield ended.order_by()
    yield ComponentCall.objects.filter(copilot_id=copilot_id).order_by()
    for rollup in (DailyTotal, DailyUsage, HourlyUsage, ErrorUsage, CriterionUsage, CallerDay):
        yield rollup._default_manager.filter(copilot_id=copilot_id).order_by()
    yield SavedAnswer.objects.filter(question__copilot_id=copilot_id).order_by()
    yield ReplayAnswer.objects.filter(replay__copilot_id=copilot_id).order_by()
    yield Replay.objects.filter(copilot_id=copilot_id).order_by()
    yield RecordedAnswer.objects.filter(question__copilot_id=copilot_id).order_by()
    yield SavedQuestion.objects.filter(copilot_id=copilot_id).order_by()
    yield VersionProvider.objects.filter(version__copilot_id=copilot_id).order_by()
    of_rule, of_digest = Q(alert__rule__copilot_id=copilot_id), Q(digest__copilot_id=copilot_id)
    yield AlertDelivery.objects.filter(of_rule | of_digest).order_by()
    yield Alert.objects.filter(rule__copilot_id=copilot_id).order_by()
    unused = CopilotVersion.objects.filter(copilot_id=copilot_id, run=None)
    yield unused.order_by()


def _delete_first(in_order: Iterable[QuerySet[Any]]) -> int:
    """Deletes the first rows, as many as a batch may have.

    Returns:
        How many there were.
    """
    deleted = 0
    for rows in in_order:
        pks = list(rows.values_list("pk", flat=True)[: ROWS - deleted])
        deleted += delete_rows(rows.model._meta.pk, pks)
        if deleted >= ROWS:
            break
    return deleted
