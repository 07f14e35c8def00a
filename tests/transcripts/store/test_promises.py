"""What the journal promises: nothing twice, nothing secret, nothing lost."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
import json
import threading
from typing import Any
import zlib

from django.apps import apps
from django.db import DatabaseError, OperationalError, connection, models
from django.utils import timezone
import pytest

from copilot_admin.agent.client.client_state import SIGNED_MEMORY
from copilot_admin.agent.values.engine_input import Memory, Recollection
from copilot_admin.models import (
    Blob,
    Checkpoint,
    Conversation,
    DailyUsage,
    Event,
    Logging,
    Node,
    Outcome,
    Run,
    Turn,
    TurnState,
)
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.spool import Spool
from copilot_admin.storage.writer import DatabaseThread, Writer
from copilot_admin.transcripts.store import Journal, beat
from copilot_admin.transcripts.store.finishing import finish
from copilot_admin.transcripts.store.opening import accept, prepare
from copilot_admin.transcripts.store.reaping import INTERRUPTED, reap
from copilot_admin.transcripts.store.recorder import Recorder
from copilot_admin.transcripts.store.sealing import seal
from protocol.events import FunctionCall, MessageChunk, StatusUpdate
from protocol.models import DataItem, FileReference, Generation, ResultMessage, SourceData
from protocol.parsing import parse_query
from protocol.serializers import echo_of
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import (
    Client,
    ai,
    call_echo,
    call_event,
    ending,
    human,
    record_of,
    result,
)

pytestmark = pytest.mark.django_db
CANARY = "canary-4711"


def with_value(symbol: str) -> dict[str, Any]:
    return {"uuid": "w-1", "params": [{"name": "symbol", "current_value": symbol}]}


PRICES = with_value("AAPL")
SELECTED = {"primary": [PRICES]}


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


class TestRecollection:
    @pytest.mark.database
    def test_the_second_leg_remembers_what_the_client_does_not_repeat(self):
        client = Client(trace_id="chat-1")
        query = {
            "timezone": "Europe/Vienna",
            "urls": ("https://example.com/a",),
            "env": {"timezone": "Europe/Vienna", "urls": ["https://example.com/a"]},
        }
        client.ask("Price?", **query).answer(call_event())
        second = client.ask("Price?", call_echo(), result())
        assert second.accepted.recollection == Recollection(
            memory=Memory(timezone="Europe/Vienna", urls=("https://example.com/a",)),
            client_calls={"get_widget_data": 1},
            looped=False,
            carried={"signed": "by us"},
        )

    @pytest.mark.parametrize("length", [10, 100_000], ids=["small", "as a blob"])
    def test_what_an_older_client_does_not_carry_is_known_from_the_call(self, length):
        client = Client(trace_id="chat-1", generation=Generation.ONE)
        state = {SIGNED_MEMORY: "x" * length}
        call = replace(call_event(), extra_state=state)
        asked = client.ask("Price?")
        asked.answer(call)
        echo = echo_of(call, Generation.ONE)
        bare = ResultMessage("get_widget_data", echo.input_arguments, result().data)
        second = client.ask("Price?", echo, bare)
        assert second.accepted.recollection.carried == state

    @pytest.mark.parametrize(
        ("logging", "called"),
        [
            (Logging.EVERYTHING, {"get_widget_data": 1, "execute_agent_tool": 2}),
            (Logging.METADATA, {"": 3}),
        ],
    )
    def test_calls_are_counted_for_each_function(self, logging, called):
        client, history = Client(trace_id="chat-1", logging=logging), [human("Price?")]
        big = {"parameters": {"q": "x" * 100_000}}
        for call in (
            call_event(),
            FunctionCall(function="execute_agent_tool", input_arguments=big),
            FunctionCall(function="execute_agent_tool", input_arguments={"parameters": {}}),
        ):
            client.ask(*history).answer(call)
            echo = echo_of(call, Generation.THREE)
            history += [echo, ResultMessage(call.function, echo.input_arguments)]
        assert client.ask(*history).accepted.recollection.client_calls == called

    def test_nothing_is_looked_up_for_a_client_that_carries(self):
        client = Client(trace_id="chat-1")
        client.ask("Price?").answer(call_event())
        carrying = replace(result(), extra_state={SIGNED_MEMORY: "token"})
        assert client.ask("Price?", call_echo(), carrying).accepted.recollection.carried == {}

    def test_nothing_is_known_of_a_call_that_was_another_servers(self):
        client = Client(trace_id="chat-1")
        client.ask("Price?").answer("It is 41")
        foreign = client.ask("Price?", call_echo(), result())
        assert foreign.accepted.recollection.carried == {}

    def test_the_same_question_without_the_result_it_got_is_a_loop_for_a_minute(self):
        client = Client(trace_id="chat-1")
        client.ask("Price?").answer(call_event())
        assert client.ask("Price?").accepted.recollection.looped is True
        client.now += timedelta(seconds=61)
        assert client.ask("Price?").accepted.recollection.looped is False

    @pytest.mark.parametrize(
        ("changed", "looped"),
        [
            ({}, True),
            ({"timezone": None, "urls": []}, True),
            ({"widgets": {**SELECTED, "secondary": []}}, True),
            ({"widgets": {"primary": [with_value("MSFT")]}}, False),
            ({"widgets": {"primary": [{**PRICES, "uuid": "w-2"}]}}, False),
            ({"widgets": {"secondary": [PRICES]}}, False),
            ({"widgets": {**SELECTED, "extra": [{"uuid": "w-3"}]}}, False),
            ({"workspace_options": {"deep-research": True}}, False),
            ({"workspace_options": {"tone": ""}}, True),
            ({"context": [{"uuid": "a-1"}]}, False),
            ({"context": "text"}, True),
        ],
    )
    def test_the_same_words_about_something_else_are_another_question(self, changed, looped):
        env = {"timezone": "UTC", "widgets": SELECTED}
        client = Client(trace_id="chat-1")
        client.ask("Price?", env=env).answer(call_event())
        again = client.ask("Price?", env={**env, **changed})
        assert again.accepted.recollection.looped is looped

    @pytest.mark.database
    def test_where_no_request_is_kept_the_same_words_are_the_same_question(self):
        client = Client(trace_id="chat-1", logging=Logging.METADATA)
        client.ask("Price?", env={"widgets": SELECTED}).answer(call_event())
        again = client.ask("Price?", env={"widgets": {"primary": []}})
        assert again.accepted.recollection.looped is True


@pytest.mark.database
class TestCounters:
    def test_a_list_row_has_everything_that_it_shows(self):
        client = Client(trace_id="chat-1")
        client.ask("Hi").answer("Hello")
        failed = ending(Outcome.FAILED, error="It broke.", error_code="ProviderBroke")
        last = client.ask("Hi", ai("Hello"), "More?").answer("Half", ended=failed)
        row = last.conversation
        assert (row.title, row.n_turns, row.n_runs, row.tokens) == ("Hi", 2, 2, 30)
        assert (row.last_outcome, row.has_error, row.has_branch) == ("failed", True, False)
        assert (row.ttft_ms, row.last_at >= last.at) == (300, True)

    def test_daily_usage_counts_runs_errors_tokens_and_first_tokens(self):
        client = Client(trace_id="chat-1")
        client.ask("Hi").answer("Hello")
        client.ask("Hi", ai("Hello"), "More?").answer("x", ended=ending(Outcome.FAILED))
        usage = DailyUsage.objects.get()
        assert (usage.runs, usage.errors, usage.tokens) == (2, 1, 30)
        assert (usage.ttft_07, usage.ttft_08) == (0, 2)

    def test_a_run_ends_only_once(self):
        asked = Client().ask("Hi").answer("Hello")
        record = record_of(MessageChunk("Again"), ended=ending(Outcome.FAILED))
        assert finish(seal(record, run_id=asked.run_id, at=asked.at)) is None
        assert (asked.run.outcome, asked.conversation.tokens) == (Outcome.COMPLETED, 15)


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
        opening = client.opening(*query.messages)
        accept(prepare(type(opening)(**{**_fields(opening), "query": query})))
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


def _fields(opening: Any) -> dict[str, Any]:
    return {name: getattr(opening, name) for name in opening.__dataclass_fields__}


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
    opening = client.opening(*query.messages)
    accept(prepare(type(opening)(**{**_fields(opening), "query": query})))
    assert Node.objects.get().text == "a\ufffdb \ufffd " + "9" * 30
    assert Run.objects.get().notes


@pytest.mark.database
class TestReaping:
    def left_behind(self, *pieces: str, silent: timedelta = timedelta(seconds=60)) -> Any:
        client = Client(trace_id="chat-1", now=timezone.now() - timedelta(minutes=5))
        asked = client.ask("Hi")
        recorder = Recorder()
        for piece in pieces:
            recorder.add(MessageChunk(piece), at_ms=0)
            saved = recorder.unsaved()
            assert saved is not None
            data = zlib.compress(json.dumps(saved.to_json()).encode())
            Checkpoint.objects.create(run_id=asked.run_id, ord=saved.ord, data=data)
        Run.objects.update(boot_id="another", heartbeat_at=timezone.now() - silent)
        return asked

    @pytest.mark.parametrize("every_other_boot", [True, False])
    def test_a_dead_run_is_interrupted_with_the_text_of_its_checkpoints(self, every_other_boot):
        asked = self.left_behind("Hel", "lo")
        assert reap(every_other_boot=every_other_boot) == 1
        assert (asked.run.outcome, asked.run.error) == (Outcome.INTERRUPTED, INTERRUPTED)
        assert Node.objects.get(role="ai").text == "Hello"
        assert Checkpoint.objects.count() == 0
        assert asked.conversation.last_outcome == Outcome.INTERRUPTED

    def test_a_run_of_another_process_that_gave_a_sign_of_life_goes_on(self):
        asked = self.left_behind("Hel", silent=timedelta(seconds=20))
        assert reap(every_other_boot=False) == 0
        assert asked.run.outcome == Outcome.RUNNING
        assert reap(every_other_boot=True) == 1

    def test_a_heartbeat_is_a_sign_of_life(self):
        asked = self.left_behind("Hel")
        assert beat([asked.run_id]) == [asked.run_id]
        assert reap(every_other_boot=False) == 0

    def test_runs_of_this_process_are_left_alone(self):
        asked = Client().ask("Hi")
        assert reap(every_other_boot=True) == 0
        assert asked.run.outcome == Outcome.RUNNING

    def test_a_turn_that_waits_for_its_result_too_long_is_abandoned(self):
        client = Client(trace_id="chat-1", now=timezone.now() - timedelta(minutes=31))
        client.ask("Price?").answer(call_event())
        assert Turn.objects.get().state == TurnState.AWAITING_RESULT
        reap(every_other_boot=True)
        assert Turn.objects.get().state == TurnState.ABANDONED


def _raise(error: Exception) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
class TestThreads:
    def test_a_job_that_fails_fails_alone(self):
        writer = Writer("test-writer")
        gate = threading.Event()
        waiting = writer.submit(lambda: gate.wait(HANGS_SECONDS))
        good = writer.submit(lambda: Blob.objects.create(sha256="a", data=b"", size=0).pk)
        bad = writer.submit(lambda: Blob.objects.create(sha256="a", data=b"", size=1))
        gate.set()
        assert (waiting.result(HANGS_SECONDS), good.result(HANGS_SECONDS)) == (True, "a")
        assert isinstance(bad.exception(HANGS_SECONDS), DatabaseError)
        assert Blob.objects.count() == 1
        assert writer.stop(timeout=HANGS_SECONDS)

    def test_a_lost_connection_is_made_again(self):
        tries: list[int] = []

        def fragile() -> str:
            tries.append(1)
            if len(tries) == 1:
                raise OperationalError("gone")
            return "done"

        for thread in (Writer("test-writer"), DatabaseThread("test-reader")):
            tries.clear()
            assert thread.submit(fragile).result(HANGS_SECONDS) == "done"
            assert thread.stop(timeout=HANGS_SECONDS)

    def test_more_jobs_than_may_wait_are_refused(self):
        thread = DatabaseThread("test-reader", capacity=1)
        gate = threading.Event()
        first = thread.submit(lambda: gate.wait(HANGS_SECONDS))
        with pytest.raises(DatabaseUnavailable):
            thread.submit(lambda: None)
        gate.set()
        assert first.result(HANGS_SECONDS)
        assert thread.stop(timeout=HANGS_SECONDS)
        assert thread.submit(lambda: "again").result(HANGS_SECONDS) == "again"
        assert thread.stop(timeout=HANGS_SECONDS)

    def test_two_requests_of_one_conversation_at_once_share_it(self):
        client = Client(trace_id="chat-1")
        openings = [client.opening("Hi") for _ in range(4)]
        errors: list[BaseException] = []
        start = threading.Barrier(len(openings))

        def work(opening: Any) -> None:
            writer = Writer("test-writer")
            prepared = prepare(opening)
            start.wait(HANGS_SECONDS)
            error = writer.submit(lambda: accept(prepared)).exception(HANGS_SECONDS)
            if error:
                errors.append(error)
            writer.stop(timeout=HANGS_SECONDS)

        threads = [threading.Thread(target=work, args=(opening,)) for opening in openings]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        counts = (Conversation.objects.count(), Node.objects.count(), Turn.objects.count())
        assert (*counts, Run.objects.count()) == (1, 1, 1, 4)
        assert connection.vendor in ("sqlite", "postgresql")


@pytest.mark.django_db(transaction=True)
def test_a_journal_without_a_database_takes_no_run(monkeypatch):
    client = Client()
    journal = Journal(Writer("test-writer"), Spool())
    monkeypatch.setattr(
        "copilot_admin.transcripts.store.journal.opening.accept", _raise(DatabaseError("no"))
    )
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(journal.accept(client.opening("Hi")))
    assert journal._writer.stop(timeout=HANGS_SECONDS)
