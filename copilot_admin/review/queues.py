"""Queues of conversations, handed out so that two people never read the same one; writes.

A conversation has one seat for each person who is to judge it. To take one is a single conditional
UPDATE, so that of two who want the same seat the database lets one have it, whatever processes
they ask.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
import random

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from copilot_admin.models import Conversation, ReviewQueue, ReviewState, Seat
from copilot_admin.transcripts.verdicts import (
    Person,
    begin_review,
    lock_conversation,
    reset_review,
    set_review_state,
    state_after_verdict,
)

CLAIM_FOR = timedelta(minutes=30)  # without a verdict; then somebody else may read it
MOST_QUEUED = 2_000  # conversations of one queue
MOST_DRAWN_FROM = 50_000  # of the newest that a filter finds
HIGHEST_SEED = 999_999  # it is read aloud and typed
MOST_LEFT = 100  # seats of one round that their readers left
TRIES = 50  # for a free seat, while others take those that were found


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueProgress:
    """How far a queue has come, in readings."""

    total: int
    done: int
    taken: int

    @property
    def free(self) -> int:
        """Readings that nobody has begun."""
        return self.total - self.done - self.taken


def new_seed() -> int:
    """A number to draw with, where nobody gives one."""
    return random.randint(1, HIGHEST_SEED)  # noqa: S311  # no secret


def drawn(ids: Sequence[int], *, share: int, seed: int) -> list[int]:
    """A random share of conversations, in their order; all of them where the share is 100.

    Args:
        ids: To draw from.
        share: Per cent, 1 to 100; at least one is drawn, and at most `MOST_QUEUED`.
        seed: The same draws the same again.
    """
    wanted = min(max(round(len(ids) * share / 100), 1), len(ids), MOST_QUEUED)
    if share == 100:
        return list(ids[:wanted])
    places = sorted(random.Random(seed).sample(range(len(ids)), wanted))  # noqa: S311  # no secret
    return [ids[place] for place in places]


def make_queue(queue: ReviewQueue, conversations: Sequence[int]) -> None:
    """Stores a queue and the seats of its conversations."""
    with transaction.atomic():
        queue.save()
        Seat.objects.bulk_create(
            Seat(queue=queue, conversation_id=conversation, place=place)
            for conversation in conversations
            for place in range(1, queue.judges + 1)
        )


def set_closed(queue: ReviewQueue, *, is_closed: bool) -> None:
    """Close a queue, or open it again; what was judged stays."""
    queue.is_closed = is_closed
    queue.save(update_fields=["is_closed"])


def claim(queue: ReviewQueue, reviewer: Person, *, now: datetime, after: int = 0) -> Seat | None:
    """Hands out the next conversation of a queue.

    Args:
        queue: Which.
        reviewer: Who gets it. What he has begun and not judged comes first, unless he skips it.
        now: The time.
        after: A seat that he skips: those behind it come first, those of its conversation last.

    Returns:
        His seat; None when there is nothing left for him.
    """
    begun = Seat.objects.filter(queue=queue, reviewer_id=reviewer.pk, done_at=None)
    if not after:
        own = begun.order_by("id").first()
        if own is not None and begun.filter(pk=own.pk).update(claimed_at=now):
            _begin(own)
            return own
    for _ in range(TRIES):
        free = _free(queue, reviewer, now)
        others = free.exclude(conversation__in=Seat.objects.filter(pk=after).values("conversation"))
        seat = others.filter(pk__gt=after).first() or others.first() or free.first()
        if seat is None:
            return None
        if _take(seat, reviewer, now):
            _begin(seat)
            return seat
    return None


def skip(queue: ReviewQueue, conversation: int, reviewer: Person, *, now: datetime) -> int:
    """Gives a seat back; returns its id, 0 where he had none.

    What was new before somebody took it is so again when nobody has it any longer.
    """
    seats = Seat.objects.filter(conversation=conversation, done_at=None)
    with transaction.atomic():
        lock_conversation(conversation)
        seat = seats.filter(queue=queue, reviewer_id=reviewer.pk).first()
        if seat is None:
            return 0
        seats.filter(pk=seat.pk).update(reviewer=None, claimed_at=None, was_new=False)
        if seat.was_new:
            _hand_on(conversation, now)
    return seat.pk


def take_back_left(*, now: datetime) -> None:
    """What was new before somebody took it, and left it without a word, is so again; call it in a transaction.

    The seat stays his until another takes it: if he judges after all, that counts.
    """
    left = Seat.objects.filter(_left(now), done_at=None, was_new=True)
    for pk, conversation in left.order_by("id").values_list("pk", "conversation")[:MOST_LEFT]:
        free = Conversation.objects.select_for_update(skip_locked=True).filter(pk=conversation)
        # Where somebody takes or judges it at this moment, it is looked at again in the next round.
        if free.values_list("pk", flat=True).first() and left.filter(pk=pk).update(was_new=False):
            _hand_on(conversation, now)


def set_by_hand(conversation: int, state: ReviewState) -> None:
    """Somebody says how far the review has come: no seat that is given back changes that."""
    with transaction.atomic():
        lock_conversation(conversation)
        Seat.objects.filter(conversation=conversation, was_new=True).update(was_new=False)
        set_review_state(conversation, state)


def finish(conversation: int, reviewer: Person, *, now: datetime) -> None:
    """Notes that somebody judged a conversation, in each queue in which he had a seat for it."""
    seats = Seat.objects.filter(conversation=conversation)
    with transaction.atomic():
        lock_conversation(conversation)
        seats.filter(reviewer_id=reviewer.pk, done_at=None).update(done_at=now)
        seats.filter(was_new=True).update(was_new=False)
        open_seats = seats.filter(queue__is_closed=False).values_list("done_at", flat=True)
        set_review_state(conversation, state_after_verdict(done is not None for done in open_seats))


def holds(queue: ReviewQueue, conversation: int, reviewer: Person) -> bool:
    """Whether somebody has a seat that he has not left since."""
    seats = Seat.objects.filter(queue=queue, conversation=conversation, reviewer_id=reviewer.pk)
    return seats.exists()


def progress_of(queue: ReviewQueue, *, now: datetime) -> QueueProgress:
    """Counts the readings of a queue."""
    seats = Seat.objects.filter(queue=queue)
    unfinished = seats.filter(done_at=None)
    return QueueProgress(
        total=seats.count(),
        done=seats.exclude(done_at=None).count(),
        taken=unfinished.filter(reviewer__isnull=False, claimed_at__gte=now - CLAIM_FOR).count(),
    )


def _hand_on(conversation: int, now: datetime) -> None:
    others = Seat.objects.filter(conversation=conversation, done_at=None).exclude(_left(now))
    other = others.order_by("id").first()
    if other is None:
        reset_review(conversation)
    else:
        Seat.objects.filter(pk=other.pk, done_at=None).update(was_new=True)


def _begin(seat: Seat) -> None:
    with transaction.atomic():
        lock_conversation(seat.conversation_id)
        if begin_review(seat.conversation_id):
            Seat.objects.filter(pk=seat.pk).update(was_new=True)


def _free(queue: ReviewQueue, reviewer: Person, now: datetime) -> "QuerySet[Seat]":
    seats = Seat.objects.filter(queue=queue, queue__is_closed=False)
    own = seats.filter(reviewer_id=reviewer.pk).values("conversation")
    return seats.filter(_left(now), done_at=None).exclude(conversation__in=own).order_by("id")


def _left(now: datetime) -> Q:
    return Q(reviewer=None) | Q(claimed_at__lt=now - CLAIM_FOR)


def _take(seat: Seat, reviewer: Person, now: datetime) -> bool:
    unchanged = Seat.objects.filter(
        pk=seat.pk, reviewer_id=seat.reviewer_id, claimed_at=seat.claimed_at, done_at=None
    )
    try:
        with transaction.atomic():
            return unchanged.update(reviewer_id=reviewer.pk, claimed_at=now) == 1
    except IntegrityError:  # in another window he took the other seat of this conversation
        return False
