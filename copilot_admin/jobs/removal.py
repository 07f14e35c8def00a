"""Erasure and retention of transcripts, in short batches between which streams go on.

A row of `Removal` is the lease and the progress of a removal and is committed with each batch, so
that it continues after a crash. A conversation is made unreachable before its first row is deleted,
and only while no run in it is open: the next request begins a new conversation.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django_tasks import task

from copilot_admin.jobs.blob_sweep import sweep_batch, sweep_blobs
from copilot_admin.jobs.tasks import BatchResult, enqueue_stalled, run_batches, run_on_writer
from copilot_admin.models import (
    Cause,
    Conversation,
    ExportPart,
    ExportState,
    Outcome,
    Removal,
    RemovalState,
    Run,
    SeenValue,
    TranscriptExport,
)
from copilot_admin.models.privacy import ERASED
from copilot_admin.privacy import erased_data, rows
from copilot_admin.privacy.erased_data import merge_search_index, truncate_wal, vacuum
from copilot_admin.privacy.holds import try_lock_holds
from copilot_admin.privacy.scopes import PrivacyScope, scope_of

BATCH_CONVERSATIONS = 20  # one with many rows takes several batches
BATCH_EXPORT_PARTS = 10  # of some 100 kB each

# Removals for which this process has begun to merge the search index. To begin again would merge
# what was merged, and a task merges only a part of a large index.
_merging: set[int] = set()


def begin_erasure(
    scope: PrivacyScope, *, reason: str = "", by_id: int | None = None, with_questions: bool = True
) -> Removal:
    """Store a new erasure, whose task the caller enqueues; ValueError for an empty scope."""
    if not scope:
        raise ValueError(
            "Select what to erase: a conversation, a user, a caller, a copilot or days."
        )
    return Removal.objects.create(
        **asdict(scope),
        cause=Cause.ERASURE,
        reason=reason,
        asked_by_id=by_id,
        with_questions=with_questions,
        total=rows.count_conversations(scope, with_trials=True),
        moved_at=timezone.now(),
    )


@task
def remove(removal_id: int) -> None:
    """Continue a removal; a periodic task resumes it if it is interrupted."""
    result = run_removal(removal_id, run_on_writer)
    if result is BatchResult.MORE:
        remove.enqueue(removal_id)
    elif result is BatchResult.DONE:
        sweep_blobs.enqueue()


def resume_removals() -> None:
    enqueue_stalled(remove, get_unfinished(), "moved_at")


def get_unfinished() -> QuerySet[Removal]:
    return Removal.objects.exclude(state=RemovalState.DONE)


def run_removal(
    removal_id: int, write: Callable[[Callable[[], Any]], Any], *, max_seconds: float | None = None
) -> BatchResult:
    """Run batches of a removal in transactions of `write`, then clear the database's own files."""
    last = run_batches(
        lambda: write(partial(remove_batch, removal_id)),
        lambda result: result is not BatchResult.MORE,
        max_seconds=max_seconds,
    )
    if last is not BatchResult.DONE:
        return last or BatchResult.WAITING
    if write(partial(_needs_clearing, removal_id)):

        def merge() -> bool:
            is_merged = merge_search_index(is_first=removal_id not in _merging)
            _merging.add(removal_id)
            return is_merged

        is_merged = run_batches(lambda: write(merge), bool, max_seconds=max_seconds)
        if not is_merged:
            return BatchResult.WAITING if is_merged is None else BatchResult.MORE
    cleared = run_batches(lambda: _clear_files(removal_id, write), lambda _: True)
    return cleared or BatchResult.WAITING


def _clear_files(removal_id: int, write: Callable[[Callable[[], Any]], Any]) -> BatchResult:
    unused = SeenValue.objects.filter(pk__in=erased_data.find_unused_reasons())
    write(unused.delete)
    write(partial(_update, removal_id, principal="", user=None))
    if get_unfinished().filter(pk=removal_id, cause=Cause.ERASURE).exists():
        # All tables may take longer than a lease.
        vacuum(on_table_done=lambda: write(partial(_update, removal_id)))
    erased_data.clean_spool()
    if not truncate_wal():
        return BatchResult.WAITING
    write(partial(_update, removal_id, state=RemovalState.DONE, done_at=timezone.now()))
    _merging.discard(removal_id)
    return BatchResult.DONE


def _update(removal_id: int, **columns: Any) -> None:
    get_unfinished().filter(pk=removal_id).update(moved_at=timezone.now(), **columns)


def _needs_clearing(removal_id: int) -> bool:
    """Return whether to clear the database's files now.

    The last removal of a night clears them for all, if any rows were deleted: merging the search index
    writes all of it again.
    """
    removal = get_unfinished().filter(pk=removal_id).first()
    if removal is None or removal.cause == Cause.ERASURE:
        return removal is not None
    night = Removal.objects.filter(Q(pk=removal_id) | Q(day=removal.day, day__isnull=False))
    states, counts = zip(*night.values_list("state", "counts"), strict=True)
    return RemovalState.ROWS not in states and any(counts)


