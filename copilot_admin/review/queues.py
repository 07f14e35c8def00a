"""Review queues: conversations assigned to reviewers one by one.

A conversation has one assignment for each person who is to review it. Claiming locks the queue, so
that two people never get the same assignment.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
import random
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, Q, QuerySet, prefetch_related_objects

from copilot_admin.models import (
    Assignment,
    Conversation,
    Criterion,
    CriterionKind,
    Mark,
    Rating,
    ReviewQueue,
    ReviewState,
    Turn,
    TurnNote,
    Verdict,
)
from copilot_admin.transcripts.access import Person
from copilot_admin.transcripts.verdicts import lock_conversation, set_review_state

CLAIM_DURATION = timedelta(minutes=30)
MAX_QUEUED = 2_000  # conversations of one queue
MAX_SEED = 999_999
RATING = 0  # stands for the rating among the ids of criteria


def choose_seed() -> int:
    return random.randint(1, MAX_SEED)  # noqa: S311  # not a secret


def draw_sample(ids: Sequence[int], *, percent: int, seed: int) -> list[int]:
    """Return a random sample in the given order; the same seed draws the same sample."""
    wanted = min(max(round(len(ids) * percent / 100), 1), len(ids), MAX_QUEUED)
    if percent == 100:
        return list(ids[:wanted])
    places = sorted(random.Random(seed).sample(range(len(ids)), wanted))  # noqa: S311
    return [ids[place] for place in places]


def add_to_queue(queue: ReviewQueue, conversations: Sequence[int]) -> int:
    """Assign conversations that the queue doesn't have yet; return their number.

    A queue that names its reviewers gives each of them the same share.
    """
    with transaction.atomic():
        present = queue.assignments.filter(conversation__in=conversations)
        known = set(present.values_list("conversation_id", flat=True))
        new = [pk for pk in dict.fromkeys(conversations) if pk not in known]
        people: list[int | None] = list(queue.reviewers.order_by("pk").values_list("pk", flat=True))
        start = queue.assignments.count()
        Assignment.objects.bulk_create(
            Assignment(
                queue=queue,
                conversation_id=conversation,
                place=place + 1,
                reviewer_id=_choose_reviewer(people, start + number * queue.judges, place),
            )
            for number, conversation in enumerate(new)
            for place in range(queue.judges)
        )
        reviewed = Conversation.objects.filter(pk__in=new, review_state=ReviewState.DONE)
        reviewed.update(review_state=ReviewState.IN_REVIEW)
    return len(new)


def _choose_reviewer(people: Sequence[int | None], offset: int, place: int) -> int | None:
    if not people or place >= len(people):
        return None
    return people[(offset + place) % len(people)]


def claim_next(
    queue: ReviewQueue, reviewer: Person, *, now: datetime, after: int = 0
) -> Assignment | None:
    """Return the next assignment of a reviewer, unfinished ones first; None when nothing is left.

    The assignment `after` is skipped: those behind it come first.
    """
    if queue.is_closed:
        return None
    own = queue.assignments.filter(reviewer_id=reviewer.pk, done_at=None).order_by("id")
    mine = own.filter(pk__gt=after).first() or own.exclude(pk=after).first() or own.first()
    if mine is not None:
        own.filter(pk=mine.pk, claimed_at__isnull=False).update(claimed_at=now)
        return mine
    with transaction.atomic():
        ReviewQueue.objects.select_for_update().get(pk=queue.pk)  # one claim at a time
        known = queue.assignments.filter(reviewer_id=reviewer.pk).values("conversation")
        unclaimed = Q(reviewer=None) | Q(claimed_at__lt=now - CLAIM_DURATION)
        free = queue.assignments.filter(unclaimed, done_at=None).exclude(conversation__in=known)
        free = free.order_by("id")
        skipped = Assignment.objects.filter(pk=after).values("conversation")
        others = free.exclude(conversation__in=skipped)
        found = others.filter(pk__gt=after).first() or others.first() or free.first()
        if found is not None:
            found.reviewer_id, found.claimed_at = reviewer.pk, now
            found.save(update_fields=["reviewer", "claimed_at"])
        return found


def skip_assignment(queue: ReviewQueue, conversation: int, reviewer: Person) -> int:
    """Release a claimed assignment; return its id, or 0 if the reviewer had none."""
    mine = queue.assignments.filter(
        conversation=conversation, reviewer_id=reviewer.pk, done_at=None
    )
    found = mine.values_list("pk", flat=True).first() or 0
    mine.filter(claimed_at__isnull=False).update(reviewer=None, claimed_at=None)
    return found


def finish_assignments(conversation: int, reviewer: Person, *, now: datetime) -> None:
    """Record that a person reviewed a conversation, and update its review state."""
    assignments = Assignment.objects.filter(conversation=conversation)
    with transaction.atomic():
        lock_conversation(conversation)
        assignments.filter(reviewer_id=reviewer.pk, done_at=None).update(done_at=now)
        is_open = assignments.filter(queue__is_closed=False, done_at=None).exists()
        set_review_state(conversation, ReviewState.IN_REVIEW if is_open else ReviewState.DONE)


def is_assigned(queue: ReviewQueue, conversation: int, reviewer: Person) -> bool:
    return queue.assignments.filter(conversation=conversation, reviewer_id=reviewer.pk).exists()


def progress_of(queue: ReviewQueue, *, now: datetime) -> Mapping[str, int]:
    """Return the numbers of reviews: total, done, in progress, and percent done."""
    unfinished = queue.assignments.filter(done_at=None)
    in_progress = unfinished.filter(claimed_at__gte=now - CLAIM_DURATION).count()
    total = queue.assignments.count()
    done = total - unfinished.count()
    percent = 100 * done // total if total else 0
    return {"total": total, "done": done, "in_progress": in_progress, "percent": percent}


Values = Mapping[int, Hashable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of two reviewers on a criterion, or the rating; of a number of conversations.

    Cohen's kappa is 1 for full agreement and 0 for chance; None if chance makes them agree always.
    """

    name: str = ""
    number: int
    same: int
    kappa: float | None

    @property
    def percent(self) -> int:
        return round(100 * self.same / self.number) if self.number else 0


