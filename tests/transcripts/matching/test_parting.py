"""Where a request and the stored conversation part, when the client did not repeat every word."""

import pytest

from copilot_admin.models import Conversation, Node, Turn
from copilot_admin.transcripts.matching import finding
from protocol.messages import CallMessage, Message
from tests.transcripts.store.journaling import (
    Asked,
    Client,
    ai,
    call_echo,
    call_event,
    human,
    result,
)

pytestmark = pytest.mark.django_db

MIGRATED = CallMessage("get_widget_data", {"widget_uuids": ["w-1"]})


def texts(asked: Asked) -> list[str]:
    """What was said on the way to the newest message, the parent before its child."""
    node = Node.objects.filter(conversation=asked.conversation).order_by("id").last()
    way: list[str] = []
    while node is not None:
        way.insert(0, node.text)
        node = node.parent
    return way


def altered() -> list[str]:
    """Answers that came back in other words."""
    return list(Node.objects.filter(echo_differs=True).values_list("text", flat=True))


def test_of_several_answers_the_one_that_is_most_alike_came_back():
    client = Client(trace_id="chat")
    client.ask("Hi").answer("The weather in London is fine today")
    client.ask("Hi").answer("Shares in Tokyo fell by two percent")
    asked = client.ask("Hi", ai("The weather in London is"), "More")
    assert texts(asked) == ["Hi", "The weather in London is fine today", "More"]
    assert altered() == ["The weather in London is fine today"]


def test_an_answer_in_quite_other_words_is_recognised_under_its_trace_id():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    asked = client.ask("One", ai("Nothing like it"), "Two")
    assert texts(asked) == ["One", "First", "Two"]
    assert altered() == ["First"]


def test_of_equal_answers_the_newest_is_continued():
    client = Client(trace_id="chat")
    for widget in ("w-1", "w-2"):
        client.ask("Price?").answer(call_event(widget))
        newest = client.ask("Price?", call_echo(widget), result("42", widget)).answer("It is 42")
    asked = client.ask("Price?", ai("It is 42"), "Sure?")
    node = Node.objects.get(text="Sure?")
    assert node.parent == newest.run.output_node
    assert asked.conversation == newest.conversation


def test_of_two_calls_in_other_words_the_newest_is_continued():
    client = Client(trace_id="chat")
    for widget in ("w-1", "w-2"):
        newest = client.ask("Price?").answer(call_event(widget))
    client.ask("Price?", MIGRATED, result())
    assert Node.objects.get(kind="result").parent == newest.run.output_node


def branched(client: Client) -> list[Message]:
    """Two answers to one question; the first was asked "Two" and answered. Returns the second."""
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    client.ask("One").answer("Other words")
    return [human("One"), ai("Other words")]


def test_a_question_after_exactly_this_answer_is_none_that_followed_another():
    client = Client(trace_id="chat")
    asked = client.ask(*branched(client), "Two", ai("Second"), "Three")
    assert texts(asked) == ["One", "Other words", "Two", "Second", "Three"]
    assert altered() == []


def test_after_an_altered_answer_exact_ones_count_as_exact_again():
    client = Client(trace_id="chat")
    client.ask("Zero").answer("Null")
    history: list[Message] = [human("Zero"), ai("Null"), human("One")]
    client.ask(*history).answer("First")
    client.ask(*history, ai("First"), "Two").answer("Second")
    client.ask(*history).answer("Other words")
    echo = [human("Zero"), ai("Null and void"), human("One"), ai("Other words")]
    asked = client.ask(*echo, "Two", ai("Second"), "Three")
    assert texts(asked) == ["Zero", "Null", "One", "Other words", "Two", "Second", "Three"]
    assert altered() == ["Null"]


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


def test_a_call_that_came_back_altered_is_counted():
    client = Client(trace_id="chat")
    client.ask("Price?").answer(call_event())
    asked = client.ask("Price?", MIGRATED, result())
    assert asked.accepted.recollection.client_calls == {"get_widget_data": 1}


def test_a_shortened_history_without_an_exact_answer_is_none_that_is_known():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    asked = client.ask("Two", ai("Never said"), "Three")
    assert texts(asked) == ["Two", "Never said", "Three"]
    assert altered() == []


def test_a_summary_before_the_whole_conversation_is_no_hindrance():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    echo = ["[Summary]", "One", ai("In other words"), "Two", ai("Second")]
    asked = client.ask(*echo, "Three")
    assert texts(asked) == ["One", "First", "Two", "Second", "Three"]
    assert altered() == ["First"]


@pytest.mark.parametrize(("unknown", "found"), [(7, True), (8, False)])
def test_the_first_eight_messages_may_be_the_beginning_of_a_shortened_history(unknown, found):
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    summaries = [f"[Summary {number}]" for number in range(unknown)]
    asked = client.ask(*summaries, "Two", ai("Second"), "Three")
    known = ["One", "First"] if found else summaries
    assert texts(asked) == [*known, "Two", "Second", "Three"]


def test_a_message_whose_parent_was_not_loaded_is_not_compared(monkeypatch):
    monkeypatch.setattr(finding, "LOADED", 3)
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    asked = client.ask("Foreign", ai("Never said"), "Three")
    assert texts(asked) == ["Foreign", "Never said", "Three"]


def test_a_result_after_a_shortened_history_belongs_to_its_question():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    asking = client.ask("One", ai("First"), "Price?").answer(call_event())
    answered = client.ask(ai("First"), "Price?", call_echo(), result())
    assert answered.accepted.turn_id == asking.accepted.turn_id


def test_a_turn_of_many_calls_stays_one_turn():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    history: list[Message] = [human("One"), ai("First"), human("Prices?")]
    asked = client.ask(*history)
    for number in range(10):
        asked.answer(call_event(f"w-{number}"))
        history += [call_echo(f"w-{number}"), result("1", f"w-{number}")]
        asked = client.ask(*history)
    assert Turn.objects.count() == 2
    assert Turn.objects.get(runs=asked.run).human_node.text == "Prices?"
    assert asked.accepted.recollection.client_calls == {"get_widget_data": 10}


def test_results_without_a_question_share_no_turn_with_another_conversation():
    first = Client(trace_id="chat-1").ask(call_echo(), result())
    second = Client(trace_id="chat-2").ask(call_echo(), result())
    assert first.accepted.turn_id != second.accepted.turn_id
    assert list(Conversation.objects.values_list("title", flat=True)) == ["", ""]
