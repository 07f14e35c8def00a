"""What a reviewer thinks of a conversation or a turn, kept once for each person; writes."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from copilot_admin.models import Conversation, Criterion, CriterionKind, Mark, Verdict
from copilot_admin.transcripts.states import lock
from copilot_admin.transcripts.store.second_judges import lock_queues
from copilot_admin.transcripts.store.votes import count_verdicts, uncount_verdicts

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
    """What is judged with now, in the team's order."""
    return list(Criterion.objects.filter(is_retired=False))


def verdict_of(
    conversation: Conversation, author: Person, *, turn: int | None = None
) -> Verdict | None:
    """What somebody said before of a conversation, or of one of its turns."""
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
        lock(conversation.pk)
        lock_queues(conversation.pk)
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
