"""Queues assign each review once, and report their result."""

from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Criterion, ReviewQueue
from copilot_admin.review.queues import (
    CLAIM_DURATION,
    MAX_QUEUED,
    Agreement,
    add_to_queue,
    claim_next,
    draw_sample,
    finish_assignments,
    is_assigned,
    measure_agreement,
    progress_of,
    skip_assignment,
    summarize_queue,
)
from copilot_admin.transcripts.verdicts import save_verdict
from tests.factories import make_copilot, make_user

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LATER = NOON + CLAIM_DURATION + timedelta(seconds=1)


def conversations(number: int) -> list[int]:
    copilot = make_copilot()
    rows = [Conversation(copilot=copilot, first_at=NOON, last_at=NOON) for _ in range(number)]
    return [row.pk for row in Conversation.objects.bulk_create(rows)]


def queue_of(number: int, *people: User, judges: int = 1) -> ReviewQueue:
    queue = ReviewQueue.objects.create(name="Week", judges=judges)
    queue.reviewers.set(people)
    assert add_to_queue(queue, conversations(number)) == number
    return queue


def reviewers(number: int) -> list[User]:
    return [make_user(Role.REVIEWERS) for _ in range(number)]


def claimed(queue: ReviewQueue, who: User, now: datetime = NOON, after: int = 0) -> int:
    found = claim_next(queue, who, now=now, after=after)
    assert found is not None
    return found.conversation_id


def states() -> list[str]:
    return sorted(Conversation.objects.values_list("review_state", flat=True))


def test_a_sample_keeps_its_order_and_repeats_with_its_seed():
    ids = list(range(1000, 0, -1))
    some = draw_sample(ids, percent=10, seed=1)
    assert len(some) == 100
    assert some == sorted(some, reverse=True)
    assert some == draw_sample(ids, percent=10, seed=1) != draw_sample(ids, percent=10, seed=2)
    assert draw_sample(ids, percent=100, seed=1) == ids
    assert draw_sample([7], percent=1, seed=1) == [7]
    assert draw_sample([], percent=50, seed=1) == []
    assert len(draw_sample(range(MAX_QUEUED * 3), percent=90, seed=1)) == MAX_QUEUED


@pytest.mark.database
@pytest.mark.django_db
def test_two_people_never_get_the_same_conversation():
    queue = queue_of(3)
    ada, bob = reviewers(2)
    first, second = claimed(queue, ada), claimed(queue, bob)
    assert first != second
    assert claimed(queue, ada) == first  # unfinished ones come first
    finish_assignments(first, ada, now=NOON)
    third = claimed(queue, ada)
    finish_assignments(third, ada, now=NOON)
    assert len({first, second, third}) == 3
    assert claim_next(queue, ada, now=NOON) is None
    progress = {"total": 3, "done": 2, "in_progress": 1, "percent": 66}
    assert progress_of(queue, now=NOON) == progress
    assert states() == ["done", "done", "new"]


@pytest.mark.database
@pytest.mark.django_db
def test_two_reviewers_each_get_a_conversation_once():
    queue = queue_of(2, judges=2)
    ada, bob, eve = reviewers(3)
    one, same, other = (claimed(queue, who) for who in (ada, bob, eve))
    assert one == same != other
    finish_assignments(one, ada, now=NOON)
    assert states() == ["in_review", "new"]
    finish_assignments(one, bob, now=NOON)
    assert states() == ["done", "new"]
    assert claimed(queue, ada) == other
    assert claim_next(queue, bob, now=NOON) is None


@pytest.mark.database
@pytest.mark.django_db
def test_named_reviewers_get_equal_shares_that_do_not_expire():
    ada, bob, eve = reviewers(3)
    queue = queue_of(4, ada, bob, judges=1)
    shares = [queue.assignments.filter(reviewer=who).count() for who in (ada, bob)]
    assert shares == [2, 2]
    assert claim_next(queue, eve, now=LATER) is None
    first = claimed(queue, ada, now=LATER)
    after = skip_assignment(queue, first, ada)
    assert claimed(queue, ada, after=after) != first
    assert is_assigned(queue, first, ada)
    both = queue_of(3, ada, bob, judges=2)
    assert all(both.assignments.filter(reviewer=who).count() == 3 for who in (ada, bob))


@pytest.mark.database
@pytest.mark.django_db
def test_a_skipped_conversation_goes_to_the_end_and_to_others():
    queue = queue_of(3, judges=2)
    ada, bob = reviewers(2)
    first = claimed(queue, ada)
    after = skip_assignment(queue, first, ada)
    second = claimed(queue, ada, after=after)
    assert second != first
    assert claimed(queue, bob) == first
    assert skip_assignment(queue, first, ada) == 0
    third = claimed(queue, ada, after=skip_assignment(queue, second, ada))
    assert len({first, second, third}) == 3


@pytest.mark.database
@pytest.mark.django_db
def test_the_result_counts_verdicts_labels_and_agreement():
    label = Criterion.objects.create(name="wrong number")
    tone = Criterion.objects.create(name="Tone", kind="score")
    queue = queue_of(2, judges=2)
    ada, bob, eve = reviewers(3)
    one, other = dict.fromkeys(queue.assignments.values_list("conversation", flat=True))
    given = [
        (one, ada, "good", {label.pk: 1, tone.pk: 2}),
        (one, bob, "good", {tone.pk: 3}),
        (other, ada, "bad", {label.pk: 1}),
        (other, bob, "mixed", {label.pk: 1, tone.pk: 1}),
        (one, eve, "bad", {}),  # isn't in the queue
    ]
    for _ in range(2):
        for who in (ada, bob):
            claimed(queue, who)
            for pk in (one, other):
                finish_assignments(pk, who, now=NOON)
    for pk, who, rating, marks in given:
        save_verdict(Conversation.objects.get(pk=pk), who, rating=rating, marks=marks)
    result = summarize_queue(queue)
    assert [(value, number) for value, _, number in result["ratings"]] == [
        ("good", 2),
        ("mixed", 1),
        ("bad", 1),
    ]
    assert [(name, number) for _, name, number in result["labels"]] == [("wrong number", 3)]
    assert [(one.name, one.number, one.same) for one in result["agreement"]] == [
        ("", 2, 1),
        ("Tone", 1, 0),
        ("wrong number", 2, 1),
    ]


@pytest.mark.parametrize(
    ("pairs", "number", "same", "kappa"),
    [
        ([], 0, 0, None),
        ([("a", "a")] * 3, 3, 3, None),
        ([("a", "a"), ("b", "b")], 2, 2, 1.0),
        ([("a", "b"), ("b", "a")], 2, 0, -1.0),
        ([("a", "a"), ("a", "b")], 2, 1, 0.0),
        # Cohen's textbook example
        ([("y", "y")] * 20 + [("n", "n")] * 15 + [("y", "n")] * 5 + [("n", "y")] * 10, 50, 35, 0.4),
    ],
)
def test_agreement(pairs: list, number: int, same: int, kappa: float | None):
    found = measure_agreement(pairs)
    wanted = Agreement(number=number, same=same, kappa=kappa and pytest.approx(kappa))
    assert found == wanted
    assert found.percent == (100 * same // number if number else 0)
