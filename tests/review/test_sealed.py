"""What the first of two judges said is told on no way before the second has judged."""

from django.utils import timezone
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Criterion, ReviewQueue, Seat
from copilot_admin.review.counted import counted_condition
from copilot_admin.review.exports.format import all_formats
from copilot_admin.review.filters import BY_NAME
from copilot_admin.review.queues import claim, finish, make_queue
from copilot_admin.review.verdicts import Judged, save_verdict
from tests.factories import make_user, make_version
from tests.journal.journaling import Client
from tests.review.exports.exporting import said_by

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def talk() -> Conversation:
    return Client(version=make_version()).ask("Why?").answer("So.").conversation


@pytest.fixture
def label() -> Criterion:
    return Criterion.objects.create(name="Wrong number")


def judge(queue: ReviewQueue, label: Criterion) -> None:
    """Takes a seat, judges, and is done."""
    person = make_user(Role.REVIEWERS)
    seat = claim(queue, person, now=timezone.now())
    assert isinstance(seat, Seat)
    judged = Judged(rating="bad", comment="No source", marks={label.pk: 1})
    save_verdict(seat.conversation, person, judged)
    finish(seat.conversation_id, person, now=timezone.now())


def told(talk: Conversation, label: Criterion) -> dict[str, bool]:
    """By the way to hear of it: whether it is told that somebody called an answer bad, and wrong."""
    day = f"{talk.first_at:%Y-%m-%d}"
    ways = {
        "label": BY_NAME["label"].condition(str(label.pk)),
        "counted rating": counted_condition(f"bad {day} {day}"),
        "counted label": counted_condition(f"label:{label.pk} {day} {day}"),
    }
    found = {way: Conversation.objects.filter(one).exists() for way, one in ways.items()}
    for name in all_formats():
        found[name] = "Wrong number" in said_by(name, talk)
    return found


def test_it_is_told_when_both_have_judged_and_on_no_way_before(talk, label):
    make_queue(queue := ReviewQueue(name="Week", judges=2), [talk.pk])
    judge(queue, label)
    assert told(talk, label) == dict.fromkeys(told(talk, label), False)
    judge(queue, label)
    assert told(talk, label) == dict.fromkeys(told(talk, label), True)


def test_it_is_told_when_the_queue_is_closed(talk, label):
    make_queue(queue := ReviewQueue(name="Week", judges=2), [talk.pk])
    judge(queue, label)
    ReviewQueue.objects.update(is_closed=True)
    assert told(talk, label) == dict.fromkeys(told(talk, label), True)


def test_what_one_person_judges_is_told_at_once(talk, label):
    make_queue(queue := ReviewQueue(name="Week", judges=1), [talk.pk])
    judge(queue, label)
    assert told(talk, label) == dict.fromkeys(told(talk, label), True)
