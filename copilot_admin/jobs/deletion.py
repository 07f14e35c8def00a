"""Deletion of copilots in short batches, between which streams go on.

A mark on the row says that a copilot is being deleted. Each batch reads what is left, so that a
deletion continues after a restart.
"""

from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django_tasks import task

from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.jobs.blob_sweep import sweep_blobs, sweep_images
from copilot_admin.jobs.tasks import BatchResult, enqueue_stalled, run_batches, run_on_writer
from copilot_admin.models import (
    Action,
    Alert,
    AlertDelivery,
    ComponentCall,
    Conversation,
    Copilot,
    CopilotVersion,
    EvaluationResult,
    EvaluationRun,
    Outcome,
    Run,
    TestCase,
    VersionProvider,
)
from copilot_admin.models.usage import ROLLUPS
from copilot_admin.privacy import rows
from copilot_admin.privacy.holds import holds_on_copilot, try_lock_holds

BATCH_CONVERSATIONS = 20  # one with many rows takes several batches


def delete_in_background(copilot_ids: Collection[int]) -> None:
    """Disable copilots and enqueue their deletion; call it in a transaction."""
    mark_for_deletion(copilot_ids)
    for copilot_id in copilot_ids:
        transaction.on_commit(partial(delete_copilot.enqueue, copilot_id))


def mark_for_deletion(copilot_ids: Collection[int]) -> None:
    """Disable copilots and mark them for deletion, except those with data under a legal hold."""
    now = timezone.now()
    deletable = [pk for pk in copilot_ids if not holds_on_copilot(pk)]
    Copilot.objects.filter(pk__in=deletable, deletion_requested_at=None).update(
        enabled=False, archived_at=None, live=None, deletion_requested_at=now, deletion_moved_at=now
    )


@task
def delete_copilot(copilot_id: int) -> None:
    """Delete a marked copilot; a periodic task resumes it if it is interrupted."""
    last = run_batches(
        lambda: run_on_writer(partial(delete_batch, copilot_id)),
        lambda result: result is not BatchResult.MORE,
    )
    if last is BatchResult.MORE:
        delete_copilot.enqueue(copilot_id)
    elif last is BatchResult.DONE:
        sweep_images()
        sweep_blobs.enqueue()


def resume_deletions() -> None:
    marked = Copilot.objects.filter(deletion_requested_at__isnull=False)
    enqueue_stalled(delete_copilot, marked, "deletion_moved_at")


def delete_batch(copilot_id: int) -> BatchResult:
    """Delete some rows of a marked copilot, and finally the copilot."""
    marked = Copilot.objects.filter(pk=copilot_id, deletion_requested_at__isnull=False)
    copilot = marked.select_for_update(skip_locked=True, no_key=True).first()
    if copilot is None:
        return BatchResult.WAITING if marked.exists() else BatchResult.DONE
    marked.update(deletion_moved_at=timezone.now())
    if not try_lock_holds() or holds_on_copilot(copilot_id):
        return BatchResult.WAITING
    oldest = Conversation.objects.filter(copilot_id=copilot_id).order_by("last_at", "id")
    ids = list(oldest.values_list("pk", flat=True)[:BATCH_CONVERSATIONS])
    if ids:
        ended = rows.exclude_running(ids)
        users = rows.get_user_ids(Conversation.objects.filter(pk__in=ended))
        deleted = rows.delete_first_rows(rows.get_conversation_rows(ended), users=users)
        return BatchResult.MORE if deleted.total else BatchResult.WAITING
    runs, calls = (model.objects.filter(copilot_id=copilot_id) for model in (Run, ComponentCall))
    users = rows.get_user_ids(runs, calls)
    if rows.delete_first_rows(_get_other_rows(copilot_id), users=users).total:
        return BatchResult.MORE
    if runs.exists():
        return BatchResult.WAITING
    copilot.delete()
    # In the same transaction, so that a crash can't lose the entry.
    record(Action.DELETION_ENDED, by=Actor.server(), on=Subject("copilot", str(copilot_id)))
    return BatchResult.DONE


def _get_other_rows(copilot_id: int) -> Iterable[QuerySet[Any]]:
    ended = Run.objects.filter(copilot_id=copilot_id).exclude(outcome=Outcome.RUNNING)
    yield from rows.get_run_rows(ended)
    yield ComponentCall.objects.filter(copilot_id=copilot_id).order_by()
    for rollup in ROLLUPS:
        yield rollup._default_manager.filter(copilot_id=copilot_id).order_by()
    yield EvaluationResult.objects.filter(run__copilot_id=copilot_id).order_by()
    yield EvaluationRun.objects.filter(copilot_id=copilot_id).order_by()
    yield TestCase.objects.filter(copilot_id=copilot_id).order_by()
    yield VersionProvider.objects.filter(version__copilot_id=copilot_id).order_by()
    of_rule, of_digest = Q(alert__rule__copilot_id=copilot_id), Q(digest__copilot_id=copilot_id)
    yield AlertDelivery.objects.filter(of_rule | of_digest).order_by()
    yield Alert.objects.filter(rule__copilot_id=copilot_id).order_by()
    # As a join without a match, PostgreSQL would read all runs.
    used = Exists(Run.objects.filter(copilot_version=OuterRef("pk")))
    yield CopilotVersion.objects.filter(~used, copilot_id=copilot_id).order_by()
