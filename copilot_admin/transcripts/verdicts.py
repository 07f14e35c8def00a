"""Verdicts of reviewers on conversations and turns, with their labels and scores."""

from collections.abc import Mapping

from django.db import transaction

from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    Mark,
    ReviewState,
    Verdict,
)
from copilot_admin.transcripts.access import Person
from copilot_admin.transcripts.store.rollups import (
    count_verdicts,
    uncount_verdicts,
)


def active_criteria() -> list[Criterion]:
    """Return the criteria in use, in the team's order."""
    return list(Criterion.objects.filter(is_retired=False))


def verdict_of(
    conversation: Conversation, author: Person, *, turn: int | None = None
) -> Verdict | None:
    """Return the verdict of a person on a conversation or one of its turns."""
    rows = Verdict.objects.filter(conversation=conversation, author_id=author.pk, turn=turn)
    return rows.prefetch_related("marks").first()


def save_verdict(
    conversation: Conversation,
    author: Person,
    *,
    rating: str,
    marks: Mapping[int, int],
    comment: str = "",
    turn: int | None = None,
) -> Verdict:
    """Replace the author's verdict; marks of archived criteria, which no form contains, stay.

    `marks` are values by criterion id: 1 for a label that applies, or a score.
    """
    given = {"conversation": conversation, "author_id": author.pk, "turn_id": turn}
    with transaction.atomic():
        lock_conversation(conversation.pk)
        uncount_verdicts(Verdict.objects.filter(**given))
        verdict, _ = Verdict.objects.update_or_create(
            conversation=conversation,
            author_id=author.pk,
            turn_id=turn,  # type: ignore[misc]  # None matches too
            defaults={"rating": rating, "comment": comment},
        )
        asked = verdict.marks.filter(criterion__is_retired=False)
        asked.exclude(criterion__in=marks).delete()
        for criterion, value in marks.items():
            Mark.objects.update_or_create(
                verdict=verdict, criterion_id=criterion, defaults={"value": value}
            )
        count_verdicts(Verdict.objects.filter(pk=verdict.pk))
    verdict.refresh_from_db(fields=["is_counted"])
    return verdict


def labels() -> list[Criterion]:
    """Return all labels, including archived ones."""
    return list(Criterion.objects.filter(kind=CriterionKind.LABEL))


def lock_conversation(conversation_id: int) -> None:
    """Lock a conversation for reviewing until the transaction ends."""
    rows = Conversation.objects.select_for_update().filter(pk=conversation_id)
    rows.values_list("pk", flat=True).first()


def set_review_state(conversation_id: int, state: ReviewState) -> None:
    Conversation.objects.filter(pk=conversation_id).update(review_state=state)


def add_label(conversation: Conversation, author: Person, label: Criterion) -> None:
    """Add a label to a person's verdict, which is created without a rating if needed."""
    verdict = verdict_of(conversation, author)
    marks = {} if verdict is None else {one.criterion_id: one.value for one in verdict.marks.all()}
    rating, comment = (verdict.rating, verdict.comment) if verdict else ("", "")
    marks[label.pk] = 1
    save_verdict(conversation, author, rating=rating, comment=comment, marks=marks)
