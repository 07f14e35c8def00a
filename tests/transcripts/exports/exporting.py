"""An export as tests make one: begun by somebody, written at once."""

from collections.abc import AsyncIterator
from typing import Any
import zlib

from asgiref.sync import async_to_sync

from copilot_admin.models import ExportPart, ExportState, TranscriptExport
from copilot_admin.transcripts.exports.formats import FORMATS
from copilot_admin.transcripts.exports.reading import ExportedConversation, ExportOptions
from copilot_admin.transcripts.exports.writing import ExportWriter, begin_export, read_file
from tests.factories import make_user


def begun(
    name: str = "csv", *, owner: Any = None, with_data: bool = False, **given: str
) -> TranscriptExport:
    options = ExportOptions(with_data=with_data)
    return begin_export((owner or make_user()).pk, given=given, name=name, options=options)


def finished(name: str = "csv", *, owner: Any) -> TranscriptExport:
    """An export whose file is whole, without a thread that wrote it."""
    export = begun(name, owner=owner)
    ExportPart.objects.create(export=export, ord=0, data=zlib.compress(b"one,"))
    ExportPart.objects.create(export=export, ord=1, data=zlib.compress(b"two"))
    export.state, export.n_parts, export.size = ExportState.DONE, 2, 7
    export.save()
    return export


def written(export: TranscriptExport) -> TranscriptExport:
    writing = ExportWriter(export.pk, export.claim)
    while writing.write_batch():
        pass
    export.refresh_from_db()
    return export


def text_of(export: TranscriptExport) -> str:
    return content_of(read_file(export)).decode()


def content_of(parts: AsyncIterator[bytes]) -> bytes:
    async def read() -> bytes:
        return b"".join([part async for part in parts])

    return async_to_sync(read)()


def said_by(name: str, conversation: Any, **options: bool) -> str:
    """One conversation in a format, without a file around it."""
    exported = ExportedConversation(conversation, ExportOptions(**options))
    return "".join(FORMATS[name].write(exported))


def parts_of(export: TranscriptExport) -> list[int]:
    return list(ExportPart.objects.filter(export=export).values_list("ord", flat=True))
