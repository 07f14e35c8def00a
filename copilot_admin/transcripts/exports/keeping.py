"""The rows of exports: begun, claimed, moved on, ended, swept; writes.

Who writes an export holds a claim, a number in its row. Whoever takes over counts it up, and what the
one before still wants to write finds nothing: two processes never write one file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from copilot_admin.models import ExportPart, ExportState, TranscriptExport
from copilot_admin.storage.sql import delete_rows
from copilot_admin.transcripts.exports.conversations import ExportOptions
from copilot_admin.transcripts.exports.format import all_formats
from copilot_admin.transcripts.exports.selection import borders, frozen_query, words_of
from copilot_admin.transcripts.store import is_missed

KEPT_FOR = timedelta(days=7)
MOST_RUNNING = 3  # exports of one person at a time
SWEPT_AT_ONCE = 20  # parts of one batch, some 100 kB each
LONGEST_QUERY = 8_000


class ExportRefusal(StrEnum):
    """Why an export was not begun."""

    MANY = "many"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportProgress:
    """How far an export has come.

    Attributes:
        position: It goes on below this id.
        n_parts: Parts that are whole.
        size: Bytes of its file.
    """

    position: int
    n_parts: int
    n_conversations: int
    n_turns: int
    size: int


def begin(
    owner_id: int, *, given: dict[str, str], name: str, options: ExportOptions
) -> TranscriptExport | ExportRefusal:
    """Stores an export that is to be written.

    Args:
        owner_id: Who may have the file.
        given: The parameters of the list's address.
        name: Of the format.
        options: What is wanted beside what was said.
    """
    running = TranscriptExport.objects.kept().filter(owner=owner_id, state=ExportState.RUNNING)
    if running.count() >= MOST_RUNNING:
        return ExportRefusal.MANY
    query = frozen_query(given)
    if len(query) > LONGEST_QUERY:
        return ExportRefusal.LONG
    form = all_formats()[name]
    bottom, top = borders()
    now = timezone.now()
    return TranscriptExport.objects.create(
        owner_id=owner_id,
        query=query,
        words=words_of(query),
        format=name,
        with_data=options.with_data and form.has_data,
        with_prompts=options.with_prompts and form.has_prompts,
        top=top,
        bottom=bottom,
        position=top + 1,
        moved_at=now,
        expires_at=now + KEPT_FOR,
    )


def claim(export_id: int, number: int) -> TranscriptExport | None:
    """An export to go on with; parts of a conversation that was not written whole are gone.

    Returns:
        None: It has ended, or somebody else goes on with it.
    """
    export = _claimed(export_id, number).select_for_update().first()
    if export is not None:
        leftover = ExportPart.objects.filter(export=export, ord__gte=export.n_parts)
        leftover.delete()
    return export


def keep_part(export_id: int, number: int, order: int, data: bytes) -> bool:
    """Stores a part of the file.

    Returns:
        False: the claim is lost.
    """
    if not _claimed(export_id, number).update(moved_at=timezone.now()):
        return False
    ExportPart.objects.create(export_id=export_id, ord=order, data=data)
    return True


def advance(
    export_id: int,
    number: int,
    progress: ExportProgress,
    *,
    part: bytes = b"",
    is_done: bool = False,
) -> bool:
    """Says that everything is whole down to a place, with the last part that leads there.

    Returns:
        False: the claim is lost.
    """
    values = {field: getattr(progress, field) for field in ExportProgress.__slots__}
    state = {"state": ExportState.DONE} if is_done else {}
    if not _claimed(export_id, number).update(moved_at=timezone.now(), **values, **state):
        return False
    if part:
        ExportPart.objects.create(export_id=export_id, ord=progress.n_parts - 1, data=part)
    return True


def fail(export_id: int, number: int, sentence: str) -> None:
    """Ends an export that cannot be written; what there is of it is swept."""
    _claimed(export_id, number).update(state=ExportState.FAILED, error=sentence)


def stop(export: TranscriptExport) -> bool:
    """Ends an export on the wish of its owner.

    Returns:
        Whether it was still being written.
    """
    running = TranscriptExport.objects.filter(pk=export.pk, state=ExportState.RUNNING)
    return bool(running.update(state=ExportState.STOPPED))


def discard(export: TranscriptExport) -> None:
    """Takes an export away at once; its parts are swept in short batches."""
    now = timezone.now()
    TranscriptExport.objects.filter(pk=export.pk).update(expires_at=now)
    stop(export)


def take_over(waits: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """Exports that nobody writes, each with the claim of who goes on; handed to one caller only.

    Args:
        waits: Whether a worker will do one anyway, by its id and its claim.
    """
    is_stalled = is_missed("moved_at", timezone.now())
    stalled = TranscriptExport.objects.kept().filter(is_stalled, state=ExportState.RUNNING)
    return [
        (pk, number + 1)
        for pk, number in stalled.values_list("pk", "claim")
        if not waits(pk, number)
        and stalled.filter(pk=pk, claim=number).update(
            claim=F("claim") + 1, moved_at=timezone.now()
        )
    ]


def sweep_exports() -> int:
    """Deletes some parts that nobody may have any more, then exports whose time has run out.

    Returns:
        How many rows went.
    """
    now = timezone.now()
    ended = TranscriptExport.objects.filter(
        Q(state__in=(ExportState.FAILED, ExportState.STOPPED)) | Q(expires_at__lte=now)
    )
    parts = ExportPart.objects.filter(export__in=ended).order_by()
    pks = list(parts.values_list("pk", flat=True)[:SWEPT_AT_ONCE])
    if pks:
        return delete_rows(ExportPart._meta.pk, pks)
    gone = list(ended.filter(expires_at__lte=now).values_list("pk", flat=True)[:SWEPT_AT_ONCE])
    return delete_rows(TranscriptExport._meta.pk, gone)


def _claimed(export_id: int, number: int) -> QuerySet[TranscriptExport]:
    return TranscriptExport.objects.kept().filter(
        pk=export_id, claim=number, state=ExportState.RUNNING
    )
