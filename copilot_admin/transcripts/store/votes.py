"""Count thumbs and verdicts where the question was asked that they are about; changes correct it."""

from collections.abc import Mapping

from django.db import transaction
from django.db.models import F, QuerySet

from copilot_admin.models import Feedback, FeedbackSource, ReviewQueue, Run, Verdict
from copilot_admin.transcripts.store.second_judges import (
    awaits_judges_now,
    told_uncounted,
    wrongly_counted,
)
from copilot_admin.transcripts.store.usage import UsageKey, count_mark, count_votes

Marks = Mapping[int, int]  # values by criterion
NOTHING: tuple[str, Marks] = ("", {})
_BATCH = 50  # verdicts recounted in one transaction


def count_feedback(feedback: Feedback) -> None:
    """Counts what a user thinks now in place of what was counted; call it with the row locked."""
    asked = _of_turn(feedback.turn_id)
    if asked is not None and feedback.source == FeedbackSource.END_USER:
        votes = {"up": 0, "down": 0}
        for value, sign in ((feedback.counted, -1), (feedback.value, 1)):
            if value:
                votes["up" if value > 0 else "down"] += sign
        count_votes(asked, votes)
    feedback.counted = feedback.value
    feedback.save(update_fields=["counted"])


def counted_in(verdict: Verdict | None) -> tuple[str, Marks]:
    """The rating and the marks that are counted of a verdict; of one that is older, nothing."""
    if verdict is None or not verdict.is_counted:
        return NOTHING
    return _said(verdict)


def count_verdict(verdict: Verdict, *, counted: tuple[str, Marks] = NOTHING) -> None:
    """Counts a verdict in place of what was counted of it; call it with the row locked.

    One that nobody is told yet is counted when a second person has judged: of a single one the
    figures of its hour would tell all.
    """
    is_told = not awaits_judges_now(verdict.conversation_id)
    now = _said(verdict) if is_told else NOTHING
    asked = (
        _of_turn(verdict.turn_id)
        if verdict.turn_id is not None
        else _of_conversation(verdict.conversation_id)
    )
    if asked is not None:
        votes = {name: 0 for name in (counted[0], now[0]) if name}
        for name, sign in ((counted[0], -1), (now[0], 1)):
            if name:
                votes[name] += sign
        count_votes(asked, votes)
        _count_marks(asked, before=counted[1], after=now[1])
    verdict.is_counted = is_told
    Verdict.objects.filter(pk=verdict.pk).update(is_counted=is_told)


def count_told(conversation: int) -> None:
    """Counts what may be told by now of a conversation; call it with the conversation locked."""
    for verdict in told_uncounted().filter(conversation=conversation).order_by("-pk"):
        count_verdict(verdict)


def recount_verdicts(queue: ReviewQueue) -> None:
    """Recount the verdicts of a queue that was made, closed or opened; call it after that commits.

    Each batch locks verdicts before queues, as a reviewer's own verdict does.
    """
    if queue.judges < 2:
        return
    conversations = queue.seats.values("conversation")
    rows = wrongly_counted().filter(conversation__in=conversations).order_by("-pk")
    while True:
        with transaction.atomic():
            verdicts = list(rows.select_for_update()[:_BATCH])
            for verdict in verdicts:
                count_verdict(verdict, counted=counted_in(verdict))
        if not verdicts:
            return


def _said(verdict: Verdict) -> tuple[str, Marks]:
    return verdict.rating, dict(verdict.marks.values_list("criterion_id", "value"))


def _count_marks(asked: UsageKey, *, before: Marks, after: Marks) -> None:
    for criterion in sorted({*before, *after}):
        count_mark(
            asked,
            criterion,
            number=int(criterion in after) - int(criterion in before),
            total=after.get(criterion, 0) - before.get(criterion, 0),
        )


def _of_turn(turn_id: int) -> UsageKey | None:
    """Hour, copilot and version under which verdicts on a question count: those of its first request."""
    return _first(Run.objects.filter(turn=turn_id, started_at=F("turn__started_at")))


def _of_conversation(conversation_id: int) -> UsageKey | None:
    """The same for verdicts on a conversation."""
    return _first(
        Run.objects.filter(conversation=conversation_id, started_at=F("conversation__first_at"))
    )


def _first(runs: QuerySet[Run]) -> UsageKey | None:
    """Where the first of some requests counts; of one moment, every process takes the same."""
    run = runs.select_related("copilot_version").order_by("pk").first()
    return None if run is None else asked_of(run)


def asked_of(run: Run) -> UsageKey:
    """Where a request counts; its version is read along."""
    return UsageKey(
        at=run.started_at,
        copilot_id=run.copilot_id,
        version=run.copilot_version.number if run.copilot_version else 0,
        model=run.model,
        principal=run.principal,
        user_id=run.user_id,
    )
