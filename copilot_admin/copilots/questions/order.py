"""The saved questions of a copilot put in order, and copied to another one; writes."""

from django.db import transaction

from copilot_admin.models import Copilot, SavedQuestion

COPIED_AT_ONCE = 8  # questions of 4 MB each


def move_question(saved: SavedQuestion, *, by: int) -> int:
    """Moves a question among those of its copilot; its answers stay as new as they are.

    Args:
        saved: Which.
        by: Places towards the end; below zero towards the beginning. It stops at either.

    Returns:
        Its place, from 1.
    """
    with transaction.atomic():
        Copilot.objects.select_for_update(of=("self",), no_key=True).get(pk=saved.copilot_id)
        rows = SavedQuestion.objects.filter(copilot=saved.copilot_id)
        before = list(rows.values_list("pk", "position"))
        order = [pk for pk, _position in before]
        place = min(max(order.index(saved.pk) + by, 0), len(order) - 1)
        order.remove(saved.pk)
        order.insert(place, saved.pk)
        was = dict(before)
        for position, pk in enumerate(order):
            if was[pk] != position:  # not saved: its answers would be older than the question
                rows.filter(pk=pk).update(position=position)
    return place + 1


def copy_questions(copilot: Copilot, *, to: Copilot) -> None:
    """Gives a copilot the questions of another one, without the answers."""
    rows = SavedQuestion.objects.filter(copilot=copilot)
    for saved in rows.iterator(COPIED_AT_ONCE):
        saved.pk = None
        saved._state.adding = True
        saved.copilot = to
        saved.save()
