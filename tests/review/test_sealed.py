"""What the first of two judges said is told on no way before the second has judged, nor counted."""

import ast
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone
import pytest

from copilot_admin.analytics.figures import Figures
from copilot_admin.analytics.rollup_figures import figures_of
from copilot_admin.analytics.user_figures import figures_of_users
from copilot_admin.config.roles import Role
from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    CriterionUsage,
    EndUser,
    ReviewQueue,
    Seat,
    Turn,
)
from copilot_admin.review.agreement import agreement_in
from copilot_admin.review.queues import claim, finish, make_queue, set_closed
from copilot_admin.transcripts.exports.format import all_formats
from copilot_admin.transcripts.filters.registry import BY_NAME
from copilot_admin.transcripts.search.counted import counted_condition
from copilot_admin.transcripts.search.periods import FiguresPeriod, Span
from copilot_admin.transcripts.verdicts import GivenVerdict, save_verdict
from tests.factories import make_user, make_version
from tests.transcripts.exports.exporting import said_by
from tests.transcripts.store.full_count import full_count, rollups
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db

WITH_VERDICTS = {"csv", "jsonl", "md", "html"}  # formats of exports; others need not tell any


@pytest.fixture
def talk() -> Conversation:
    client = Client(version=make_version(), user=AskingUser(id="ada"))
    return client.ask("Why?").answer("So.").conversation


@pytest.fixture
def label() -> Criterion:
    Criterion.objects.create(name="Depth", kind=CriterionKind.SCORE)
    return Criterion.objects.create(name="Wrong number")


def judge(queue: ReviewQueue, label: Criterion) -> None:
    """Takes a seat, judges question and conversation, and is done."""
    person = make_user(Role.REVIEWERS)
    seat = claim(queue, person, now=timezone.now())
    assert isinstance(seat, Seat)
    judged = GivenVerdict(rating="bad", comment="No source", marks={label.pk: 1})
    turn = Turn.objects.get(conversation=seat.conversation_id)
    save_verdict(seat.conversation, person, judged, turn=turn.pk)
    finish(seat.conversation_id, person, now=timezone.now())
    save_verdict(seat.conversation, person, judged)


def told(talk: Conversation, label: Criterion) -> dict[str, bool]:
    """By the way to hear of it: whether it is told that somebody called an answer bad, and wrong."""
    day = talk.first_at.replace(hour=0, minute=0, second=0, microsecond=0)
    span = Span(day, day + timedelta(days=1))
    period = FiguresPeriod(name="own", now=span, before=Span(day - timedelta(days=1), day))
    ways = {
        "label": BY_NAME["label"].condition(str(label.pk)),
        "counted rating": counted_condition(f"bad {day:%Y-%m-%d} {day:%Y-%m-%d}"),
        "counted label": counted_condition(f"label:{label.pk} {day:%Y-%m-%d} {day:%Y-%m-%d}"),
    }
    found = {way: Conversation.objects.filter(one).exists() for way, one in ways.items()}
    for name in all_formats():
        found[name] = "Wrong number" in said_by(name, talk)
    users = list(EndUser.objects.values_list("pk", flat=True))
    for way, figures in (("all", figures_of(period)), ("user", figures_of_users(period, users))):
        found |= {f"figures of {way}: {what}": is_there for what, is_there in _shown(figures)}
    found["agreement"] = any(map(agreement_in, ReviewQueue.objects.filter(judges=2)))
    return found


def _shown(figures: Figures) -> Iterator[tuple[str, bool]]:
    yield "ratings", any(figures.now[name] for name in ("good", "mixed", "bad"))
    yield "labels", bool(figures.marks)


def everywhere(is_told: bool, talk: Conversation, label: Criterion, *, but: str = "") -> bool:
    found = told(talk, label)
    others = [found.pop(name) for name in all_formats().keys() - WITH_VERDICTS]
    assert is_told or not any(others)
    assert found == dict.fromkeys(found, is_told) | ({but: not is_told} if but else {})
    assert rollups() == full_count()
    return True


def test_it_is_told_when_both_have_judged_and_on_no_way_before(talk, label):
    make_queue(queue := ReviewQueue(name="Week", judges=2), [talk.pk])
    judge(queue, label)
    assert everywhere(False, talk, label)
    judge(queue, label)
    assert everywhere(True, talk, label)


@pytest.mark.database
def test_it_is_told_when_the_queue_is_closed_and_not_when_it_is_opened_again(talk, label):
    make_queue(queue := ReviewQueue(name="Week", judges=2), [talk.pk])
    judge(queue, label)
    set_closed(queue, is_closed=True)
    assert everywhere(True, talk, label, but="agreement")  # of one judge there is none
    set_closed(queue, is_closed=False)
    assert everywhere(False, talk, label)


def test_what_one_person_judges_is_told_until_two_are_wanted(talk, label):
    make_queue(queue := ReviewQueue(name="Week", judges=1), [talk.pk])
    judge(queue, label)
    assert everywhere(True, talk, label, but="agreement")
    make_queue(ReviewQueue(name="Again", judges=2), [talk.pk])
    assert everywhere(False, talk, label)


@pytest.mark.database
def test_two_who_agree_tell_a_third_nothing_of_what_he_is_to_judge_in_another_queue(talk, label):
    make_queue(queue := ReviewQueue(name="Week", judges=2), [talk.pk])
    judge(queue, label)
    judge(queue, label)
    make_queue(ReviewQueue(name="Again", judges=2), [talk.pk])
    assert everywhere(False, talk, label)


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_two_who_judge_at_the_same_instant_while_a_third_closes_the_queue_count_once(label):
    version, judges = make_version(), [make_user(Role.REVIEWERS) for _ in range(2)]
    talks = [Client(version=version).ask(f"Why {n}?").answer("So.").conversation for n in range(4)]
    make_queue(queue := ReviewQueue(name="Week", judges=2), [talk.pk for talk in talks])
    judged = GivenVerdict(rating="bad", comment="", marks={label.pk: 1})

    def judge_all(person: User) -> None:
        for talk in talks:
            with transaction.atomic():
                finish(talk.pk, person, now=timezone.now())
                save_verdict(talk, person, judged)

    def close_and_open() -> None:
        for number in range(5):
            set_closed(queue, is_closed=number % 2 == 0)

    for seat in queue.seats.all():
        Seat.objects.filter(pk=seat.pk).update(reviewer=judges[seat.place - 1])
    with ThreadPoolExecutor(3) as pool:
        work = [pool.submit(_closing, judge_all, person) for person in judges]
        work.append(pool.submit(_closing, close_and_open))
        for one in work:
            one.result()
    assert rollups() == full_count()
    assert CriterionUsage.objects.get().number == 8


def _closing(job: Callable[..., None], *given: object) -> None:
    try:
        job(*given)
    finally:
        connection.close()


def _knows(tree: ast.Module, names: tuple[str, ...]) -> bool:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="copilot_admin.models"):
                if any(one.name in names for one in node.names):
                    return True
            case ast.Constant(value=str(text)) if "verdicts__" in text or "marks__" in text:
                return True
    return False
