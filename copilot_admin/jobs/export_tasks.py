"""Background tasks that write exports of transcripts."""

from functools import partial

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django_tasks import task

from copilot_admin.jobs.tasks import is_queued, run_batches
from copilot_admin.models import ExportState, TranscriptExport
from copilot_admin.transcripts.exports.reading import ExportOptions
from copilot_admin.transcripts.exports.writing import ExportWriter, begin_export
from copilot_admin.transcripts.store.transcript_store import is_missed


@task
def write_export(export_id: int, claim: int) -> None:
    """Write a part of an export; a periodic task resumes it if it is interrupted."""
    writer = ExportWriter(export_id, claim)
    if run_batches(writer.write_batch, lambda has_more: not has_more):
        write_export.enqueue(export_id, claim)


def export_in_background(
    owner_id: int, *, given: dict[str, str], name: str, options: ExportOptions
) -> TranscriptExport:
    """Store an export and enqueue its task; see `begin_export`."""
    with transaction.atomic():
        export = begin_export(owner_id, given=given, name=name, options=options)
        transaction.on_commit(partial(write_export.enqueue, export.pk, export.claim))
    return export


def resume_exports() -> None:
    """Claim and enqueue the exports that no process writes; each has only one claimant."""
    now = timezone.now()
    running = TranscriptExport.objects.unexpired().filter(state=ExportState.RUNNING)
    stalled = running.filter(is_missed("moved_at", now))
    for pk, claim in list(stalled.values_list("pk", "claim")):
        own = stalled.filter(pk=pk, claim=claim)
        if not is_queued(write_export, pk, claim) and own.update(
            claim=F("claim") + 1, moved_at=now
        ):
            write_export.enqueue(pk, claim + 1)
