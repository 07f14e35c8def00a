"""Users in the journal: a row each, what was asked refers to it, and nobody's chat joins another's."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, OperationalError, connection
from django.db.models import ProtectedError
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.copilots.users import AskingUser, UserSource, hashed
from copilot_admin.models import CallerDay, Conversation, EndUser, Logging, Run
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.matching.hash_chain import PUBLIC_KEY, HashChain
from copilot_admin.transcripts.store import JOURNAL, Journal, users
from copilot_admin.transcripts.store.opening import prepare, refuse
from copilot_admin.transcripts.store.users import forget_users, row_of
from copilot_admin.transcripts.store.values import Refusal
from tests.transcripts.store.journaling import START, Client, ai

pytestmark = [pytest.mark.database, pytest.mark.django_db]

ADA = AskingUser(id="ada", email="a@b.example", name="Ada")
EVE = AskingUser(id="eve")


def row() -> tuple[object, ...]:
    user = EndUser.objects.get()
    return user.identifier, user.email, user.name, user.source, user.first_at, user.last_at


def test_a_user_is_written_once_an_hour_and_nothing_of_him_becomes_empty(
    django_capture_on_commit_callbacks,
):
    hour = START.replace(minute=0, second=0, microsecond=0)
    with django_capture_on_commit_callbacks(execute=True):
        first = row_of(ADA, at=START)
    assert row() == ("ada", "a@b.example", "Ada", "token", START, hour)
    assert EndUser.objects.get().digest == hashed("ada")
    with CaptureQueriesContext(connection) as asked:
        assert row_of(ADA, at=START + timedelta(seconds=1)) == first
    assert len(asked) == 0
    later = START + timedelta(hours=2)
    renamed = AskingUser(id="ada", name="Ada L.", source=UserSource.PROXY)
    assert row_of(renamed, at=later) == first
    assert row() == (
        "ada",
        "a@b.example",
        "Ada L.",
        "proxy",
        START,
        hour + timedelta(hours=2),
    )


def test_what_was_rolled_back_is_not_known(django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=False):
        row_of(ADA, at=START)
    EndUser.objects.all().delete()
    assert EndUser.objects.filter(pk=row_of(ADA, at=START)).exists()


def test_only_so_many_users_are_remembered(monkeypatch, django_capture_on_commit_callbacks):
    assert users._MOST_KNOWN == 10_000
    monkeypatch.setattr(users, "_MOST_KNOWN", 2)
    for number in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            row_of(AskingUser(id=str(number)), at=START)
        assert len(users._known) <= 2
    with CaptureQueriesContext(connection) as asked:
        row_of(AskingUser(id="2"), at=START)
    assert len(asked) == 0


def test_who_was_written_by_a_faster_process_is_found(monkeypatch):
    theirs = row_of(ADA, at=START)
    answers: list[Any] = [lambda user: None, users._find]
    monkeypatch.setattr(users, "_find", lambda user: answers.pop(0)(user))
    assert row_of(ADA, at=START + timedelta(hours=2)) == theirs


@pytest.mark.parametrize("trace_id", [None, "chat-1"])
def test_users_of_one_key_have_conversations_of_their_own(trace_id):
    ada = Client(principal="key:1", trace_id=trace_id, user=ADA)
    asked = [ada.ask("Hello").answer("Hi.")]
    for user in (EVE, None):
        asked.append(
            ada.another(principal="key:1", trace_id=trace_id, user=user)
            .ask("Hello", ai("Hi."), "More")
            .answer("Yes.")
        )
    assert len({one.accepted.conversation_id for one in asked}) == 3
    again = ada.ask("Hello", ai("Hi."), "More")
    assert again.accepted.conversation_id == asked[0].accepted.conversation_id
    found = Conversation.objects.order_by("id").values_list("user__identifier", flat=True)
    assert list(found) == ["ada", "eve", None]


def test_a_chat_that_gets_its_trace_id_later_stays_its_users():
    ada = Client(principal="key:1", user=ADA)
    first = ada.ask("Hello").answer("Hi.")
    eve = ada.another(principal="key:1", user=EVE, trace_id="chat-1")
    assert eve.ask("Hello", ai("Hi."), "More").accepted.conversation_id != (
        first.accepted.conversation_id
    )
    named = ada.another(principal="key:1", user=ADA, trace_id="chat-1")
    named = named.ask("Hello", ai("Hi."), "More")
    assert named.accepted.conversation_id == first.accepted.conversation_id


def test_the_hashes_of_who_is_not_named_are_what_they_were():
    chain = HashChain(key=PUBLIC_KEY, copilot_id=7, principal="key:1")
    assert chain.root == HashChain(PUBLIC_KEY, 7, "key:1", "").root
    assert chain.root != replace(chain, user="ada").root
    assert replace(chain, principal="key:1\nada").root == replace(chain, user="ada").root
    incoming = prepare(Client(principal="key:1").opening("Hi")).incoming
    assert incoming is not None and incoming.chain.user == ""


def test_where_nothing_is_kept_no_user_is():
    Client(user=ADA, logging=Logging.NOTHING).ask("Hello").answer("Hi.")
    assert not EndUser.objects.exists()
    assert Run.objects.get().user is None
    Client(user=EVE, logging=Logging.METADATA).ask("Hello").answer("Hi.")
    assert EndUser.objects.get().identifier == "eve"


def test_a_refused_request_is_its_users():
    opening = Client(user=ADA).opening("Hello")
    refuse(
        Refusal(
            run_id=opening.run_id,
            copilot_id=opening.copilot_id,
            version_id=opening.version_id,
            logging=Logging.EVERYTHING,
            principal="key:1",
            started_at=START,
            error="Too much.",
            error_code="too-much",
            user=ADA,
        )
    )
    assert Run.objects.get().user == EndUser.objects.get()


def test_people_are_counted_by_name_where_they_are_known():
    desk = Client(principal="key:1")
    for user in (ADA, EVE, None):
        desk.another(principal="key:1", user=user).ask("Hello").answer("Hi.")
    other_key = desk.another(principal="key:2", user=ADA)
    other_key.ask("Hello").answer("Hi.")
    ids = dict(EndUser.objects.values_list("identifier", "pk"))
    assert set(CallerDay.objects.values_list("principal", flat=True)) == {
        f"user:{ids['ada']}",
        f"user:{ids['eve']}",
        "key:1",
    }


def test_a_user_goes_after_what_is_his():
    Client(user=ADA).ask("Hello").answer("Hi.")
    with pytest.raises(ProtectedError):
        EndUser.objects.get().delete()


@pytest.mark.django_db(transaction=True)
def test_a_run_of_a_user_who_was_erased_meanwhile_is_kept():
    client = Client(user=ADA)
    asyncio.run(JOURNAL.accept(client.opening("Hello")))
    Run.objects.all().delete()
    Conversation.objects.all().delete()
    EndUser.objects.all().delete()
    asyncio.run(JOURNAL.accept(client.opening("Hello")))
    assert Run.objects.get().user == EndUser.objects.get()
    assert JOURNAL.problem == ""


@pytest.mark.django_db(transaction=True)
def test_a_question_is_tried_again_where_another_had_all_users_forgotten():
    """Two questions know a row that is gone; the first one to notice empties what both knew."""
    tries = []

    def job() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise IntegrityError
        return 7

    forget_users()
    assert asyncio.run(JOURNAL._written_of_user(job)) == 7
    assert JOURNAL.problem == ""


def test_a_question_is_not_tried_again_for_any_other_reason(monkeypatch):
    tries = []

    async def fails(job: object) -> None:
        tries.append(job)
        raise OperationalError

    monkeypatch.setattr(WRITER, "run", fails)
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(Journal(WRITER, SPOOL)._written_of_user(len))
    assert tries == [len]
