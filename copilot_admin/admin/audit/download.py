"""What the filters find as a file, a batch at a time in memory."""

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async

from copilot_admin.audit.forwarding import entry_values, format_json
from copilot_admin.models.audit import AuditEntry, AuditEntryQuerySet
from copilot_admin.rendering.csv_safe import format_csv
from protocol.json import Json

BATCH = 1000
COLUMNS = (
    "sequence",
    "at",
    "actor_kind",
    "actor_id",
    "actor_name",
    "address",
    "session",
    "agent",
    "action",
    "subject_kind",
    "subject_id",
    "subject_name",
    "before",
    "after",
    "key_id",
    "previous",
    "hash",
)
MARK = "\ufeff"  # so that spreadsheets read it as UTF-8
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


def pieces(rows: AuditEntryQuerySet, form: str) -> Iterator[str]:
    """The file, for a server of the synchronous kind."""
    yield _head(form)
    sequence = 0
    while batch := _batch(rows, sequence):
        yield _written(batch, form)
        sequence = batch[-1].sequence


async def pieces_in_loop(rows: AuditEntryQuerySet, form: str) -> AsyncIterator[str]:
    """The file, for a server with an event loop."""
    yield _head(form)
    sequence = 0
    while batch := await sync_to_async(_batch)(rows, sequence):
        yield _written(batch, form)
        sequence = batch[-1].sequence


def _batch(rows: AuditEntryQuerySet, sequence: int) -> list[AuditEntry]:
    return list(rows.filter(sequence__gt=sequence).order_by("sequence")[:BATCH])


def _head(form: str) -> str:
    return MARK + format_csv([COLUMNS]) if form == "csv" else ""


def _written(entries: list[AuditEntry], form: str) -> str:
    if form == "jsonl":
        return "".join(f"{format_json(one)}\n" for one in entries)
    return format_csv(list(map(_cell, map(entry_values(one).get, COLUMNS))) for one in entries)


def _cell(value: Json) -> str | int:
    return value if isinstance(value, int) else str(value or "")
