"""Content is stored once, without secrets, and not at all where none is kept."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
import json
import threading
from typing import Any
import zlib

from django.apps import apps
from django.db import models
import pytest

from copilot_admin.models import (
    Blob,
    Conversation,
    Event,
    Logging,
    Node,
    Outcome,
    Run,
    Turn,
)
from copilot_admin.storage.writer import Writer
from copilot_admin.transcripts.store.run_start import accept, prepare
from protocol.events import StatusUpdate
from protocol.models import DataItem, FileReference, ResultMessage, SourceData
from protocol.parsing import parse_query
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import (
    Client,
    ai,
    call_echo,
    call_event,
    ending,
    human,
    result,
)

pytestmark = pytest.mark.django_db
CANARY = "canary-4711"


def stored_text() -> str:
    """Every value of every row of ours, big things unpacked."""
    return "\n".join(_values(apps.get_app_config("copilot_admin").get_models()))


def _values(tables: Iterator[type[models.Model]]) -> Iterator[str]:
    for table in tables:
        for row in table._default_manager.values():
            for value in row.values():
                yield _readable(value)


def _readable(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        try:
            return zlib.decompress(bytes(value)).decode()
        except zlib.error:
            return bytes(value).decode("latin-1")
    return json.dumps(value, default=str, ensure_ascii=False)


class TestOneCopy:
    def test_what_widgets_returned_is_stored_once_however_often_it_is_repeated(self):
        rows = json.dumps([{"day": day, "close": day * 1.5} for day in range(12_000)])
        assert len(rows) > 300_000
        client, history, sizes = Client(trace_id="chat-1"), [], []
        for number in range(12):
            history += [human(f"Question {number}"), call_echo(), result(rows)]
            client.ask(*history[:-2]).answer(call_event())
            client.ask(*history).answer(f"Answer {number}")
            history.append(ai(f"Answer {number}"))
            sizes.append((Node.objects.count(), Run.objects.count(), Event.objects.count()))
        per_turn = [
            tuple(b - a for a, b in zip(before, after, strict=True))
            for before, after in pairwise(sizes)
        ]
        assert per_turn == [per_turn[0]] * 11
        assert sum(Blob.objects.values_list("size", flat=True)) < 2 * len(rows)

    @pytest.mark.database
    def test_two_clients_with_the_same_words_have_two_conversations(self):
        one = Client(principal="key:1")
        other = one.another(principal="key:2")
        for client in (one, other):
            client.ask("Hi").answer("Hello")
            client.ask("Hi", ai("Hello"), "More?").answer("Yes")
        assert list(Conversation.objects.values_list("principal", "n_turns").order_by("id")) == [
            ("key:1", 2),
            ("key:2", 2),
        ]

    def test_a_trace_id_of_another_caller_or_copilot_opens_nothing(self):
        mine = Client(principal="key:1", trace_id="chat-1")
        mine.ask("Hi").answer("Hello")
        mine.another(principal="key:2", trace_id="chat-1").ask("Hi", ai("Hello"), "More?")
        Client(principal="key:1", trace_id="chat-1").ask("Hi", ai("Hello"), "More?")
        assert Conversation.objects.count() == 3

    def test_a_shortened_history_stays_in_its_conversation(self):
        client, history = Client(trace_id="chat-1"), []
        for number in range(5):
            history.append(human(f"Question {number}"))
            client.ask(*history).answer(f"Answer {number}")
            history.append(ai(f"Answer {number}"))
        client.ask(*history[-4:], "Question 5").answer("Answer 5")
        assert (Conversation.objects.count(), Turn.objects.count()) == (1, 6)

    def test_a_dropped_pair_of_call_and_result_does_not_split_the_chat(self):
        client = Client(trace_id="chat-1")
        client.ask("Price?").answer(call_event())
        client.ask("Price?", call_echo(), result()).answer("It is 42")
        client.ask("Price?", ai("It is 42"), "Thanks").answer("Welcome")
        assert Conversation.objects.count() == 1
        assert Turn.objects.count() == 2


class TestSecrets:
    @pytest.mark.database
    def test_secrets_of_a_request_never_reach_the_database(self):
        body = {
            "messages": [{"role": "human", "content": "Hi"}],
            "tools": [{"name": "t", "url": "https://mcp.test/", "auth_token": CANARY}],
            "api_keys": {"openai_api_key": CANARY},
            "urls": [f"https://files.test/a.pdf?X-Amz-Signature={CANARY}&page=1"],
            "authorization": CANARY,
        }
        query = parse_query(json.dumps(body).encode())
        client = Client()
        accept(prepare(replace(client.start(*query.messages), query=query)))
        assert CANARY not in stored_text()

    def test_signatures_of_files_in_results_are_removed(self):
        file = FileReference(
            url=f"https://files.test/a.pdf?X-Amz-Signature={CANARY}&page=1",
            data_format={"data_type": "pdf"},
        )
        data = ResultMessage("get_widget_data", call_echo().input_arguments, (SourceData((file,)),))
        client = Client(trace_id="chat-1")
        client.ask("Read it").answer(call_event())
        client.ask("Read it", call_echo(), data).answer("Done")
        assert CANARY not in stored_text()
        assert "files.test/a.pdf" in stored_text()


@pytest.mark.database
@pytest.mark.parametrize("logging", [Logging.METADATA, Logging.NOTHING])
def test_where_content_is_not_kept_none_reaches_the_database(logging):
    client = Client(trace_id="chat-1", logging=logging)
    data = ResultMessage(
        "get_widget_data",
        call_echo().input_arguments,
        (SourceData((DataItem(content=CANARY * 1000),)),),
    )
    env = {"context": [{"name": CANARY}], "timezone": "UTC"}
    client.ask(CANARY, env=env, notes=(CANARY,)).answer(call_event())
    failed = ending(Outcome.FAILED, error=CANARY, error_code="ProviderBroke")
    client.ask(CANARY, call_echo(), data, env=env).answer(
        CANARY, StatusUpdate(message=CANARY), ended=failed
    )
    assert CANARY not in stored_text()
    assert list(Run.objects.order_by("started_at").values_list("outcome", flat=True)) == [
        "completed",
        "failed",
    ]
    kept = 0 if logging is Logging.NOTHING else 1
    assert Conversation.objects.count() == kept


@pytest.mark.database
def test_what_a_database_refuses_is_replaced_and_noted():
    body = json.dumps({"messages": [{"role": "human", "content": "a\0b \ud800 " + "9" * 30}]})
    query = parse_query(body.encode())
    client = Client(trace_id="chat-1")
    accept(prepare(replace(client.start(*query.messages), query=query)))
    assert Node.objects.get().text == "a\ufffdb \ufffd " + "9" * 30
    assert Run.objects.get().notes


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_two_requests_of_one_conversation_at_once_share_it():
    client = Client(trace_id="chat-1")
    starts = [client.start("Hi") for _ in range(4)]
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(starts))

    def work(start: Any) -> None:
        writer = Writer("test-writer")
        prepared = prepare(start)
        barrier.wait(HANGS_SECONDS)
        error = writer.submit(lambda: accept(prepared)).exception(HANGS_SECONDS)
        if error:
            errors.append(error)
        writer.stop(timeout=HANGS_SECONDS)

    threads = [threading.Thread(target=work, args=(start,)) for start in starts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    counts = (Conversation.objects.count(), Node.objects.count(), Turn.objects.count())
    assert (*counts, Run.objects.count()) == (1, 1, 1, 4)
