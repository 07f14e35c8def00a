"""Goes along the chain in batches, so that a million entries take as little memory as a thousand."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import QuerySet

from copilot_admin.audit.unreadable import UNREADABLE, told_of
from copilot_admin.models.audit import AuditEntry

FIRST = 1  # number of the oldest entry
BATCH = 2000  # entries; of 600 bytes, as most are, a megabyte


class UnreadableEntry(Exception):
    """An entry holds what no entry can hold: somebody wrote it past the server.

    Attributes:
        sequence: Which one.
    """

    def __init__(self, sequence: int) -> None:
        super().__init__(f"Entry {sequence} cannot be read.")
        self.sequence = sequence


def entries_after(sequence: int | None, *, up_to: int | None = None) -> Iterator[AuditEntry]:
    """All entries after one, the oldest first.

    Args:
        sequence: The one; None: all entries, also those that were put in before the first one.
        up_to: The last one that is wanted; without it whatever there is by then.

    Raises:
        UnreadableEntry: It is the next one.
    """
    goes_on = True
    while goes_on:
        goes_on = False
        for entry in _readable(_rows(sequence, up_to)[:BATCH]):
            yield entry
            sequence, goes_on = entry.sequence, True


def is_any_after(sequence: int) -> bool:
    """Whether there is an entry after one."""
    return _rows(sequence, None).exists()


def batch_after(
    sequence: int, most: int, *, of: QuerySet[AuditEntry] | None = None
) -> list[AuditEntry]:
    """The entries after one, as many as are wanted, and in place of one that cannot be read its number.

    Args:
        sequence: The one.
        most: How many.
        of: Those that are looked for; without it all.
    """
    return [one for one in told_of(_rows(sequence, None, of)[:most]) if is_number(one.sequence)]


def told_after(sequence: int) -> Iterator[AuditEntry]:
    """All entries after one, the oldest first; of those that cannot be read the numbers."""
    while entries := batch_after(sequence, BATCH):
        yield from entries
        sequence = entries[-1].sequence


def is_number(sequence: object) -> bool:
    """Whether an entry can have it; SQLite keeps any value, and has what is no number last."""
    return isinstance(sequence, int) and sequence >= FIRST


def _rows(
    sequence: int | None, up_to: int | None, of: QuerySet[AuditEntry] | None = None
) -> QuerySet[AuditEntry]:
    rows = (AuditEntry.objects.all() if of is None else of).order_by("sequence")
    if sequence is not None:
        rows = rows.filter(sequence__gt=sequence)
    return rows if up_to is None else rows.filter(sequence__lte=up_to)


def _readable(rows: QuerySet[AuditEntry]) -> Iterator[AuditEntry]:
    """Some entries; where they cannot be read together, those before the one that cannot be."""
    try:
        entries = list(rows)
    except UNREADABLE:
        entries = []
    yield from entries
    if entries:
        return
    for sequence in list(rows.values_list("sequence", flat=True)):  # fails where no database is
        try:
            yield AuditEntry.objects.get(sequence=sequence)
        except UNREADABLE as error:
            raise UnreadableEntry(sequence) from error


def sequence_before(moment: datetime) -> int:
    """The newest entry that is older than a moment; 0 if all are younger. Times go one way only."""
    older = AuditEntry.objects.filter(at__lt=moment).order_by("-at", "-sequence")
    return older.values_list("sequence", flat=True).first() or 0
