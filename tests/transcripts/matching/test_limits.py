"""However long a request or a conversation is, threading reads a limited part of it."""

import re
from sys import getsizeof
import tracemalloc

from django.db import connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.models import Conversation, Node
from copilot_admin.transcripts.matching.chain import PUBLIC_KEY, Chain, digest_of
from copilot_admin.transcripts.matching.finding import find
from copilot_admin.transcripts.matching.similarity import COMPARED, likeness
from protocol.messages import AiMessage, HumanMessage, Message
from protocol.pieces import PIECE
from tests.transcripts.store.journaling import Client

CHAIN = Chain(key=PUBLIC_KEY, copilot_id=1, principal="anonymous")


def queries_of(messages: list[Message], *, trace_id: str = "", chain: Chain = CHAIN) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        find(chain, chain.links(messages), trace_id=trace_id)
    return [query["sql"] for query in queries]


def limits(messages: list[Message], *, trace_id: str = "", chain: Chain) -> list[str]:
    """How many messages each query reads at the most, where it reads several."""
    read = queries_of(messages, trace_id=trace_id, chain=chain)
    return [limit for sql in read for limit in re.findall(r"LIMIT (\d+)", sql)]


def chain_of(conversation: Conversation) -> Chain:
    copilot_id, principal = conversation.copilot_id, conversation.principal
    return Chain(key=PUBLIC_KEY, copilot_id=copilot_id, principal=principal)


@pytest.mark.django_db
def test_of_a_long_message_that_is_stored_the_beginning_is_read():
    question, answer = "x" * 20_000, "y" * 20_000
    chain = chain_of(Client(trace_id="chat").ask(question).answer(answer).conversation)
    messages = [HumanMessage(question), AiMessage(answer), HumanMessage("More")]
    found = find(chain, chain.links(messages), trace_id="chat")
    assert found.place.node is not None
    assert (found.place.used, found.place.node.text) == (2, "y" * COMPARED)


@pytest.mark.django_db
def test_the_newest_thousand_messages_of_a_request_are_looked_up():
    messages = [HumanMessage("One"), AiMessage("First"), *[HumanMessage("More")] * 1500]
    hashes = [len(re.findall(r"\b[0-9a-f]{32}\b", sql)) for sql in queries_of(messages)]
    assert max(hashes) == 1000


@pytest.mark.django_db
def test_of_a_conversation_the_newest_five_thousand_messages_are_read_and_16_around_the_place():
    asked = Client(trace_id="chat").ask("One").answer("First")
    known: list[Message] = [HumanMessage("One"), AiMessage("First")]

    def read(*more: Message) -> list[str]:
        return limits([*known, *more], trace_id="chat", chain=chain_of(asked.conversation))

    assert read() == ["16"]
    assert read(HumanMessage("Two")) == ["16"]
    assert read(HumanMessage("Two"), AiMessage("Never")) == ["16", "5000"]


@pytest.mark.django_db
def test_of_conversations_that_begin_alike_128_answers_are_compared_and_one_conversation_is_read():
    client = Client()
    for answer in ("The weather in London is fine", "Shares in Tokyo fell", "Nobody knows"):
        client.ask("Hi").answer(answer)
    messages = [HumanMessage("Hi"), AiMessage("The weather in London"), HumanMessage("More")]
    assert limits(messages, chain=chain_of(Conversation.objects.first())) == ["16", "128", "5000"]


@pytest.mark.django_db
def test_a_title_has_three_hundred_characters():
    Client().ask("a" * 301)
    assert Conversation.objects.get().title == "a" * 300


@pytest.mark.django_db
def test_the_name_of_an_agent_has_two_hundred_characters():
    Client().ask("One", AiMessage("First", agent_id="a" * 201), "Two")
    assert Node.objects.get(text="First").agent == "a" * 200


def test_answers_are_compared_by_their_first_two_thousand_characters():
    start = "".join(f"{number:04}" for number in range(500))
    assert likeness(start + "one thing", start + "another") == 1.0
    assert likeness(start[:-9] + "one thing", start[:-9] + "another") < 1.0


def test_a_long_answer_of_short_words_is_recognised_in_little_memory():
    text = "a b\n" * (8 * PIECE)
    tracemalloc.start()
    try:
        digest = digest_of(AiMessage(text), key=PUBLIC_KEY)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert digest == digest_of(AiMessage("ab" * (8 * PIECE)), key=PUBLIC_KEY)
    assert peak < 3 * len(text)  # as words it takes fifteen times as much


def test_a_long_text_in_wide_characters_is_there_once_more_while_it_is_recognised():
    """Two or three times more made 190 MB of an answer of 12."""
    text = ("x" * 1000 + "\U0001f600") * 4000
    size = getsizeof(text)
    tracemalloc.start()
    try:
        digest_of(HumanMessage(text), key=PUBLIC_KEY)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * size
