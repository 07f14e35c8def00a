"""Two requests of one conversation come at once: a constraint decides, and nothing stands twice."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction
import pytest

from copilot_admin.models import Conversation, Node, Run, Turn
from copilot_admin.transcripts.matching import matching
from copilot_admin.transcripts.store.run_start import accept, prepare
from tests.polling import eventually
from tests.transcripts.store.journaling import Client, ai, shape

pytestmark = pytest.mark.django_db


def blind_once(monkeypatch, seen=None):
    """The first look sees what was there before another process committed."""
    find, looks = matching.match_request, [seen or matching.Match()]
    monkeypatch.setattr(
        matching,
        "match_request",
        lambda *args, **options: looks.pop() if looks else find(*args, **options),
    )


@pytest.mark.database
def test_a_conversation_that_another_process_makes_meanwhile_is_joined(monkeypatch):
    client = Client(trace_id="chat")
    first = client.ask("Hi").answer("Hello")
    blind_once(monkeypatch)
    second = client.ask("Hi", ai("Hello"), "And?")
    assert second.conversation == first.conversation
    assert [row[0] for row in shape(first.conversation)] == [0, 1, 2]


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("history", [["Hi"], ["Hi", ai("Hello"), "More"]], ids=["first", "later"])
def test_two_requests_of_one_conversation_at_once(history, monkeypatch):
    client = Client(trace_id="chat")
    if len(history) > 1:
        client.ask("Hi").answer("Hello")
    find, to_be_met = matching.match_request, ["the first"]

    def find_while_the_other_waits(*args, **options):
        found = find(*args, **options)
        if to_be_met:
            to_be_met.pop()
            assert eventually(is_waited_for)
        return found

    monkeypatch.setattr(matching, "match_request", find_while_the_other_waits)
    openings = [client.start(*history), client.start(*history)]
    with ThreadPoolExecutor(2) as threads:
        accepted = list(threads.map(accept_alone, openings))
    assert accepted[0].turn_id == accepted[1].turn_id
    assert Conversation.objects.get().n_runs == Run.objects.count()
    assert Conversation.objects.get().n_turns == Turn.objects.count() == (len(history) + 1) // 2
    assert Node.objects.count() == len(history)


def is_waited_for():
    """Whether another transaction waits for the end of this one; SQLite does not say who waits."""
    if connection.vendor == "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks AS held JOIN pg_locks AS wanted"
            " USING (locktype, transactionid) WHERE locktype = 'transactionid'"
            " AND held.pid = pg_backend_pid() AND held.granted AND NOT wanted.granted)"
        )
        return cursor.fetchone()[0]


def accept_alone(opening):
    try:
        with transaction.atomic():
            return accept(prepare(opening))
    finally:
        connection.close()
