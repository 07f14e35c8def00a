"""Entries that cannot be read: each is told by its number, so that it does not hide the others.

Somebody wrote them past the server: times that no calendar has, and on SQLite whatever a column takes.
`audit verify` says the same of them, and of those that can be read and are not as they were hashed.
"""

from datetime import datetime

from django.db import Error
from django.db.models import QuerySet

from copilot_admin.models.audit import AuditEntry

UNREADABLE = (Error, TypeError, ValueError)
ACTION = "unreadable"  # what is told of them in place of what was done
_KINDS = {"CharField": str, "TextField": str, "DateTimeField": datetime}


def told_of(rows: QuerySet[AuditEntry]) -> list[AuditEntry]:
    """Some entries in their order; in place of one that cannot be read another that says so."""
    try:
        return [one if _is_sound(one) else _unreadable(one.sequence) for one in rows]
    except UNREADABLE:
        numbers = list(rows.values_list("sequence", flat=True))  # fails where no database is
        return [_told(number) for number in numbers]


def is_unreadable(entry: AuditEntry) -> bool:
    """Whether it stands for one that cannot be read."""
    return entry.at is None


def _told(sequence: int) -> AuditEntry:
    try:
        entry = AuditEntry.objects.get(sequence=sequence)
    except UNREADABLE:
        return _unreadable(sequence)
    return entry if _is_sound(entry) else _unreadable(sequence)


def _unreadable(sequence: int) -> AuditEntry:
    return AuditEntry(sequence=sequence, action=ACTION, before="{}", after="{}")


def _is_sound(entry: AuditEntry) -> bool:
    """Whether what was read of it is of the kinds of its columns."""
    read = vars(entry)
    kinds = (
        (read[one.attname], _KINDS.get(one.get_internal_type()))
        for one in AuditEntry._meta.concrete_fields
        if one.attname in read
    )
    return all(kind is None or isinstance(value, kind) for value, kind in kinds)
