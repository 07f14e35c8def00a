"""Goes along the chain in batches, so that a million entries take as little memory as a thousand."""

from collections.abc import Iterator
from datetime import datetime

from copilot_admin.models.audit import AuditEntry

BATCH = 2000  # entries; of 600 bytes, as most are, a megabyte


def entries_after(sequence: int, *, up_to: int | None = None) -> Iterator[AuditEntry]:
    """All entries after one, the oldest first.

    Args:
        sequence: The one.
        up_to: The last one that is wanted; without it whatever there is by then.
    """
    while batch := batch_after(sequence, BATCH, up_to=up_to):
        yield from batch
        sequence = batch[-1].sequence


def batch_after(sequence: int, most: int, *, up_to: int | None = None) -> list[AuditEntry]:
    """The entries after one, as many as are wanted."""
    rows = AuditEntry.objects.filter(sequence__gt=sequence).order_by("sequence")
    if up_to is not None:
        rows = rows.filter(sequence__lte=up_to)
    return list(rows[:most])


def sequence_before(moment: datetime) -> int:
    """The newest entry that is older than a moment; 0 if all are younger. Times go one way only."""
    older = AuditEntry.objects.filter(at__lt=moment).order_by("-at", "-sequence")
    return older.values_list("sequence", flat=True).first() or 0
