"""The archive of copilots, and the lock that keeps others from changing copilots."""

from collections.abc import Collection

from django.db import transaction
from django.utils import timezone

from copilot_admin.models import Copilot


def lock(ids: Collection[int]) -> None:
    """Waits until nobody else changes these copilots; what is read of them from then on stays so.

    All in one order: of two who want several the second one waits, and neither for the other. Over SQLite
    whoever is in a transaction that writes is the only one.
    """
    rows = Copilot.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
    list(rows.values_list("pk"))


def put_away(ids: Collection[int]) -> list[Copilot]:
    """Puts copilots into the archive: they answer nobody from now on, and lists leave them out.

    Draft, versions, questions, keys and transcripts stay as they are.

    Returns:
        Those that were not there yet.
    """
    with transaction.atomic():
        lock(ids)
        rows = Copilot.objects.in_use().filter(pk__in=ids, deletion_requested_at=None)
        found = list(rows.order_by("name"))
        now = timezone.now()
        for copilot in found:
            copilot.enabled, copilot.archived_at = False, now
            copilot.save(update_fields=["enabled", "archived_at"])
    return found


def bring_back(ids: Collection[int]) -> list[Copilot]:
    """Takes copilots out of the archive, switched off: nobody notices before they are switched on.

    Returns:
        Those that were there.
    """
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
