"""Exports written in the background: by this process, or by a worker."""

from functools import partial

from django.db import transaction
from django_tasks import task

from copilot_admin.jobs.tasks import in_turns, waits_for_worker
from copilot_admin.models import TranscriptExport
from copilot_admin.transcripts.exports.conversations import ExportOptions
from copilot_admin.transcripts.exports.keeping import ExportRefusal, begin, take_over
from copilot_admin.transcripts.exports.writing import Writing, WritingStep


@task
def write_export(export_id: int, claim: int) -> None:
    """Writes an export until others have their turn; where it stops early, housekeeping takes it up."""
    writing = Writing(export_id, claim)
    if in_turns(writing.batch, lambda step: step is WritingStep.ENDED) is WritingStep.MOVED:
        write_export.enqueue(export_id, claim)


def export_in_background(
    owner_id: int, *, given: dict[str, str], name: str, options: ExportOptions
) -> TranscriptExport | ExportRefusal:
    """Has transcripts written into a file."""
    with transaction.atomic():
        export = begin(owner_id, given=given, name=name, options=options)
        if isinstance(export, TranscriptExport):
            transaction.on_commit(partial(write_export.enqueue, export.pk, export.claim))
    return export


def resume_exports() -> None:
    """Takes up the exports that nobody writes any more, unless they wait for a worker."""
    for export_id, claim in take_over(partial(waits_for_worker, write_export)):
        write_export.enqueue(export_id, claim)
