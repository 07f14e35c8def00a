"""Saved questions of a copilot: their digest, their order, and copies of them."""

from collections.abc import Mapping
import hashlib
import json
from typing import Any

from django.db import transaction

from copilot_admin.models import Copilot, SavedQuestion


def digest_of_question(question: str, body: Mapping[str, Any]) -> str:
    """A digest of the words and of all that they bring, but not of what is expected."""
    whole = json.dumps([question, body], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


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
