"""The file of an export, part by part; one of them is in memory at a time."""

from collections.abc import AsyncIterator, Iterator
import zlib

from django.db.models import QuerySet

from copilot_admin.models import ExportPart, TranscriptExport
from copilot_admin.transcripts.exports.format import all_formats
from copilot_admin.transcripts.exports.selection import day_of


def file_name(export: TranscriptExport) -> str:
    """What the file is called; nothing in it is of anybody's making."""
    return f"transcripts-{day_of(export.made_at)}-{export.pk}.{export.format}"


def media_type(export: TranscriptExport) -> str:
    """What the file is; of a format that this release does not know, bytes."""
    form = all_formats().get(export.format)
    return form.media_type if form else "application/octet-stream"


def pieces(export: TranscriptExport) -> Iterator[bytes]:
    """The file, for a server of the synchronous kind.

    Raises:
        ExportPart.DoesNotExist: It was deleted meanwhile: the download ends early, and fails.
    """
    for order in range(export.n_parts):
        yield zlib.decompress(_part(export, order).get())


async def pieces_in_loop(export: TranscriptExport) -> AsyncIterator[bytes]:
    """The file, for a server with an event loop.

    Raises:
        ExportPart.DoesNotExist: As above.
    """
    for order in range(export.n_parts):
        yield zlib.decompress(await _part(export, order).aget())


def _part(export: TranscriptExport, order: int) -> "QuerySet[ExportPart, bytes | memoryview[int]]":
    parts = ExportPart.objects.filter(export=export, ord=order)
    return parts.values_list("data", flat=True)
