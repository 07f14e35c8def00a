"""Verdicts that nobody is told yet: a second person is still to judge, and not by what the first said."""

from typing import Any

from django.db.models import QuerySet

from copilot_admin.models import ReviewQueue, Seat


def sealed() -> "QuerySet[Seat, Any]":
    """The conversations that a queue in which two people judge each still wants somebody for.

    What was said of them is in no list, filter, figure, export, agreement or trail, whoever asks:
    anybody may be the second. It is there when both have judged, or the queue is closed.
    """
    return _wanted().order_by().values("conversation")


def awaits_judges(conversation: int) -> bool:
    """Whether somebody is still wanted to judge this conversation as the second."""
    return _wanted().filter(conversation=conversation).exists()


def lock_queues(conversation: int) -> None:
    """Keep the review queues of a conversation from being closed or opened until the transaction ends."""
    queues = Seat.objects.filter(conversation=conversation, queue__judges__gt=1).values("queue")
    locked = ReviewQueue.objects.select_for_update(no_key=True).filter(pk__in=queues)
    list(locked.order_by("pk").values_list("pk", flat=True))


def _wanted() -> "QuerySet[Seat]":
    return Seat.objects.filter(done_at=None, queue__is_closed=False, queue__judges__gt=1)
