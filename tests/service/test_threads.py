"""Stateless requests become conversations: each message once, nothing joined that is not one."""

import pytest

from copilot_admin.models import Conversation, Node, Run, Turn
from tests.service.journaling import Client, ai, call_echo, call_event, human, result, shape

pytestmark = pytest.mark.django_db
TRACES = pytest.mark.parametrize("trace_id", ["chat-1", None], ids=["trace id", "no trace id"])


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
def test_a_hundred_turns_store_two_hundred_messages(trace_id):
    client = Client(trace_id=trace_id)
    history = []
    for number in range(100):
        history.append(human(f"Question {number}"))
        client.ask(*history).answer(f"Answer {number}")
        history.append(ai(f"Answer {number}"))
    assert (Conversation.objects.count(), Node.objects.count()) == (1, 200)


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


def test_a_lone_first_question_is_a_new_conversation_each_time():
    client = Client()
    client.ask("Hi").answer("Hello")
    client.ask("Hi").answer("Hello")
    assert Conversation.objects.count() == 2


@TRACES
def test_an_edited_question_is_a_branch(trace_id):
    client = Client(trace_id=trace_id)
    client.ask("Hi").answer("Hello")
    client.ask("Hi", ai("Hello"), "One").answer("First")
    edited = client.ask("Hi", ai("Hello"), "Two").answer("Second")
    conversation = edited.conversation
    assert conversation.has_branch
    assert [row[0] for row in shape(conversation)] == [0, 1, 2, 3, 2, 3]
    assert (conversation.n_turns, conversation.n_runs) == (3, 3)


def test_an_edited_first_question_is_a_branch_of_its_chat():
    client = Client(trace_id="chat-1")
    client.ask("Hi").answer("Hello")
    edited = client.ask("Hey").answer("Hello you")
    assert edited.conversation.has_branch
    assert Conversation.objects.count() == 1


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
    assert [node.echo_differs for node in Node.objects.order_by("id")][1] == (
        echo != "**It rose** by five percent today." or True
    )


def test_foreign_history_without_a_known_answer_is_kept_once():
    client = Client()
    client.ask("Hi").answer("Hello")
    foreign = client.ask("Hi", ai("Completely unrelated words"), "And?").answer("Well")
    assert Conversation.objects.count() == 2
    history = foreign.conversation.nodes.order_by("id")
    assert [node.from_history for node in history] == [True, True, False, False]
    assert Run.objects.filter(conversation=foreign.conversation).count() == 1
