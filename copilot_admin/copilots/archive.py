"""Archive of copilots, and the lock for changes of copilots."""

from collections.abc import Collection

from django.db import transaction
from django.utils import timezone

from copilot_admin.models import Copilot


def lock(ids: Collection[int]) -> None:
    """Lock copilots until the end of the transaction, in one order so that nothing deadlocks."""
    rows = Copilot.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
    list(rows.values_list("pk"))


def archive_copilots(ids: Collection[int]) -> list[Copilot]:
    """Archive copilots: they are disabled and hidden. Return those that weren't archived."""
    with transaction.atomic():
        lock(ids)
        rows = Copilot.objects.in_use().filter(pk__in=ids, deletion_requested_at=None)
        found = list(rows.order_by("name"))
        now = timezone.now()
        for copilot in found:
            copilot.enabled, copilot.archived_at = False, now
            copilot.save(update_fields=["enabled", "archived_at"])
    return found


def restore_copilots(ids: Collection[int]) -> list[Copilot]:
    """Restore copilots from the archive, disabled. Return those that were archived."""
    with transaction.atomic():
        lock(ids)
        rows = Copilot.objects.exclude(archived_at=None).filter(
            pk__in=ids, deletion_requested_at=None
        )
        found = list(rows.order_by("name"))
        for copilot in found:
            copilot.archived_at = None
            copilot.save(update_fields=["archived_at"])
    return found
