"""How far somebody has come along the chain; of several processes one at a time goes on."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from copilot_admin.models.audit import AuditCursor, AuditCursorName

LEASE = timedelta(seconds=60)  # longer than a batch takes to be sent, or given up

AHEAD = timedelta(minutes=30)  # further than clocks of machines differ


def place(name: AuditCursorName) -> int:
    """The number of the entry that is done; nothing is written."""
    done = AuditCursor.objects.filter(name=name).values_list("sequence", flat=True).first()
    return done or 0


def take(name: AuditCursorName) -> int | None:
    """The number of the entry that is done; None while another process goes on."""
    AuditCursor.objects.get_or_create(name=name)
    now = timezone.now()
    # What is taken for longer than a lease lasts was taken by a clock that was set back since.
    wrong = Q(taken_until__gt=now + LEASE + AHEAD)
    free = Q(taken_until=None) | Q(taken_until__lt=now) | wrong
    if not AuditCursor.objects.filter(free, name=name).update(taken_until=now + LEASE):
        return None
    return AuditCursor.objects.values_list("sequence", flat=True).get(name=name)


def give_back(name: AuditCursorName, sequence: int) -> None:
    """Says how far it has come, and lets others go on."""
    AuditCursor.objects.filter(name=name).update(sequence=sequence, taken_until=None)
