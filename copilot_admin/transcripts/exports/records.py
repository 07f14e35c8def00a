"""Rows of exports: created, claimed, advanced, ended, downloaded and swept.

The process that writes an export holds a claim, a number in its row. A process that takes over
increments it, and later writes of the former holder match no row: two processes never write one file.
"""

from collections.abc import AsyncIterator
from datetime import UTC, timedelta
import zlib

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.errors import ConfigurationError
from copilot_admin.models import ExportPart, ExportState, TranscriptExport
from copilot_admin.storage.sql import delete_rows
from copilot_admin.transcripts.exports.formats import FORMATS
from copilot_admin.transcripts.exports.reading import ExportOptions
from copilot_admin.transcripts.exports.selection import describe_query, find_id_range, freeze_query

RETENTION = timedelta(days=7)
MAX_RUNNING = 3  # exports of one person at a time
MAX_SWEPT = 20  # parts of one batch, some 100 kB each
MAX_QUERY_LENGTH = 8_000


def begin_export(
    owner_id: int, *, given: dict[str, str], name: str, options: ExportOptions
) -> TranscriptExport:
    """Store a new export; raise ConfigurationError for too many exports or too long filters."""
    running = TranscriptExport.objects.kept().filter(owner=owner_id, state=ExportState.RUNNING)
    if running.count() >= MAX_RUNNING:
        sentence = _("You have %(max)d exports in progress. Wait for one to finish, or stop one.")
        raise ConfigurationError(sentence % {"max": MAX_RUNNING})
    query = freeze_query(given)
    if len(query) > MAX_QUERY_LENGTH:
        raise ConfigurationError(_("The filters are too long. Select fewer values."))
    bottom, top = find_id_range()
    now = timezone.now()
    return TranscriptExport.objects.create(
        owner_id=owner_id,
        query=query,
        words=describe_query(query),
        format=name,
        with_data=options.with_data and FORMATS[name].has_data,
        with_prompts=options.with_prompts and FORMATS[name].has_prompts,
        top=top,
        bottom=bottom,
        position=top + 1,
        moved_at=now,
        expires_at=now + RETENTION,
    )


def claim_export(export_id: int, claim: int) -> TranscriptExport | None:
    """Return an export to continue, without parts of an unfinished conversation; None if it ended."""
    export = _claimed(export_id, claim).select_for_update().first()
    if export is not None:
        ExportPart.objects.filter(export=export, ord__gte=export.n_parts).delete()
    return export


def store_progress(export: TranscriptExport, claim: int, part: bytes, **columns: object) -> bool:
    """Store a part of the file, if any, and columns; return False if the claim is lost."""
    if not _claimed(export.pk, claim).update(moved_at=timezone.now(), **columns):
        return False
    if part:
        ExportPart.objects.create(export=export, ord=export.n_parts - 1, data=part)
    return True


def fail_export(export_id: int, claim: int, sentence: str) -> None:
    """End an export that can't be written; its parts are swept."""
    _claimed(export_id, claim).update(state=ExportState.FAILED, error=sentence)


def stop_export(export: TranscriptExport) -> bool:
    """End an export for its owner; return False if it had ended."""
    running = TranscriptExport.objects.filter(pk=export.pk, state=ExportState.RUNNING)
    return bool(running.update(state=ExportState.STOPPED))


def discard_export(export: TranscriptExport) -> None:
    """Remove an export immediately; its parts are swept in short batches."""
    TranscriptExport.objects.filter(pk=export.pk).update(expires_at=timezone.now())
    stop_export(export)


def sweep_exports() -> int:
    """Delete some parts of ended exports, then expired exports; return the number of rows."""
    now = timezone.now()
    ended = TranscriptExport.objects.filter(
        Q(state__in=(ExportState.FAILED, ExportState.STOPPED)) | Q(expires_at__lte=now)
    )
    parts = ExportPart.objects.filter(export__in=ended).order_by()
    pks = list(parts.values_list("pk", flat=True)[:MAX_SWEPT])
    if pks:
        return delete_rows(ExportPart._meta.pk, pks)
    expired = list(ended.filter(expires_at__lte=now).values_list("pk", flat=True)[:MAX_SWEPT])
    return delete_rows(TranscriptExport._meta.pk, expired)


def file_name(export: TranscriptExport) -> str:
    """Return the name of the file, without user input."""
    day = export.made_at.astimezone(UTC).date().isoformat()
    return f"transcripts-{day}-{export.pk}.{export.format}"


def media_type(export: TranscriptExport) -> str:
    form = FORMATS.get(export.format)
    return form.media_type if form else "application/octet-stream"


async def read_file(export: TranscriptExport) -> AsyncIterator[bytes]:
    """Yield the file part by part; breaks off if it is deleted during the download."""
    parts = ExportPart.objects.filter(export=export).values_list("data", flat=True)
    for order in range(export.n_parts):
        yield zlib.decompress(await parts.aget(ord=order))


def _claimed(export_id: int, claim: int) -> QuerySet[TranscriptExport]:
    return TranscriptExport.objects.kept().filter(
        pk=export_id, claim=claim, state=ExportState.RUNNING
    )
