"""Verdicts of reviewers, one for each person and conversation or turn, and the state of reviews."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    Mark,
    ReviewState,
    Verdict,
)
from copilot_admin.transcripts.store.judgement_counts import count_verdicts, uncount_verdicts

Person = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenVerdict:
    """A verdict as somebody gave it.

    Attributes:
        rating: A `Rating` value.
        marks: The value of each label that applies (1) and of each score that was given, by the
            id of its criterion.
    """

    rating: str
    comment: str
    marks: Mapping[int, int]


def active_criteria() -> list[Criterion]:
    """Criteria in use, in the team's order."""
    return list(Criterion.objects.filter(is_retired=False))


def verdict_of(
    conversation: Conversation, author: Person, *, turn: int | None = None
) -> Verdict | None:
    """Earlier verdict of a person on a conversation or one of its turns."""
    rows = Verdict.objects.filter(conversation=conversation, author_id=author.pk, turn=turn)
    return rows.prefetch_related("marks").first()


def save_verdict(
    conversation: Conversation, author: Person, judged: GivenVerdict, *, turn: int | None = None
) -> Verdict:
    """Keeps a verdict in place of the one that its author gave before.

    Marks of criteria that are retired stay as they are: nobody was asked for them.
    """
    given = {"conversation": conversation, "author_id": author.pk, "turn_id": turn}
    with transaction.atomic():
        lock_conversation(conversation.pk)
        uncount_verdicts(Verdict.objects.filter(**given))
        verdict, _ = Verdict.objects.update_or_create(
            conversation=conversation,
            author_id=author.pk,
            turn_id=turn,  # type: ignore[misc]  # None is looked up too
            defaults={"rating": judged.rating, "comment": judged.comment},
        )
        asked = verdict.marks.filter(criterion__is_retired=False)
        asked.exclude(criterion__in=judged.marks).delete()
        for criterion, value in judged.marks.items():
            Mark.objects.update_or_create(
                verdict=verdict, criterion_id=criterion, defaults={"value": value}
            )
        count_verdicts(Verdict.objects.filter(pk=verdict.pk))
    verdict.refresh_from_db(fields=["is_counted"])
    return verdict


def labels() -> list[Criterion]:
    """All labels, also retired ones, by which verdicts are found."""
    return list(Criterion.objects.filter(kind=CriterionKind.LABEL))


def state_after_verdict(readings: Iterable[bool]) -> ReviewState:
    """Return the state of a conversation that has just been judged.

    Args:
        readings: For each reading that queues want, if it is done; none if it is in no queue.
    """
    return ReviewState.DONE if all(readings) else ReviewState.IN_REVIEW


def lock_conversation(conversation_id: int) -> None:
    """Make others who claim, skip or judge a conversation wait until the transaction ends."""
    rows = Conversation.objects.select_for_update().filter(pk=conversation_id)
    rows.values_list("pk", flat=True).first()


def set_review_state(conversation_id: int, state: ReviewState) -> None:
    Conversation.objects.filter(pk=conversation_id).update(review_state=state)


def begin_review(conversation_id: int) -> bool:
    """Set a new conversation to "in review"; return False if its state was another one."""
    new = Conversation.objects.filter(pk=conversation_id, review_state=ReviewState.NEW)
    return bool(new.update(review_state=ReviewState.IN_REVIEW))


def reset_review(conversation_id: int) -> None:
    """Set a conversation that is in review to "new" again."""
    read = Conversation.objects.filter(pk=conversation_id, review_state=ReviewState.IN_REVIEW)
    read.update(review_state=ReviewState.NEW)