def summarize_queue(queue: ReviewQueue) -> Mapping[str, Sequence[Any]]:
    """Return ratings and labels as (value, name, number) of each, and agreements on criteria."""
    done = queue.assignments.exclude(done_at=None)
    verdicts = Verdict.objects.filter(
        turn=None, conversation__in=done.values("conversation"), author__in=done.values("reviewer")
    )
    ratings = Counter(verdicts.values_list("rating", flat=True))
    marks = Mark.objects.filter(verdict__in=verdicts, criterion__kind=CriterionKind.LABEL)
    labels = Counter(marks.order_by().values_list("criterion_id", "criterion__name"))
    judged = list(verdicts.prefetch_related("marks")) if queue.judges > 1 else []
    return {
        "ratings": [(one.value, str(one.label), ratings[one.value]) for one in Rating],
        "labels": [(pk, name, number) for (pk, name), number in labels.most_common()],
        "agreement": _compare(judged),
    }


def measure_agreement(pairs: Sequence[tuple[Hashable, Hashable]], *, name: str = "") -> Agreement:
    """Return the agreement of the first and the second value of each pair."""
    number, same = len(pairs), sum(one == other for one, other in pairs)
    if not number:
        return Agreement(name=name, number=0, same=0, kappa=None)
    first = Counter(one for one, _ in pairs)
    second = Counter(other for _, other in pairs)
    # Whole numbers as long as possible: both sides are multiplied by the square of the number.
    by_chance = sum(first[value] * second[value] for value in first)
    rest = number * number - by_chance
    kappa = (same * number - by_chance) / rest if rest else None
    return Agreement(name=name, number=number, same=same, kappa=kappa)


def _compare(verdicts: Sequence[Verdict]) -> list[Agreement]:
    by_conversation: dict[int, list[Values]] = defaultdict(list)
    for row in sorted(verdicts, key=lambda one: (one.conversation_id, one.author_id or 0)):
        values = {mark.criterion_id: mark.value for mark in row.marks.all()}
        by_conversation[row.conversation_id].append({RATING: row.rating, **values})
    pairs = [(some[0], some[1]) for some in by_conversation.values() if len(some) > 1]
    results = [measure_agreement([(one[RATING], other[RATING]) for one, other in pairs])]
    for criterion in Criterion.objects.filter(marks__verdict__in=verdicts).distinct():
        both = [(one.get(criterion.pk), other.get(criterion.pk)) for one, other in pairs]
        if criterion.kind == CriterionKind.SCORE:  # only where both gave one
            both = [(one, other) for one, other in both if one is not None and other is not None]
        results.append(measure_agreement(both, name=criterion.name))
    return [one for one in results if one.number]


def read_verdicts(conversation: Conversation) -> list[Verdict]:
    """Return the verdicts on a conversation as a whole, with their marks."""
    return list(_verdicts().filter(conversation=conversation, turn=None))


def prefetch_reviews(turns: Sequence[Turn]) -> None:
    """Load the notes on turns and the verdicts with their marks."""
    notes = TurnNote.objects.select_related("author").order_by("id")
    prefetch_related_objects(turns, Prefetch("notes", notes), Prefetch("verdicts", _verdicts()))


def _verdicts() -> QuerySet[Verdict]:
    """Return verdicts with their marks in the team's order."""
    marks = Mark.objects.select_related("criterion")
    ordered = marks.order_by("criterion__position", "criterion__name")
    rows = Verdict.objects.select_related("author").order_by("id")
    return rows.prefetch_related(Prefetch("marks", ordered))
