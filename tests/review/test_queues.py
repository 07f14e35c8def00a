"""Queues hand out each reading once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

from django.contrib.auth.models import User
from django.db import connection
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, ReviewQueue, ReviewState, Seat
from copilot_admin.review.agreement import agreement_in
from copilot_admin.review.queues import (
    CLAIM_FOR,
    MOST_QUEUED,
    QueueProgress,
    claim,
    drawn,
    finish,
    holds,
    make_queue,
    progress_of,
    set_by_hand,
    skip,
    take_back_left,
)
from copilot_admin.transcripts.verdicts import GivenVerdict, save_verdict, state_after_verdict
from tests.factories import make_copilot, make_user

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def conversations(number: int) -> list[int]:
    copilot = make_copilot()
    rows = [Conversation(copilot=copilot, first_at=NOON, last_at=NOON) for _ in range(number)]
    return [row.pk for row in Conversation.objects.bulk_create(rows)]


def queue_of(number: int, *, judges: int = 1) -> ReviewQueue:
    queue = ReviewQueue(name="Week", judges=judges)
    make_queue(queue, conversations(number))
    return queue


def reviewers(number: int) -> list[User]:
    return [make_user(Role.REVIEWERS) for _ in range(number)]


def test_a_share_is_drawn_and_keeps_its_order():
    ids = list(range(1000, 0, -1))
    some = drawn(ids, share=10, seed=1)
    assert len(some) == 100
    assert some == sorted(some, reverse=True)
    assert some == drawn(ids, share=10, seed=1) != drawn(ids, share=10, seed=2)
    assert drawn(ids, share=100, seed=1) == ids
    assert len(drawn([7], share=1, seed=1)) == 1
    assert drawn([], share=50, seed=1) == []
    assert len(drawn(range(MOST_QUEUED * 3), share=90, seed=1)) == MOST_QUEUED
    assert len(drawn(range(MOST_QUEUED * 3), share=100, seed=1)) == MOST_QUEUED


@pytest.mark.parametrize(
    ("readings", "state"),
    [
        ([], ReviewState.DONE),
        ([True, True], ReviewState.DONE),
        ([True, False], ReviewState.IN_REVIEW),
    ],
)
def test_a_conversation_is_done_when_all_who_are_wanted_have_judged_it(readings, state):
    assert state_after_verdict(readings) is state


@pytest.mark.database
@pytest.mark.django_db
def test_two_people_never_get_the_same_one():
    queue = queue_of(3)
    ada, bob = reviewers(2)
    first, second = claim(queue, ada, now=NOON), claim(queue, bob, now=NOON)
    assert first.conversation_id != second.conversation_id
    assert claim(queue, ada, now=NOON) == first  # what is begun comes first
    finish(first.conversation_id, ada, now=NOON)
    third = claim(queue, ada, now=NOON)
    assert third.conversation_id not in (first.conversation_id, second.conversation_id)
    finish(third.conversation_id, ada, now=NOON)
    assert claim(queue, ada, now=NOON) is None
    assert progress_of(queue, now=NOON) == QueueProgress(total=3, done=2, taken=1)
    assert progress_of(queue, now=NOON).free == 0
    states = Conversation.objects.order_by("id").values_list("review_state", flat=True)
    assert sorted(states) == ["done", "done", "in_review"]


@pytest.mark.database
@pytest.mark.django_db
def test_a_claim_expires_and_its_verdict_then_counts_for_nobody():
    queue = queue_of(1)
    ada, bob = reviewers(2)
    seat = claim(queue, ada, now=NOON)
    assert claim(queue, bob, now=NOON + CLAIM_FOR) is None
    later = NOON + CLAIM_FOR + timedelta(seconds=1)
    assert claim(queue, bob, now=later).pk == seat.pk
    assert not holds(queue, seat.conversation_id, ada)
    finish(seat.conversation_id, ada, now=later)
    assert progress_of(queue, now=later) == QueueProgress(total=1, done=0, taken=1)


@pytest.mark.database
@pytest.mark.django_db
def test_of_two_judges_each_reads_a_conversation_once():
    queue = queue_of(2, judges=2)
    ada, bob, eve = reviewers(3)
    seats = [claim(queue, who, now=NOON) for who in (ada, bob, eve)]
    one, same, other = (seat.conversation_id for seat in seats)
    assert one == same != other
    for who in (ada, bob):
        finish(one, who, now=NOON)
    assert claim(queue, ada, now=NOON).conversation_id == other
    assert claim(queue, bob, now=NOON) is None
    assert Conversation.objects.get(pk=one).review_state == ReviewState.DONE


@pytest.mark.database
@pytest.mark.django_db
def test_who_skips_gets_another_conversation_and_not_its_second_seat():
    queue = queue_of(2, judges=2)
    (ada,) = reviewers(1)
    first = claim(queue, ada, now=NOON)
    second = claim(queue, ada, now=NOON, after=skip(queue, first.conversation_id, ada, now=NOON))
    assert second.conversation_id != first.conversation_id
    third = claim(queue, ada, now=NOON, after=skip(queue, second.conversation_id, ada, now=NOON))
    assert third.conversation_id == first.conversation_id
    finish(third.conversation_id, ada, now=NOON)
    last = claim(queue, ada, now=NOON)
    skipped = skip(queue, last.conversation_id, ada, now=NOON)
    assert claim(queue, ada, now=NOON, after=skipped).conversation_id == last.conversation_id


@pytest.mark.database
@pytest.mark.django_db
def test_what_is_skipped_goes_to_the_end_and_to_others():
    queue = queue_of(2)
    ada, bob = reviewers(2)
    first = claim(queue, ada, now=NOON)
    after = skip(queue, first.conversation_id, ada, now=NOON)
    second = claim(queue, ada, now=NOON, after=after)
    assert second.conversation_id != first.conversation_id
    assert claim(queue, bob, now=NOON).pk == first.pk
    assert skip(queue, first.conversation_id, ada, now=NOON) == 0


def taken(queue: ReviewQueue, reviewer: User, now: datetime = NOON) -> int:
    """The conversation that somebody is handed."""
    seat = claim(queue, reviewer, now=now)
    assert seat is not None
    return seat.conversation_id


def state_of(conversation: int) -> str:
    return Conversation.objects.get(pk=conversation).review_state


@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.parametrize("state", ReviewState)
def test_what_is_skipped_is_in_the_state_that_it_had_before(state: ReviewState):
    queue = queue_of(1)
    (ada,) = reviewers(1)
    Conversation.objects.update(review_state=state)
    for _ in range(2):
        pk = taken(queue, ada)
        read = ReviewState.IN_REVIEW if state is ReviewState.NEW else state
        assert state_of(pk) == read
        skip(queue, pk, ada, now=NOON)
        assert state_of(pk) == state


@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_who_read_the_last_who_skips_leaves_it_as_it_was(order: tuple[int, int]):
    queue = queue_of(1, judges=2)
    both = reviewers(2)
    for one in both:
        pk = taken(queue, one)
    first, last = (both[place] for place in order)
    skip(queue, pk, first, now=NOON)
    assert state_of(pk) == ReviewState.IN_REVIEW
    skip(queue, pk, last, now=NOON)
    assert state_of(pk) == ReviewState.NEW


@pytest.mark.database
@pytest.mark.django_db
def test_what_somebody_judged_or_set_by_hand_stays_in_review_when_it_is_skipped():
    queue = queue_of(2, judges=2)
    ada, bob = reviewers(2)
    pk = taken(queue, ada)
    assert taken(queue, bob) == pk
    finish(pk, bob, now=NOON)
    skip(queue, pk, ada, now=NOON)
    assert state_of(pk) == ReviewState.IN_REVIEW
    other = taken(queue, bob)
    set_by_hand(other, ReviewState.IN_REVIEW)
    skip(queue, other, bob, now=NOON)
    assert state_of(other) == ReviewState.IN_REVIEW


@pytest.mark.database
@pytest.mark.django_db
def test_who_left_long_ago_does_not_keep_it_in_review():
    queue = queue_of(1, judges=2)
    ada, bob = reviewers(2)
    pk = taken(queue, ada)
    later = NOON + CLAIM_FOR * 2
    Seat.objects.filter(reviewer=None).update(reviewer=bob, claimed_at=later)
    skip(queue, pk, bob, now=later)
    assert state_of(pk) == ReviewState.IN_REVIEW  # it was, when he took it
    assert taken(queue, bob, now=later) == pk  # from Ada, who left
    skip(queue, pk, bob, now=later)
    assert state_of(pk) == ReviewState.NEW


@pytest.mark.database
@pytest.mark.django_db
def test_what_somebody_took_and_left_is_new_again_and_his_verdict_counts_all_the_same():
    queue = queue_of(3)
    ada, bob, eve = reviewers(3)
    left, judged, set_so = (taken(queue, one) for one in (ada, bob, eve))
    finish(judged, bob, now=NOON)
    set_by_hand(set_so, ReviewState.IN_REVIEW)
    take_back_left(now=NOON + CLAIM_FOR)
    assert state_of(left) == ReviewState.IN_REVIEW
    later = NOON + CLAIM_FOR * 2
    take_back_left(now=later)
    states = [state_of(one) for one in (left, judged, set_so)]
    assert states == [ReviewState.NEW, ReviewState.DONE, ReviewState.IN_REVIEW]
    finish(left, ada, now=later)
    take_back_left(now=later)
    assert state_of(left) == ReviewState.DONE
    assert progress_of(queue, now=later).done == 2


@pytest.mark.database
@pytest.mark.django_db
def test_what_one_of_two_left_is_new_again_when_the_other_leaves_too():
    queue = queue_of(1, judges=2)
    ada, bob = reviewers(2)
    pk = taken(queue, ada)
    later, last = NOON + CLAIM_FOR * 2, NOON + CLAIM_FOR * 4
    Seat.objects.filter(reviewer=None).update(reviewer=bob, claimed_at=later)
    take_back_left(now=later)
    assert state_of(pk) == ReviewState.IN_REVIEW
    bob.delete()
    take_back_left(now=last)
    assert state_of(pk) == ReviewState.NEW


@pytest.mark.database
@pytest.mark.django_db
def test_nothing_of_a_closed_queue_is_handed_out():
    queue = queue_of(1)
    queue.is_closed = True
    queue.save()
    assert claim(queue, *reviewers(1), now=NOON) is None


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_each_gets_another_one():
    queue = queue_of(8)
    people = reviewers(8)
    start = Barrier(len(people))

    def ask(person: User) -> int | None:
        try:
            start.wait()
            seat = claim(queue, person, now=NOON)
            return seat.conversation_id if seat else None
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as threads:
        got = list(threads.map(ask, people))

    assert None not in got
    assert len(set(got)) == len(people)
    assert Seat.objects.exclude(reviewer=None).count() == len(people)


@pytest.mark.database
@pytest.mark.django_db
def test_agreement_counts_what_two_readers_of_the_queue_said():
    from copilot_admin.models import Criterion, CriterionKind

    wrong = Criterion.objects.create(name="Wrong")
    tone = Criterion.objects.create(name="Tone", kind=CriterionKind.SCORE)
    queue = queue_of(3, judges=2)
    ada, bob = reviewers(2)
    stranger = make_user(Role.REVIEWERS)
    said = {ada: ["good", "good", "bad"], bob: ["good", "bad", "bad"]}
    ids = list(dict.fromkeys(queue.seats.values_list("conversation", flat=True)))
    for person, ratings in said.items():
        for pk, rating in zip(ids, ratings, strict=True):
            claim(queue, person, now=NOON)
            marks = {wrong.pk: 1} if rating == "bad" else {tone.pk: 4}
            judged = GivenVerdict(rating=rating, comment="", marks=marks)
            save_verdict(Conversation.objects.get(pk=pk), person, judged)
            finish(pk, person, now=NOON)
    other = GivenVerdict(rating="mixed", comment="", marks={})
    save_verdict(Conversation.objects.get(pk=ids[0]), stranger, other)
    found = {one.name: one.agreement for one in agreement_in(queue)}
    assert {name: (one.number, one.same) for name, one in found.items()} == {
        "": (3, 2),
        "Wrong": (3, 2),
        "Tone": (1, 1),
    }
    assert found[""].kappa == pytest.approx(0.4)
