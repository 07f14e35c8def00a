"""Removals as rows that say how far they have come: begun, claimed, and done."""

from django.db.models import Q, QuerySet
from django.utils import timezone

from copilot_admin.models import Cause, Removal, RemovalState
from copilot_admin.privacy.counting import begun_with
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.transcripts.store import is_missed


def begin(
    scope: PrivacyScope, *, reason: str = "", by_id: int | None = None, with_questions: bool = True
) -> Removal:
    """Stores that something is to be erased.

    Raises:
        ValueError: The scope says nothing: nobody erases everything by an empty form.
    """
    if not scope:
        raise ValueError(
            "Say what is to be erased: a conversation, a user, a caller, a copilot or a period."
        )
    return Removal.objects.create(
        cause=Cause.ERASURE,
        conversation=scope.conversation,
        user=scope.user,
        principal=scope.principal,
        copilot=scope.copilot,
        since=scope.since,
        until=scope.until,
        reason=reason,
        asked_by_id=by_id,
        with_questions=with_questions,
        total=begun_with(scope, with_trials=True),
        moved_at=timezone.now(),
    )


def unfinished() -> QuerySet[Removal]:
    """The removals that are not done."""
    return Removal.objects.exclude(state=RemovalState.DONE)


def claim_stalled() -> list[int]:
    """Removals that nobody goes on with; each is handed to one caller only."""
    now = timezone.now()
    stalled = unfinished().filter(Q(moved_at=None) | is_missed("moved_at", now))
    return [
        pk
        for pk in stalled.values_list("pk", flat=True)
        if stalled.filter(pk=pk).update(moved_at=now)
    ]


def claim(removal_id: int) -> None:
    """Says that somebody is at work on a removal, so that nobody else takes it up."""
    unfinished().filter(pk=removal_id).update(moved_at=timezone.now())


def is_to_be_cleared(removal_id: int) -> bool:
    """Whether what a removal deleted is to leave the files of the database now.

    Of a night's prunings the last one clears for all, and only if something was deleted: to merge the
    search index means to write all of it anew.
    """
    mine = unfinished().filter(pk=removal_id).first()
    if mine is None:
        return False
    if mine.cause == Cause.ERASURE or mine.day is None:
        return mine.cause == Cause.ERASURE or bool(mine.counts)
    night = Removal.objects.filter(cause=Cause.RETENTION, day=mine.day)
    if night.filter(state=RemovalState.ROWS).exists():
        return False
    return any(night.values_list("counts", flat=True))


def forget_who(removal_id: int) -> bool:
    """Takes user and caller out of the row of a removal that has nothing more to delete.

    Returns:
        Whether it is an erasure, of which nothing may stay in the files.
    """
    removal = unfinished().filter(pk=removal_id, state=RemovalState.SCRUB).first()
    if removal is None:
        return False
    unfinished().filter(pk=removal_id).update(principal="", user=None, moved_at=timezone.now())
    return removal.cause == Cause.ERASURE


def finish(removal_id: int) -> None:
    """Says that nothing is left."""
    now = timezone.now()
    unfinished().filter(pk=removal_id, state=RemovalState.SCRUB).update(
        state=RemovalState.DONE, moved_at=now, done_at=now
    )
