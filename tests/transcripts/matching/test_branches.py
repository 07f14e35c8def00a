"""Where a request continues its conversation: edits are branches, altered copies of answers aren't."""

import pytest

from copilot_admin.models import Node, Turn
from protocol.models import CallMessage, Message, ResultMessage, SourceError
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
MIGRATED = CallMessage("get_widget_data", {"widget_uuids": ["w-1"]})


def altered() -> list[str]:
    """Answers that came back in other words."""
    return list(Node.objects.filter(echo_differs=True).values_list("text", flat=True))


@pytest.mark.database
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


def test_an_answer_of_another_agent_that_comes_late_is_history():
    client = Client(trace_id="chat")
    client.ask("One", "Two").answer("Second")
    asked = client.ask("One", ai("From elsewhere"), "Two").answer("Second")
    assert [row[3] for row in shape(asked.conversation)] == [
        "One",
        "Two",
        "Second",
        "From elsewhere",
        "Two",
        "Second",
    ]
    assert not asked.conversation.has_branch


def test_a_dropped_answer_does_not_branch():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    asked = client.ask("One", "Two", ai("Second"), "Three")
    assert [row[0] for row in shape(asked.conversation)] == list(range(5))


def test_a_question_that_is_asked_again_after_an_altered_answer_is_the_same_turn():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    first = client.ask("One", ai("First"), "Two").answer("Second")
    second = client.ask("One", ai("First, in other words"), "Two")
    assert second.accepted.turn_id == first.accepted.turn_id
    assert second.run.input_leaf_id == first.run.input_leaf_id


def test_a_result_that_comes_last_is_new_although_its_call_came_back_altered():
    client = Client(trace_id="chat")
    client.ask("Price?").answer(call_event())
    client.ask("Price?", call_echo(), result("42")).answer("It is 42")
    asked = client.ask("Price?", MIGRATED, result("43"))
    results = Node.objects.filter(kind="result").order_by("id")
    assert [one.pk for one in results][-1] == asked.run.input_leaf_id
    assert len(results) == 2
    assert Node.objects.filter(kind="call").count() == 1


def test_a_chat_whose_call_and_result_were_dropped_stays_one_without_branches():
    client = Client(trace_id="chat")
    client.ask("Price?").answer(call_event())
    client.ask("Price?", call_echo(), result()).answer("It is 42")
    client.ask("Price?", ai("It is 42"), "Sure?").answer("Yes")
    asked = client.ask("Price?", ai("It is 42"), "Sure?", ai("Yes"), "Good").answer("Fine")
    assert [row[0] for row in shape(asked.conversation)] == [0, 1, 2, 3, 1, 2, 3, 4]
    assert (asked.conversation.n_turns, asked.conversation.has_branch) == (3, False)
    assert altered() == []


def test_an_altered_result_is_stored_once_more_and_is_no_branch():
    client = Client(trace_id="chat")
    client.ask("Price?").answer(call_event())
    client.ask("Price?", call_echo(), result()).answer("It is 42")
    renewed = ResultMessage("get_widget_data", {}, (SourceError("not_found", "gone"),))
    history: list[Message] = [human("Price?"), MIGRATED, renewed, ai("It is 42")]
    client.ask(*history, "Sure?").answer("Yes")
    asked = client.ask(*history, "Sure?", ai("Yes"), "Good")
    assert [row[0] for row in shape(asked.conversation)] == [0, 1, 2, 3, 2, 3, 4, 5, 6]
    assert Node.objects.get(echo_differs=True).kind == "call"
    assert (Turn.objects.count(), asked.conversation.has_branch) == (3, False)
