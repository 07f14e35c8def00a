"""Verdicts that nobody is told yet: a second person is still to judge, and not by what the first said."""

from typing import Any

from django.db.models import QuerySet

from copilot_admin.models import Seat


def sealed() -> "QuerySet[Seat, Any]":
    """The conversations that a queue in which two people judge each still wants somebody for.

    What was said of them is left out of lists, their filters and exports, whoever asks: anybody
    may be the second. It is there when both have judged, or the queue is closed.
    """
    return _wanted().order_by().values("conversation")


def awaits_judges(conversation: int) -> bool:
    """Whether somebody is still wanted to judge this conversation as the second."""
    return _wanted().filter(conversation=conversation).exists()


def _wanted() -> QuerySet[Seat]:
    return Seat.objects.filter(done_at=None, queue__is_closed=False, queue__judges__gt=1)
