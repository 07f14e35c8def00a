"""Audit entries as CSV or JSON lines."""

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.db.models import QuerySet

from copilot_admin.audit.forwarding import entry_values, format_json
from copilot_admin.models.audit import AuditEntry
from copilot_admin.rendering.csv_safe import format_csv

BATCH_SIZE = 1000
COLUMNS = tuple(field.attname for field in AuditEntry._meta.concrete_fields)
BOM = "\ufeff"  # spreadsheets need it to read UTF-8
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


async def stream_file(rows: QuerySet[AuditEntry], form: str) -> AsyncIterator[str]:
    """Yield the file in batches, so that it's never in memory as a whole."""
    yield BOM + format_csv([COLUMNS]) if form == "csv" else ""
    sequence = 0

    def load() -> list[AuditEntry]:
        return list(rows.filter(sequence__gt=sequence).order_by("sequence")[:BATCH_SIZE])

    while batch := await sync_to_async(load)():
        if form == "jsonl":
            yield "".join(f"{format_json(one)}\n" for one in batch)
        else:
            entries = map(entry_values, batch)
            yield format_csv([str(one[name] or "") for name in COLUMNS] for one in entries)
        sequence = batch[-1].sequence
