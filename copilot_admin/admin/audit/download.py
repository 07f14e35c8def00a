"""Audit entries as CSV or JSON lines."""

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.db.models import QuerySet

from copilot_admin.audit.forwarding import entry_values, format_json
from copilot_admin.models.audit import AuditEntry
from copilot_admin.rendering.csv_safe import format_csv
from protocol.json import Json

BATCH_SIZE = 1000
COLUMNS = tuple(field.attname for field in AuditEntry._meta.concrete_fields)
BOM = "\ufeff"  # spreadsheets need it to read UTF-8
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


async def stream_file(rows: QuerySet[AuditEntry], form: str) -> AsyncIterator[str]:
    """Yield the file in batches, so that it's never in memory as a whole."""
    yield BOM + format_csv([COLUMNS]) if form == "csv" else ""
    sequence = 0
    while batch := await sync_to_async(_load_batch)(rows, sequence):
        yield _format(batch, form)
        sequence = batch[-1].sequence


def _load_batch(rows: QuerySet[AuditEntry], sequence: int) -> list[AuditEntry]:
    return list(rows.filter(sequence__gt=sequence).order_by("sequence")[:BATCH_SIZE])


def _format(entries: list[AuditEntry], form: str) -> str:
    if form == "jsonl":
        return "".join(f"{format_json(one)}\n" for one in entries)
    return format_csv(list(map(_cell, map(entry_values(one).get, COLUMNS))) for one in entries)


def _cell(value: Json) -> str | int:
    return value if isinstance(value, int) else str(value or "")
