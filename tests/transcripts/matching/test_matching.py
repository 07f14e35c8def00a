"""Requests without a session become conversations: each message once, nothing joined that doesn't belong."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import Conversation, Node, Run, Turn
from copilot_admin.transcripts.matching import matching
from copilot_admin.transcripts.matching.requests import prepare
from copilot_admin.transcripts.store.run_start import accept
from protocol.models import AiMessage, CallMessage, Generation, Message
from tests.polling import eventually
from tests.transcripts.store.journaling import (
    Client,
    ai,
    call_echo,
    call_event,
    human,
    result,
    shape,
)

pytestmark = pytest.mark.django_db
TRACES = pytest.mark.parametrize("trace_id", ["chat-1", None], ids=["trace id", "no trace id"])


@pytest.mark.database
@TRACES
def test_a_follow_up_continues_the_conversation(trace_id):
    client = Client(trace_id=trace_id)
    first = client.ask("Hi").answer("Hello")
    second = client.ask("Hi", ai("Hello"), "And now?").answer("Bye")
    assert second.conversation == first.conversation
    assert shape(first.conversation) == [
        (0, "human", "text", "Hi"),
        (1, "ai", "text", "Hello"),
        (2, "human", "text", "And now?"),
        (3, "ai", "text", "Bye"),
    ]
    assert Turn.objects.count() == 2


@TRACES
def test_a_function_call_splits_one_turn_into_two_runs(trace_id):
    client = Client(trace_id=trace_id)
    first = client.ask("Price?").answer(call_event())
    second = client.ask("Price?", call_echo(), result()).answer("It is 42")
    assert second.accepted.turn_id == first.accepted.turn_id
    third = client.ask("Price?", call_echo(), result(), ai("It is 42"), "Thanks").answer("Welcome")
    assert third.conversation == first.conversation
    assert [row[1:3] for row in shape(first.conversation)] == [
        ("human", "text"),
        ("ai", "call"),
        ("tool", "result"),
        ("ai", "text"),
        ("human", "text"),
        ("ai", "text"),
    ]


@pytest.mark.database
@TRACES
@pytest.mark.parametrize(
    "echo",
    ["It rose by five per", "It rose by 5 % …", "**It rose** by five percent today."],
    ids=["cut", "rendered", "bold"],
)
def test_an_altered_echo_is_marked_and_never_a_branch(trace_id, echo):
    client = Client(trace_id=trace_id)
    first = client.ask("What happened?").answer("It rose by five percent today.")
    second = client.ask("What happened?", ai(echo), "Why?").answer("News")
    assert second.conversation == first.conversation
    assert Node.objects.count() == 4
    assert [node.echo_differs for node in Node.objects.order_by("id")] == [
        False,
        True,
        False,
        False,
    ]


def test_of_two_conversations_with_the_same_questions_none_is_joined():
    client = Client()
    for answer in ("The weather in London is fine today", "Shares in Tokyo fell"):
        client.ask("Hi").answer(answer)
    foreign = client.ask("Hi", ai("The weather in London is fine"), "And?").answer("Well")
    assert Conversation.objects.count() == 3
    history = foreign.conversation.nodes.order_by("id")
    assert [node.from_history for node in history] == [True, True, False, False]
    assert Run.objects.filter(conversation=foreign.conversation).count() == 1
    again = client.ask("Hi", ai("The weather in London is fine"), "And?", ai("Well."), "So?")
    assert again.conversation == foreign.conversation


BROUGHT_ALONG = {
    "a greeting": [ai("Hello! How can I help you?")],
    "an example": [human("What is 1 + 1?"), ai("2")],
    "a summary": [human("[Summary]"), ai("They spoke of bonds."), human("Go on"), ai("I do.")],
}


@pytest.mark.database
@pytest.mark.parametrize("brought", BROUGHT_ALONG.values(), ids=BROUGHT_ALONG)
def test_what_many_chats_begin_with_joins_none_of_them(brought: list[Message]):
    client = Client()
    chats = [client.ask(*brought, f"Question {number}") for number in range(3)]
    for number, asked in enumerate(chats):
        asked.answer(f"Answer {number}")
    assert Conversation.objects.count() == 3
    for number, asked in enumerate(chats):
        history = [*brought, f"Question {number}", ai(f"Answer {number}")]
        assert client.ask(*history, "And now?").conversation == asked.conversation
    altered = [ai(f"{one.text}.") if isinstance(one, AiMessage) else one for one in brought]
    client.ask(*altered, "Question of another")
    assert Conversation.objects.count() == 4


@pytest.mark.database
@TRACES
@pytest.mark.parametrize("generation", list(Generation))
def test_a_call_is_recognised_in_every_dialect(trace_id, generation):
    client = Client(trace_id=trace_id, generation=generation)
    client.ask("Price?").answer(call_event())
    echo = {
        Generation.ONE: CallMessage("get_widget_data", {"widget_uuid": "w-1"}),
        Generation.TWO: CallMessage(
            "get_widget_data", call_echo().input_arguments, {"copilot_function_call_arguments": {}}
        ),
        Generation.THREE: call_echo(),
    }[generation]
    asked = client.ask("Price?", echo, result()).answer("42")
    assert [row[2] for row in shape(asked.conversation)] == ["text", "call", "result", "text"]
    assert not Node.objects.filter(echo_differs=True).exists()


def test_the_number_of_queries_does_not_depend_on_the_history():
    client, history, counts = Client(trace_id="chat"), [], []
    for number in range(52):
        history.append(human(f"Question {number}"))
        opening = prepare(client.start(*history))
        with CaptureQueriesContext(connection) as queries, transaction.atomic():
            accept(opening)
        counts.append(len(queries))
        client.ask(*history).answer(f"Answer {number}")
        history.append(ai(f"Answer {number}"))
    assert set(counts[1:]) == {counts[1]}
    assert counts[1] <= 16


@TRACES
@pytest.mark.parametrize("answer", ["Hello", "Altered"])
@pytest.mark.parametrize("other", [{"principal": "key:2"}, {"user": AskingUser(id="ada")}])
def test_a_history_of_another_owner_is_stored_as_history(other, answer, trace_id):
    client = Client(trace_id=trace_id, principal="key:1")
    first = client.ask("Hi").answer("Hello")
    stranger = client.another(**{"principal": "key:1", "trace_id": trace_id, **other})
    asked = stranger.ask("Hi", ai(answer), "And?")
    assert asked.conversation != first.conversation
    history = asked.conversation.nodes.order_by("id").values_list("from_history", flat=True)
    assert list(history) == [True, True, False]


@TRACES
def test_a_regenerated_answer_is_a_second_run_of_the_same_turn(trace_id):
    client = Client(trace_id=trace_id)
    client.ask("Hi").answer("Hello")
    first = client.ask("Hi", ai("Hello"), "Again?").answer("One")
    second = client.ask("Hi", ai("Hello"), "Again?").answer("Two")
    assert second.accepted.turn_id == first.accepted.turn_id
    assert second.run.input_leaf_id == first.run.input_leaf_id
    assert second.conversation.has_branch is False
    assert (second.conversation.n_turns, second.conversation.n_runs) == (2, 3)
    assert Node.objects.filter(role="human").count() == 2


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
