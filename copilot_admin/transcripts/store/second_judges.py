"""Verdicts that nobody is told yet: a second person is still to judge, and not by what the first said."""

from typing import Any

from django.db.models import QuerySet

from copilot_admin.models import ReviewQueue, Seat, Verdict


def sealed() -> "QuerySet[Seat, Any]":
    """The conversations that a queue in which two people judge each still wants somebody for.

    What was said of them is in no list, filter, figure, export, agreement or trail, whoever asks:
    anybody may be the second. It is there when both have judged, or the queue is closed.
    """
    return _wanted().order_by().values("conversation")


def awaits_judges(conversation: int) -> bool:
    """Whether somebody is still wanted to judge this conversation as the second."""
    return _wanted().filter(conversation=conversation).exists()


def awaits_judges_now(conversation: int) -> bool:
    """The same until the end of the transaction: its queues are closed after it; call it in one."""
    wanted = _wanted().filter(conversation=conversation).values("queue")
    queues = ReviewQueue.objects.select_for_update(no_key=True).filter(pk__in=wanted)
    return bool(queues.order_by("pk").values_list("pk", flat=True)) and awaits_judges(conversation)


def wrongly_counted() -> "QuerySet[Verdict]":
    """Verdicts that figures count and nobody is told, and those that are told and not counted."""
    return Verdict.objects.filter(is_counted=True, conversation__in=sealed()) | told_uncounted()


def told_uncounted() -> "QuerySet[Verdict]":
    """Verdicts that are told, and not counted."""
    return Verdict.objects.filter(is_counted=False).exclude(conversation__in=sealed())


def _wanted() -> "QuerySet[Seat]":
    return Seat.objects.filter(done_at=None, queue__is_closed=False, queue__judges__gt=1)
