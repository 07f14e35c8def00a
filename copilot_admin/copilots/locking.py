"""Keeps copilots from being changed by others until a transaction ends; questions go on meanwhile."""

from collections.abc import Collection

from copilot_admin.models import Copilot


def lock(ids: Collection[int]) -> None:
    """Waits until nobody else changes these copilots; what is read of them from then on stays so.

    All in one order: of two who want several the second one waits, and neither for the other. Over SQLite
    whoever is in a transaction that writes is the only one.
    """
    rows = Copilot.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
    list(rows.values_list("pk"))