def remove_batch(removal_id: int) -> BatchResult:
    """Delete some rows or blobs of a removal; `DONE` means that all are deleted."""
    unfinished = get_unfinished().filter(pk=removal_id)
    removal = unfinished.select_for_update(skip_locked=True, of=("self",)).first()
    if removal is None:
        return BatchResult.WAITING if unfinished.exists() else BatchResult.DONE
    if not try_lock_holds():
        return BatchResult.WAITING
    removal.moved_at = timezone.now()
    result = BatchResult.DONE
    if removal.state == RemovalState.ROWS:
        result = _remove_rows(removal)
    elif removal.state == RemovalState.BLOBS:
        removal.swept_to, number = sweep_batch(removal.swept_to)
        if number:
            removal.counts["Blob"] = removal.counts.get("Blob", 0) + number
        removal.state = removal.state if removal.swept_to else RemovalState.SCRUB
        result = BatchResult.MORE
    removal.save()
    return result


def _remove_rows(removal: Removal) -> BatchResult:
    ids = _take_conversations(removal)
    if ids:
        users = rows.get_user_ids(Conversation.objects.filter(pk__in=ids))
        cases = rows.get_test_case_rows(ids) if removal.with_questions else ()
        in_order = (*cases, *rows.get_conversation_rows(ids))
        _note_deleted(removal, rows.delete_first_rows(in_order, users=users))
        return BatchResult.MORE
    scope = scope_of(removal)
    deleted = _delete_others(scope)
    parts = ExportPart.objects.filter(export__state=ExportState.FAILED).order_by()
    ids = list(parts.values_list("pk", flat=True)[:BATCH_EXPORT_PARTS])
    deleted.counts[ExportPart.__name__] += ExportPart.objects.filter(pk__in=ids).delete()[0]
    _note_deleted(removal, deleted)
    if deleted.total:
        return BatchResult.MORE
    running = Run.objects.filter(user_id=scope.user, conversation=None, outcome=Outcome.RUNNING)
    remaining = Conversation.objects.filter(rows.removable_conversations(scope))
    if remaining.exists() or (scope.is_of_user and running.exists()):
        return BatchResult.WAITING
    _note_deleted(removal, rows.delete_erased_user(scope))
    # The blobs of a night's removals are swept once for all copilots.
    is_erasure = removal.cause == Cause.ERASURE
    removal.state = RemovalState.BLOBS if is_erasure else RemovalState.SCRUB
    return BatchResult.MORE


def _take_conversations(removal: Removal) -> list[int]:
    principal = f"{ERASED}{removal.pk}"
    taken = Conversation.objects.filter(principal=principal).order_by("pk")
    ids = list(taken.values_list("pk", flat=True)[:BATCH_CONVERSATIONS])
    if ids:
        return ids
    ids = rows.exclude_running(_lock_next_conversations(removal))
    Conversation.objects.filter(pk__in=ids).update(principal=principal, trace_id="", title="")
    if removal.cause == Cause.ERASURE:
        _withdraw_exports(ids)
    return ids


def _lock_next_conversations(removal: Removal) -> list[int]:
    scope = scope_of(removal)
    found = Conversation.objects.filter(rows.removable_conversations(scope))
    if removal.cause == Cause.ERASURE:
        trials = Conversation.objects.filter(rows.removable_trials(scope))
        found = trials if trials.exists() else found
    running = Run.objects.filter(conversation=OuterRef("pk"), outcome=Outcome.RUNNING)
    oldest = found.filter(~Exists(running)).order_by("last_at", "pk")
    locked = oldest.select_for_update(skip_locked=True, of=("self",))
    return list(locked.values_list("pk", flat=True)[:BATCH_CONVERSATIONS])


def _delete_others(scope: PrivacyScope) -> rows.DeletedRows:
    runs, calls = rows.removable_runs(scope), rows.removable_calls(scope)
    days = rows.removable_caller_days(scope)
    in_order = (*rows.get_run_rows(runs), calls.order_by(), days.order_by())
    users = set() if scope.user else rows.get_user_ids(runs, calls)  # the user is deleted last
    return rows.delete_first_rows(in_order, users=users)


def _withdraw_exports(ids: list[int]) -> None:
    for pk in ids:
        TranscriptExport.objects.filter(bottom__lte=pk, top__gte=pk).update(
            state=ExportState.FAILED,
            error=_("Conversations in this export were erased. Export again."),
            query="",
            words="",
        )


def _note_deleted(removal: Removal, deleted: rows.DeletedRows) -> None:
    counts = Counter(removal.counts) + deleted.counts
    removal.counts = dict(counts)
    if removal.cause == Cause.ERASURE:
        erased_data.store_digests(deleted.runs)
    if deleted.runs:
        transaction.on_commit(partial(erased_data.delete_spooled, deleted.runs))
