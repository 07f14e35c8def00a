"""Verdicts are counted when they may be told: when nobody is wanted any longer as the second judge."""

from datetime import UTC, datetime

from django.db import transaction
import pytest

from copilot_admin.models import Conversation, DailyUsage, ReviewQueue, Seat, Verdict
from copilot_admin.transcripts.store.second_judges import (
    awaits_judges,
    awaits_judges_now,
    told_uncounted,
    wrongly_counted,
)
from copilot_admin.transcripts.store.votes import count_told, recount_verdicts
from tests.factories import make_user
from tests.transcripts.store.journaling import Client

pytestmark = [pytest.mark.database, pytest.mark.django_db]
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def judged(*, is_counted: bool = False) -> Conversation:
    talk = Client().ask("Why?").answer("So.").conversation
    author = make_user()
    Verdict.objects.create(conversation=talk, author=author, rating="bad", is_counted=is_counted)
    return talk


def queued(talk: Conversation, *, judges: int = 2, **changes: object) -> ReviewQueue:
    queue = ReviewQueue.objects.create(name="Week", judges=judges)
    Seat.objects.create(queue=queue, conversation=talk, place=0, **changes)
    return queue


def awaited(talk: Conversation) -> tuple[bool, bool]:
    with transaction.atomic():
        return awaits_judges(talk.pk), awaits_judges_now(talk.pk)


def test_a_judge_is_wanted_by_an_open_queue_of_two_for_a_seat_that_nobody_has_left():
    talk = judged()
    assert awaited(talk) == (False, False)
    queued(talk, judges=1)
    queued(talk, done_at=NOW)
    assert awaited(talk) == (False, False)
    queue = queued(talk)
    assert awaited(talk) == (True, True)
    ReviewQueue.objects.filter(pk=queue.pk).update(is_closed=True)
    assert awaited(talk) == (False, False)


def test_a_verdict_is_counted_when_it_may_be_told_and_once():
    talk, other = judged(), judged()
    queued(talk)
    count_told(talk.pk)
    assert not DailyUsage.objects.filter(bad__gt=0).exists()
    Seat.objects.update(done_at=NOW)
    count_told(talk.pk)
    count_told(talk.pk)
    assert list(DailyUsage.objects.values_list("bad", flat=True).order_by("bad")) == [0, 1]
    assert list(told_uncounted().values_list("conversation", flat=True)) == [other.pk]


def test_what_is_counted_and_not_told_is_wrong_and_so_is_what_is_told_and_not_counted():
    right, sealed, told = judged(is_counted=True), judged(is_counted=True), judged()
    queued(sealed)
    queued(judged())
    wrong = set(wrongly_counted().values_list("conversation", flat=True))
    assert (wrong, right.pk in wrong) == ({sealed.pk, told.pk}, False)


def test_a_queue_of_two_judges_takes_the_verdicts_of_its_conversations_out_of_the_figures():
    talk, other = judged(), judged()
    count_told(talk.pk)
    recount_verdicts(queued(talk, judges=1))
    assert DailyUsage.objects.filter(bad=1).count() == 1
    recount_verdicts(queued(talk))
    assert not DailyUsage.objects.filter(bad=1).exists()
    assert not Verdict.objects.get(conversation=other).is_counted


def test_the_verdicts_of_a_queue_that_was_closed_are_counted():
    talk = judged()
    queue = queued(talk)
    queue.is_closed = True
    queue.save()
    recount_verdicts(queue)
    assert DailyUsage.objects.get(bad=1)
