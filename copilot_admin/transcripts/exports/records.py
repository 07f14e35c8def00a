"""Rows of exports: begin, claim, advance, end, download and sweep.

The process that writes an export holds a claim, a number in its row. A process that takes over
increments it, and later writes of the former holder match no row: two processes never write one file.
"""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, timedelta
import zlib

from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.errors import ConfigurationError
from copilot_admin.models import ExportPart, ExportState, TranscriptExport
from copilot_admin.storage.sql import delete_rows
from copilot_admin.transcripts.exports.formats import FORMATS
from copilot_admin.transcripts.exports.reading import ExportOptions
from copilot_admin.transcripts.exports.selection import describe_query, find_id_range, freeze_query
from copilot_admin.transcripts.store.checkpoints import is_missed

RETENTION = timedelta(days=7)
MAX_RUNNING = 3  # exports of one person at a time
MAX_SWEPT = 20  # parts of one batch, some 100 kB each
MAX_QUERY_LENGTH = 8_000


def begin_export(
    owner_id: int, *, given: dict[str, str], name: str, options: ExportOptions
) -> TranscriptExport:
    """Store a new export for the worker.

    Args:
        owner_id: The person who may download the file.
        given: The parameters of the list's URL.
        name: Of the format.
        options: Optional parts.

    Raises:
        ConfigurationError: The person has too many running exports, or the filters are too long.
    """
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
    """Return an export to continue, without parts of an unfinished conversation.

    Returns:
        None if it has ended, or another process continues it.
    """
    export = _claimed(export_id, claim).select_for_update().first()
    if export is not None:
        ExportPart.objects.filter(export=export, ord__gte=export.n_parts).delete()
    return export


def store_part(export_id: int, claim: int, order: int, data: bytes) -> bool:
    """Store a part of the file; return False if the claim is lost."""
    if not _claimed(export_id, claim).update(moved_at=timezone.now()):
        return False
    ExportPart.objects.create(export_id=export_id, ord=order, data=data)
    return True


def store_progress(export: TranscriptExport, claim: int, part: bytes, *, is_done: bool) -> bool:
    """Store the progress of an export with its last part; return False if the claim is lost."""
    names = ("position", "n_parts", "n_conversations", "n_turns", "size")
    values = {name: getattr(export, name) for name in names}
    state = {"state": ExportState.DONE} if is_done else {}
    if not _claimed(export.pk, claim).update(moved_at=timezone.now(), **values, **state):
        return False
    if part:
        ExportPart.objects.create(export_id=export.pk, ord=export.n_parts - 1, data=part)
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


def take_over(is_queued: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """Claim the exports that no process writes; each has only one claimant.

    Args:
        is_queued: Returns whether a worker will write one anyway, by its id and its claim.
    """
    is_stalled = is_missed("moved_at", timezone.now())
    stalled = TranscriptExport.objects.kept().filter(is_stalled, state=ExportState.RUNNING)
    return [
        (pk, claim + 1)
        for pk, claim in stalled.values_list("pk", "claim")
        if not is_queued(pk, claim)
        and stalled.filter(pk=pk, claim=claim).update(claim=F("claim") + 1, moved_at=timezone.now())
    ]


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
    """Return the media type of the file; for unknown formats that of binary data."""
    form = FORMATS.get(export.format)
    return form.media_type if form else "application/octet-stream"


async def read_file(export: TranscriptExport) -> AsyncIterator[bytes]:
    """Yield the file part by part.

    Raises:
        ExportPart.DoesNotExist: It was deleted during the download, which then breaks off.
    """
    parts = ExportPart.objects.filter(export=export).values_list("data", flat=True)
    for order in range(export.n_parts):
        yield zlib.decompress(await parts.aget(ord=order))


def _claimed(export_id: int, claim: int) -> QuerySet[TranscriptExport]:
    return TranscriptExport.objects.kept().filter(
        pk=export_id, claim=claim, state=ExportState.RUNNING
    )
