"""Stateless requests become conversations: each message once, nothing joined that is not one."""

import json

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin import models
from copilot_admin.models import Blob, Conversation, Logging, Node, Outcome, Run, Turn
from copilot_admin.storage import blobs
from copilot_admin.transcripts.matching import finding
from copilot_admin.transcripts.store.opening import accept, prepare
from protocol.events import ArtifactType, FunctionCall, MessageArtifact, StatusUpdate
from protocol.generations import Generation
from protocol.messages import (
    AiMessage,
    CallMessage,
    CommandResult,
    FileReference,
    HumanMessage,
    Message,
    ResultMessage,
    SourceData,
    SourceError,
)
from protocol.requests import read
from tests.transcripts.store.journaling import (
    Client,
    ai,
    call_echo,
    call_event,
    ending,
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
def test_fifty_two_turns_store_two_messages_each(trace_id):
    client = Client(trace_id=trace_id)
    history = []
    for number in range(52):
        history.append(human(f"Question {number}"))
        client.ask(*history).answer(f"Answer {number}")
        history.append(ai(f"Answer {number}"))
    assert (Conversation.objects.count(), Node.objects.count()) == (1, 104)


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


@pytest.mark.database
def test_foreign_history_without_a_known_answer_is_kept_once():
    client = Client()
    client.ask("Hi").answer("Hello")
    foreign = client.ask("Hi", ai("Completely unrelated words"), "And?").answer("Well")
    assert Conversation.objects.count() == 2
    history = foreign.conversation.nodes.order_by("id")
    assert [node.from_history for node in history] == [True, True, False, False]
    assert Run.objects.filter(conversation=foreign.conversation).count() == 1


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
def test_the_same_first_question_after_a_greeting_is_a_chat_of_its_own():
    client = Client()
    first, second = (client.ask(*BROUGHT_ALONG["a greeting"], "Hi") for _ in range(2))
    assert first.conversation != second.conversation


@pytest.mark.database
@TRACES
def test_a_long_unknown_history_is_stored_once(trace_id):
    client = Client(trace_id=trace_id)
    history = [human(f"q{i}") if i % 2 == 0 else ai(f"a{i}") for i in range(1200)]
    asked = client.ask(*history, "And now?")
    nodes = list(asked.conversation.nodes.order_by("depth"))
    assert [node.parent_id for node in nodes] == [None, *(node.pk for node in nodes[:-1])]
    assert [node.text for node in nodes] == [*(one.text for one in history), "And now?"]
    assert [node.from_history for node in nodes] == [True] * 1200 + [False]
    assert client.ask(*history, "And now?").conversation == asked.conversation
    assert asked.conversation.nodes.count() == 1201


@TRACES
def test_an_answer_split_into_bubbles_is_recognised(trace_id):
    client = Client(trace_id=trace_id)
    client.ask("Hi").answer("First part. ", StatusUpdate(message="Step"), "\nSecond part.")
    asked = client.ask("Hi", ai("First part."), ai("Second part."), "More")
    assert [row[1] for row in shape(asked.conversation)] == ["human", "ai", "human"]
    assert not Node.objects.filter(echo_differs=True).exists()


@TRACES
def test_an_answer_with_the_markers_of_the_client_is_recognised(trace_id):
    table = MessageArtifact(
        type=ArtifactType.TABLE, uuid="u", artifact_name="t1", description="", content=[{"a": 1}]
    )
    client = Client(trace_id=trace_id)
    client.ask("Hi").answer("Look: ", table, " done")
    body = {
        "messages": [
            {"role": "human", "content": "Hi"},
            {"role": "ai", "content": "Look:\n<|start_artifact_id|>t1<|end_artifact_id|>\ndone"},
            {"role": "human", "content": "More"},
        ]
    }
    asked = client.ask(*read(json.dumps(body).encode()).messages)
    assert [row[1] for row in shape(asked.conversation)] == ["human", "ai", "human"]
    assert not Node.objects.filter(echo_differs=True).exists()


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


def test_an_old_client_that_repeats_a_table_as_text_is_recognised():
    table = MessageArtifact(
        type=ArtifactType.TABLE, uuid="u", artifact_name="t", description="", content=[{"a": 1}]
    )
    client = Client(generation=Generation.ONE)
    client.ask("Hi").answer("Look: ", table)
    asked = client.ask("Hi", ai("Look: \n\n| a |\n| --- |\n| 1 |\n\n"), "More")
    assert len(shape(asked.conversation)) == 3
    assert not Node.objects.filter(echo_differs=True).exists()


@TRACES
def test_a_dropped_call_and_result_do_not_branch(trace_id):
    client = Client(trace_id=trace_id)
    client.ask("Price?").answer(call_event())
    first = client.ask("Price?", call_echo(), result()).answer("It is 42")
    second = client.ask("Price?", ai("It is 42"), "Sure?").answer("Yes")
    third = client.ask("Price?", ai("It is 42"), "Sure?", ai("Yes"), "Good").answer("Fine")
    assert first.conversation == second.conversation == third.conversation
    assert [row[0] for row in shape(third.conversation)] == list(range(8))
    assert not third.conversation.has_branch
    assert not Node.objects.filter(echo_differs=True).exists()


def test_migrated_calls_of_the_past_do_not_branch():
    client = Client(trace_id="chat")
    client.ask("Price?").answer(call_event())
    client.ask("Price?", call_echo(), result()).answer("It is 42")
    migrated = CallMessage("get_widget_data", {"widget_uuids": ["w-1"]})
    renewed = ResultMessage("get_widget_data", {}, (SourceError("not_found", "gone"),))
    asked = client.ask("Price?", migrated, renewed, ai("It is 42"), "Sure?")
    assert [row[0] for row in shape(asked.conversation)] == list(range(5))
    assert [node.echo_differs for node in Node.objects.order_by("id")] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_a_client_that_sends_only_the_last_messages_is_recognised_by_its_trace_id():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    client.ask("One", ai("First"), "Two", ai("Second"), "Three").answer("Third")
    asked = client.ask("Two", ai("Second"), "Three", ai("Third"), "Four").answer("Fourth")
    tail = client.ask(ai("Fourth"), "Five")
    assert asked.conversation == tail.conversation
    assert [row[0] for row in shape(tail.conversation)] == list(range(9))


def test_a_summary_before_the_last_messages_is_no_hindrance():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    asked = client.ask("[Summary]", "Two", ai("Second"), "Three")
    assert [row[3] for row in shape(asked.conversation)] == [
        "One",
        "First",
        "Two",
        "Second",
        "Three",
    ]


@pytest.mark.database
def test_unknown_history_under_a_known_trace_id_is_kept_beside_the_known():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    asked = client.ask("Never", ai("heard"), "Three").answer("Third")
    assert [row[0] for row in shape(asked.conversation)] == [0, 1, 0, 1, 2, 3]


def test_the_copy_of_an_answer_that_is_still_being_written_is_no_message():
    client = Client(trace_id="chat")
    running = client.ask("One")
    second = client.ask("One", ai("Fir"), "Two")
    running.answer("First", ended=ending(Outcome.CANCELLED))
    second.answer("Second")
    third = client.ask("One", ai("Fir"), "Two", ai("Second"), "Three").answer("Third")
    nodes = shape(third.conversation)
    assert sorted(row[3] for row in nodes) == ["First", "One", "Second", "Third", "Three", "Two"]
    assert Turn.objects.count() == 3


def test_a_dropped_answer_does_not_branch():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    asked = client.ask("One", "Two", ai("Second"), "Three")
    assert [row[0] for row in shape(asked.conversation)] == list(range(5))


def test_the_same_question_after_another_answer_is_another_question():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    client.ask("One").answer("Other words")
    asked = client.ask("One", ai("Other words"), "Two").answer("Second")
    assert [row[3] for row in shape(asked.conversation)] == [
        "One",
        "First",
        "Two",
        "Second",
        "Other words",
        "Two",
        "Second",
    ]


def test_two_callers_with_the_same_first_words_stay_apart():
    one, other = Client(principal="key:1"), Client(principal="key:2")
    other.version = one.version
    one.ask("Hi").answer("Hello")
    asked = other.ask("Hi", ai("Hello"), "And?")
    assert asked.conversation.principal == "key:2"
    assert [node.from_history for node in asked.conversation.nodes.order_by("id")] == [
        True,
        True,
        False,
    ]


def test_two_copilots_stay_apart():
    one, other = Client(trace_id="chat"), Client(trace_id="chat")
    first = one.ask("Hi").answer("Hello")
    second = other.ask("Hi", ai("Hello"), "And?")
    assert first.conversation != second.conversation


@pytest.mark.database
def test_of_equal_conversations_the_latest_one_that_nobody_went_on_with_is_continued():
    client = Client()
    first = client.ask("Hi").answer("Hello")
    second = client.ask("Hi").answer("Hello")
    assert client.ask("Hi", ai("Hello"), "A?").answer("a").conversation == second.conversation
    assert client.ask("Hi", ai("Hello"), "B?").answer("b").conversation == first.conversation


def test_two_chats_with_the_same_words_and_other_trace_ids_stay_apart():
    client = Client(trace_id="chat-1")
    client.ask("Hi").answer("Hello")
    other = client.another(trace_id="chat-2")
    asked = other.ask("Hi", ai("Hello"), "And?")
    assert asked.conversation.trace_id == "chat-2"
    assert Conversation.objects.count() == 2


@pytest.mark.database
def test_a_trace_id_that_comes_later_names_the_conversation():
    client = Client()
    first = client.ask("Hi").answer("Hello")
    named = client.another(trace_id="from-the-response")
    second = named.ask("Hi", ai("Hello"), "And?").answer("Well")
    assert second.conversation == first.conversation
    assert second.conversation.trace_id == "from-the-response"


def test_a_trace_id_that_is_lost_does_not_lose_the_conversation():
    client = Client(trace_id="chat")
    first = client.ask("Hi").answer("Hello")
    second = client.another().ask("Hi", ai("Hello"), "And?")
    assert second.conversation == first.conversation


def test_another_agents_answers_in_the_same_chat_are_history():
    client = Client(trace_id="chat")
    client.ask("One").answer("First")
    other = AiMessage("Not from here", agent_id="other-agent")
    asked = client.ask("One", ai("First"), "Two", other, "Three").answer("Third")
    nodes = asked.conversation.nodes.order_by("id")
    assert [(node.text, node.from_history, node.agent) for node in nodes][2:5] == [
        ("Two", True, ""),
        ("Not from here", True, "other-agent"),
        ("Three", False, ""),
    ]
    assert Turn.objects.count() == 2


def test_an_orchestrators_task_is_a_question():
    task = HumanMessage("Read the news", agent_id="openbb-copilot")
    asked = Client().ask(task).answer("Done")
    node = asked.conversation.nodes.get(role="human")
    assert (node.text, node.agent) == ("Read the news", "openbb-copilot")
    assert asked.conversation.title == "Read the news"


@pytest.mark.database
def test_results_without_a_question_share_a_turn():
    client = Client(trace_id="chat")
    first = client.ask(call_echo("w-1"), result("1", "w-1")).answer(call_event("w-2"))
    second = client.ask(
        call_echo("w-1"), result("1", "w-1"), call_echo("w-2"), result("2", "w-2")
    ).answer("3")
    assert first.accepted.turn_id == second.accepted.turn_id
    assert Turn.objects.get().human_node is None


def test_a_result_whose_call_is_unknown_is_kept_in_its_turn():
    client = Client(trace_id="chat")
    client.ask("Hi").answer("Hello")
    asked = client.ask("Hi", ai("Hello"), "Price?", call_echo(), result()).answer("42")
    assert [row[1:3] for row in shape(asked.conversation)][2:] == [
        ("human", "text"),
        ("ai", "call"),
        ("tool", "result"),
        ("ai", "text"),
    ]
    assert Turn.objects.filter(runs=asked.run).get().human_node.text == "Price?"


@pytest.mark.database
def test_a_long_foreign_history_is_stored_once_and_in_order():
    history = [human(str(i)) if i % 2 == 0 else ai(str(i)) for i in range(301)]
    client = Client(trace_id="chat")
    asked = client.ask(*history).answer("301")
    client.ask(*history, ai("301"), "302")
    nodes = list(asked.conversation.nodes.order_by("id"))
    assert [node.text for node in nodes] == [str(i) for i in range(303)]
    assert [node.parent_id for node in nodes[1:]] == [node.pk for node in nodes[:-1]]


def test_an_empty_answer_is_no_message():
    client = Client(trace_id="chat")
    client.ask("One").answer(StatusUpdate(message="only a step"))
    asked = client.ask("One", ai(" "), "Two")
    assert [row[3] for row in shape(asked.conversation)] == ["One", "Two"]


def test_repeated_results_are_stored_once():
    client = Client(trace_id="chat")
    data = "row " * 75_000
    history, sizes = [], []
    for number in range(10):
        history.append(human(f"Question {number}"))
        client.ask(*history).answer(call_event())
        history += [call_echo(), result(data)]
        client.ask(*history).answer(f"Answer {number}")
        history.append(ai(f"Answer {number}"))
        sizes.append(sum(Blob.objects.values_list("size", flat=True)))
    assert Node.objects.count() == 40
    assert sizes[0] > 300_000
    assert sizes[-1] - sizes[0] < 5_000


def test_the_number_of_queries_does_not_depend_on_the_history():
    client, history, counts = Client(trace_id="chat"), [], []
    for number in range(52):
        history.append(human(f"Question {number}"))
        opening = prepare(client.opening(*history))
        with CaptureQueriesContext(connection) as queries, transaction.atomic():
            accept(opening)
        counts.append(len(queries))
        client.ask(*history).answer(f"Answer {number}")
        history.append(ai(f"Answer {number}"))
    assert set(counts[1:]) == {counts[1]}
    assert counts[1] <= 16


@pytest.mark.database
def test_secrets_do_not_reach_the_tables():
    client = Client(trace_id="chat")
    signed = "https://files.example/a.pdf?X-Amz-Signature=canary&page=2"
    body = {
        "messages": [
            {"role": "human", "content": f"Read {signed}"},
            {"role": "ai", "content": json.dumps({"function": "f", "input_arguments": {"api_key": "canary"}})},
            {"role": "tool", "function": "f", "data": [{"items": [{"content": f"see {signed}"}]}]},
        ],
        "api_keys": {"openai_api_key": "canary"},
        "tools": [{"name": "t", "url": signed, "auth_token": "canary"}],
    }  # fmt: skip
    query = read(json.dumps(body).encode())
    client.ask(*query.messages, env=query.env).answer(f"It is at {signed}")
    assert "canary" not in everything_stored()
    assert "files.example" in everything_stored()


@pytest.mark.parametrize("logging", [Logging.METADATA, Logging.NOTHING])
def test_nothing_of_the_content_reaches_the_tables_where_none_is_kept(logging):
    client = Client(trace_id="chat", logging=logging)
    env = {"timezone": "canary", "widgets": {"primary": [{"name": "canary" * 900}]}}
    failed = ending(Outcome.FAILED, error="canary", error_code="ProviderBroke", notes=("canary",))
    client.ask("canary", env=env, notes=("canary",)).answer(
        StatusUpdate(message="canary"), "canary ", call_event("canary")
    )
    echo = [human("canary"), ai("canary "), call_echo("canary"), result("canary" * 900, "canary")]
    second = client.ask(*echo, env=env).answer("the canary sings", ended=failed)
    assert "canary" not in everything_stored()
    run = second.run
    assert (run.outcome, run.error, run.error_code, run.input_tokens) == (
        Outcome.FAILED,
        "",
        "ProviderBroke",
        10,
    )


def test_conversations_are_recognised_without_their_content():
    client = Client(logging=Logging.METADATA)
    client.ask("Price?").answer(call_event())
    first = client.ask("Price?", call_echo(), result()).answer("42")
    second = client.ask("Price?", call_echo(), result(), ai("42"), "Sure?").answer("Yes")
    assert first.conversation == second.conversation
    assert [row[3] for row in shape(second.conversation)] == [""] * 6
    assert second.conversation.title == ""
    assert first.accepted.recollection.client_calls == {"": 1}


@pytest.mark.database
def test_hashes_of_what_is_not_kept_depend_on_the_secret_key(settings):
    asked = Client(logging=Logging.METADATA).ask("Hi")
    known = set(asked.conversation.nodes.values_list("chain_hash", flat=True))
    client = Client(logging=Logging.METADATA, version=asked.run.copilot_version)
    settings.SECRET_KEY = "another"
    other = client.ask("Hi")
    assert known.isdisjoint(other.conversation.nodes.values_list("chain_hash", flat=True))


@pytest.mark.database
def test_an_altered_later_answer_is_marked_and_never_a_branch():
    client = Client()
    client.ask("One").answer("First")
    client.ask("One", ai("First"), "Two").answer("Second")
    asked = client.ask("One", ai("First"), "Two", ai("Nothing like it"), "Three")
    assert [row[0] for row in shape(asked.conversation)] == list(range(5))
    assert Node.objects.get(echo_differs=True).text == "Second"


def test_of_conversations_that_begin_alike_the_one_with_the_answer_is_continued():
    client = Client()
    first = client.ask("Hi").answer("The weather in London is fine today")
    client.ask("Hi").answer("Shares in Tokyo fell by two percent")
    asked = client.ask("Hi", ai("The weather in London is fine"), "More")
    assert asked.conversation == first.conversation


def test_a_result_without_its_call_is_recognised():
    client = Client(trace_id="chat")
    client.ask("Price?").answer(call_event())
    client.ask("Price?", call_echo(), result()).answer("42")
    asked = client.ask("Price?", result(), ai("42"), "Sure?")
    assert [row[0] for row in shape(asked.conversation)] == list(range(5))


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


def test_a_question_that_was_history_may_be_asked_again():
    client = Client(trace_id="chat")
    client.ask("Old", ai("From elsewhere"), "New").answer("Mine")
    asked = client.ask("Old").answer("Mine too")
    assert Turn.objects.get(runs=asked.run).human_node.text == "Old"
    assert (asked.conversation.n_turns, Turn.objects.count()) == (2, 2)


@pytest.mark.database
def test_only_the_newest_messages_of_an_endless_conversation_are_walked_along(monkeypatch):
    monkeypatch.setattr(finding, "LOADED", 4)
    client, history = Client(trace_id="chat"), []
    for number in range(5):
        history += [human(f"Question {number}")]
        client.ask(*history).answer(f"Answer {number}")
        history += [ai(f"Answer {number}")]
    asked = client.ask(*history[-3:], "Five")
    assert len(shape(asked.conversation)) == 11
    lost = client.ask(ai("Answer 0"), "Question 1", ai("Answer 1"), "What?")
    assert lost.conversation == asked.conversation


@pytest.mark.database
def test_the_outcome_of_a_command_is_kept():
    made = CommandResult("success", "ok", about={"widget_uuid": "w-1"})
    done = ResultMessage("add_widget_to_dashboard", {}, (made,))
    call = CallMessage("add_widget_to_dashboard", {})
    asked = Client().ask("Add it", call, done)
    node = asked.conversation.nodes.get(role="tool")
    assert json.loads(node.text) == {
        "function": "add_widget_to_dashboard",
        "input_arguments": {},
        "data": [{"status": "success", "message": "ok", "data": {}, "widget_uuid": "w-1"}],
    }


def test_files_and_citations_of_a_result_are_kept_without_signatures():
    file = FileReference(url="https://f.example/a.pdf?sig=canary", data_format={"data_type": "pdf"})
    data = SourceData((file,), ({"id": "c-1"},))
    asked = Client().ask("Read", call_echo(), ResultMessage("get_widget_data", {}, (data,)))
    stored = json.loads(asked.conversation.nodes.get(role="tool").text)
    assert stored["data"] == [
        {
            "items": [
                {
                    "url": "https://f.example/a.pdf",
                    "data_format": {"data_type": "pdf"},
                    "citable": True,
                }
            ],
            "extra_citations": [{"id": "c-1"}],
        }
    ]


@pytest.mark.database
def test_a_big_call_is_kept_and_recognised():
    def call(size: int) -> FunctionCall:
        rows = [{"value": number} for number in range(size)]
        return FunctionCall(function="add_generative_widget", input_arguments={"data": rows})

    client = Client()
    client.ask("Draw").answer(call(500))
    echo = CallMessage("add_generative_widget", call(500).input_arguments)
    asked = client.ask("Draw", echo, ResultMessage("add_generative_widget", {}, ()))
    node = asked.conversation.nodes.get(kind="call")
    assert (node.text, blobs.load([node.blob_id])[node.blob_id]) == (
        "",
        {"function": echo.function, "input_arguments": echo.input_arguments},
    )
    assert node.pk == asked.conversation.nodes.get(role="tool").parent_id


def test_a_request_that_stands_in_two_conversations_is_one_of_the_newer_though_it_was_answered():
    older = Client(trace_id="older")
    older.ask("Hi").answer("Hello")
    older.ask("Hi", ai("Hello"), "And?")
    newer = older.another(trace_id="newer")
    newer.ask("Hi").answer("Hello")
    answered = newer.ask("Hi", ai("Hello"), "And?").answer("So.")
    again = newer.another(trace_id="").ask("Hi", ai("Hello"), "And?")
    assert again.conversation == answered.conversation


def everything_stored() -> str:
    rows = [
        str(list(getattr(models, name).objects.values_list()))
        for name in ("Conversation", "Node", "Turn", "Run", "Event", "Checkpoint", "DailyUsage")
    ]
    return "".join(rows) + str(blobs.load(Blob.objects.values_list("pk", flat=True)))
