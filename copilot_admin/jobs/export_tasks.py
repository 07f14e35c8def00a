"""Background tasks that write exports of transcripts."""

from functools import partial

from django.db import transaction
from django_tasks import task

from copilot_admin.jobs.tasks import is_queued, run_batches
from copilot_admin.models import TranscriptExport
from copilot_admin.transcripts.exports.reading import ExportOptions
from copilot_admin.transcripts.exports.records import begin_export, take_over
from copilot_admin.transcripts.exports.writing import BatchOutcome, ExportWriter


@task
def write_export(export_id: int, claim: int) -> None:
    """Write a part of an export; a periodic task resumes it if it is interrupted."""
    writer = ExportWriter(export_id, claim)
    last = run_batches(writer.write_batch, lambda step: step is BatchOutcome.ENDED)
    if last is BatchOutcome.MOVED:
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
    for export_id, claim in take_over(partial(is_queued, write_export)):
        write_export.enqueue(export_id, claim)
