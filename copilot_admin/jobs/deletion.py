"""Delete a copilot in short batches, so that streams go on between; writes.

A mark on the row says that a copilot is on its way out. What is left to do is read anew for each
batch, so that deleting goes on after a restart where it stopped.
"""

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models import (
    Action,
    Alert,
    AlertDelivery,
    CallerDay,
    ComponentCall,
    Conversation,
    Copilot,
    CopilotVersion,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    HourlyUsage,
    Outcome,
    RecordedAnswer,
    Replay,
    ReplayAnswer,
    Run,
    SavedAnswer,
    SavedQuestion,
    VersionProvider,
)
from copilot_admin.privacy import holds
from copilot_admin.privacy.holds import holds_on_copilot
from copilot_admin.privacy.rows import delete_first, of_conversations, of_runs, without_running
from copilot_admin.privacy.users import forget_silent, users_of
from copilot_admin.transcripts.store import is_missed

CONVERSATIONS = 20  # looked at in one batch; one with more rows than a batch takes several


class DeletionStep(StrEnum):
    """What came of a batch of deleting a copilot."""

    MOVED = "moved"
    WAITING = "waiting"  # answers that still run, a legal hold, or another process that deletes
    GONE = "gone"


def mark(copilot_ids: Collection[int]) -> None:
    """Takes copilots off at once; what belongs to them is deleted from now on.

    One of which a legal hold keeps anything stays as it is.
    """
    now = timezone.now()
    free = [pk for pk in copilot_ids if not holds_on_copilot(pk)]
    Copilot.objects.filter(pk__in=free, deletion_requested_at=None).update(
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
        Q(deletion_moved_at=None) | is_missed("deletion_moved_at", now),
        deletion_requested_at__isnull=False,
    )
    return [
        pk
        for pk in stalled.values_list("pk", flat=True)
        if stalled.filter(pk=pk).update(deletion_moved_at=now)
    ]


def delete_batch(copilot_id: int) -> DeletionStep:
    """Deletes some rows of a copilot that is marked, and at last the copilot."""
    marked = Copilot.objects.filter(pk=copilot_id, deletion_requested_at__isnull=False)
    copilot = marked.select_for_update(skip_locked=True, no_key=True).first()
    if copilot is None:
        return DeletionStep.WAITING if marked.exists() else DeletionStep.GONE
    marked.update(deletion_moved_at=timezone.now())
    if not holds.stay() or holds_on_copilot(copilot_id):
        return DeletionStep.WAITING
    oldest = Conversation.objects.filter(copilot_id=copilot_id).order_by("last_at", "id")
    found = list(oldest.values_list("pk", flat=True)[:CONVERSATIONS])
    if found:
        ended = without_running(found)
        theirs = users_of(Conversation.objects.filter(pk__in=ended))
        return (
            DeletionStep.MOVED
            if _deleted(of_conversations(ended), theirs)
            else DeletionStep.WAITING
        )
    runs, calls = (model.objects.filter(copilot_id=copilot_id) for model in (Run, ComponentCall))
    if _deleted(_of_copilot(copilot_id), users_of(runs) | users_of(calls)):
        return DeletionStep.MOVED
    if Run.objects.filter(copilot_id=copilot_id).exists():
        return DeletionStep.WAITING
    copilot.delete()
    _tell_ended(copilot_id)
    return DeletionStep.GONE


def _tell_ended(copilot_id: int) -> None:
    """Has it stand in the trail with the same commit; a process that dies then has told it."""
    on = Subject("copilot", str(copilot_id))
    record(Action.DELETION_ENDED, by=Actor.server(), on=on)


def _deleted(in_order: Iterable[QuerySet[Any]], theirs: Collection[int]) -> bool:
    """Deletes some rows, and users whose last ones these were; whether there were any."""
    gone = delete_first(in_order).total
    if gone:
        forget_silent(theirs)
    return bool(gone)


def _of_copilot(copilot_id: int) -> Iterable[QuerySet[Any]]:
    """The rows of a copilot without conversations, those first that others do not refer to."""
    ended = Run.objects.filter(copilot_id=copilot_id).exclude(outcome=Outcome.RUNNING)
    yield from of_runs(ended)
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
    # As a join without a match, PostgreSQL reads every run there is.
    used = Exists(Run.objects.filter(copilot_version=OuterRef("pk")))
    yield CopilotVersion.objects.filter(~used, copilot_id=copilot_id).order_by()
