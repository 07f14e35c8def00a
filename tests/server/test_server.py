"""The whole application behind a real socket: leaving clients, shutdown, what the edge adds."""

import asyncio
from collections.abc import Callable, Iterator
import json
import multiprocessing
import signal
import sys
import threading
from typing import Any

import pytest
import uvicorn

from copilot_admin.asgi import application
from copilot_admin.copilots.live import admit
from copilot_admin.evaluation.question_tasks import ask_in_background
from copilot_admin.ids import new_ids
from copilot_admin.jobs import background
from copilot_admin.jobs.tasks import delete_in_background
from copilot_admin.models import (
    AnswerState,
    Copilot,
    EndpointKey,
    Node,
    Outcome,
    Run,
    SavedAnswer,
    Side,
)
from copilot_admin.runs import account, open_run, outbox
from copilot_admin.runs import run as run_task
from copilot_admin.runs.admitted_query import AdmittedQuery
from copilot_admin.runs.stops import Stop
from copilot_admin.server import rounds, shutdown
from copilot_admin.server.worker_process import END_AT_ONCE
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.transcripts.store import JOURNAL
from protocol.requests import read
from tests.agent.scripted import ScriptedProvider, stalled, text
from tests.factories import make_published, make_saved
from tests.live_server import serving
from tests.polling import HANGS_SECONDS, eventually
from tests.wire import Line

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]

QUERY = "/v1/copilots/news/query"
HELLO = {"messages": [{"role": "human", "content": "Hello"}]}


@pytest.fixture
def provider(monkeypatch) -> ScriptedProvider:
    scripted = ScriptedProvider([stalled("Hello")])
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: scripted)
    make_published(slug="news")
    return scripted


def test_a_client_that_hangs_up_ends_the_run_and_the_call_to_the_model(provider):
    with serving(application) as url:
        with Line(url + QUERY, body=HELLO) as line:
            assert line.read_until(b"Hello")
        assert eventually(lambda: provider.open == 0)
        assert eventually(lambda: Run.objects.get().outcome == Outcome.CANCELLED)
    assert Node.objects.get(role="ai").text == "Hello"


def test_a_server_that_stops_says_so_and_records_interrupted(provider):
    with serving(application) as url, Line(url + QUERY, body=HELLO) as line:
        assert line.read_until(b"Hello")
        (run,) = run_task.RUNNING
        stopped = asyncio.run_coroutine_threadsafe(open_run.interrupt_all(), run.task.get_loop())
        stopped.result(HANGS_SECONDS)
        body = line.read_all()
    assert body.startswith(b"event: copilotMessageChunk\n")
    assert b"The server is restarting" in body
    assert (provider.open, Run.objects.get().outcome) == (0, Outcome.INTERRUPTED)


def test_an_error_has_ids_and_headers_for_the_browser():
    make_published(slug="news")
    headers = {"Origin": "https://pro.openbb.co", "X-Trace-Id": "chat-7"}
    with serving(application) as url, Line(url + QUERY, body=b"{", headers=headers) as line:
        assert set(json.loads(line.read_all())) == {"detail", "code"}
    assert line.status == 400
    assert line.headers["x-trace-id"] == "chat-7"
    assert line.headers["x-completion-id"]
    assert line.headers["access-control-allow-origin"] == "https://pro.openbb.co"
    assert "script-src 'self'" in line.headers["content-security-policy"]


def test_static_files_are_served_without_collecting_them():
    path = "/static/copilot_admin/css/tokens.css"
    with serving(application) as url, Line(url + path, method="GET") as line:
        assert b"--ca-" in line.read_all()
    assert (line.status, line.headers["content-type"]) == (200, 'text/css; charset="utf-8"')


def test_where_the_journal_is_down_nothing_is_asked_and_nothing_leaves(provider, monkeypatch):
    async def refuse(opening: Any, **_: Any) -> None:
        raise DatabaseUnavailable

    monkeypatch.setattr(JOURNAL, "accept", refuse)
    with serving(application) as url:
        with Line(url + QUERY, body=HELLO) as line:
            body = json.loads(line.read_all())
        assert eventually(lambda: not run_task.RUNNING)
    assert (line.status, body["code"], line.headers["retry-after"]) == (
        503,
        "database-unavailable",
        "5",
    )
    assert (provider.open, Run.objects.count()) == (0, 0)


def test_the_last_frame_waits_for_the_commit(monkeypatch):
    # The engine pauses once before it ends, as an upstream does that ends in a later packet; by
    # then the first words have left, so the words after them are what is held.
    scripted = ScriptedProvider([text("All ", "of it.")])
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: scripted)
    make_published(slug="news")
    finish: Any = JOURNAL.finish
    allowed = threading.Event()

    async def late(run_id: Any, record: Any) -> Any:
        await asyncio.to_thread(allowed.wait, HANGS_SECONDS)
        return await finish(run_id, record)

    monkeypatch.setattr(JOURNAL, "finish", late)
    with serving(application) as url, Line(url + QUERY, body=HELLO) as line:
        assert not line.read_until(b"of it.", seconds=0.3)
        allowed.set()
        assert line.read_until(b"of it.")
        assert Run.objects.get().outcome == Outcome.COMPLETED


def test_a_client_that_stops_reading_is_given_up(provider, monkeypatch):
    monkeypatch.setattr(outbox, "FULL_BYTES", 1)
    monkeypatch.setattr(account, "SLOW_CLIENT_SECONDS", 0.05)
    monkeypatch.setattr(provider, "_script", (text("Hello, ", "you who ", "do not read."),))
    live, caller = admit("news", key=None)

    async def scenario() -> None:
        question = AdmittedQuery(
            live=live, caller=caller, query=read(HELLO), ids=new_ids(b"chat-1"), size=100
        )
        await (await open_run.open_run(question)).task

    asyncio.run(scenario())
    run = Run.objects.get()
    assert (run.outcome, run.error_code, provider.open) == (Outcome.CANCELLED, "ClientTooSlow", 0)


def test_the_stream_of_a_revoked_key_ends_with_a_sentence(provider, monkeypatch):
    monkeypatch.setattr(rounds, "HEARTBEAT_SECONDS", 0.05)
    key, secret = EndpointKey.issue("desk")
    headers = {"X-API-Key": secret}
    with serving(application) as url, Line(url + QUERY, body=HELLO, headers=headers) as line:
        assert line.read_until(b"Hello")
        EndpointKey.objects.update(revoked_at=key.created_at)
        assert b"The endpoint key was revoked" in line.read_all()
    run = Run.objects.get()
    assert (run.outcome, run.error_code, provider.open) == (Outcome.FAILED, "key-revoked", 0)


def test_the_stream_of_a_deleted_copilot_ends_with_a_sentence_and_then_the_copilot_goes(
    provider, monkeypatch
):
    monkeypatch.setattr(rounds, "HEARTBEAT_SECONDS", 0.05)
    with serving(application) as url:
        with Line(url + QUERY, body=HELLO) as line:
            assert line.read_until(b"Hello")
            delete_in_background([Copilot.objects.get().pk])
            assert b"This copilot was deleted" in line.read_all()
        Copilot.objects.update(deletion_moved_at=None)
        assert eventually(lambda: not Copilot.objects.exists())
    assert (provider.open, Run.objects.exists(), Node.objects.exists()) == (0, False, False)


def test_a_saved_question_that_is_being_asked_waits_for_the_next_server(provider):
    copilot = Copilot.objects.get()
    with serving(application):
        ask_in_background(copilot.pk, [make_saved(copilot)], [Side.LIVE], user_id=None)
        assert eventually(lambda: provider.open == 1)
    answer = SavedAnswer.objects.get()
    assert (answer.state, answer.answered_at) == (AnswerState.WAITING, None)
    assert (provider.open, background.is_idle()) == (0, True)


class Running:
    """A run that is a task and what happens when it is told to stop."""

    def __init__(self, task: Any, told: Callable[[], object]) -> None:
        self.task = task
        self.told = told

    def stop(self, reason: Stop) -> None:
        assert reason is Stop.SHUTDOWN
        self.told()


class TestDrain:
    def test_running_answers_may_finish_first(self, monkeypatch):
        order: list[str] = []

        async def scenario() -> None:
            async def work() -> None:
                await asyncio.sleep(0)
                order.append("answered")

            running = {Running(asyncio.ensure_future(work()), lambda: order.append("stopped"))}
            monkeypatch.setattr(shutdown, "RUNNING", running)
            monkeypatch.setattr(open_run, "RUNNING", set())
            await shutdown.drain(lambda: order.append("server stops"), seconds=5)

        asyncio.run(scenario())
        assert order == ["answered", "server stops"]

    def test_those_that_do_not_are_interrupted(self, monkeypatch):
        order: list[str] = []

        async def scenario() -> None:
            stopped = asyncio.Event()

            waiting = asyncio.ensure_future(stopped.wait())

            def told() -> None:
                order.append("told")
                stopped.set()

            running = {Running(waiting, told)}
            monkeypatch.setattr(shutdown, "RUNNING", running)
            monkeypatch.setattr(open_run, "RUNNING", running)
            await shutdown.drain(lambda: order.append("server stops"), seconds=0)

        asyncio.run(scenario())
        assert order == ["told", "server stops"]

    def test_a_server_in_a_thread_has_no_signals(self):
        def start() -> None:
            asyncio.run(_call(shutdown.drain_on_signal))

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()


async def _call(function: Any) -> None:
    function()


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Those that have reached the own handlers of a server without workers, behind the drain."""
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)  # whoever runs the tests
    reached: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: reached.append(number))
        for number in shutdown.SIGNALS
    }
    yield reached
    for number, handler in handlers.items():
        signal.signal(number, handler)
    open_run.stop_draining()


def test_the_first_signal_waits_for_answers_and_the_second_does_not(signals, monkeypatch):
    async def scenario() -> list[list[int]]:
        answered = asyncio.Event()
        running = {Running(asyncio.ensure_future(answered.wait()), lambda: None)}
        monkeypatch.setattr(shutdown, "RUNNING", running)
        monkeypatch.setattr(open_run, "RUNNING", set())
        shutdown.drain_on_signal()
        signal.raise_signal(signal.SIGTERM)
        await asyncio.sleep(0)
        reached = [list(signals)]
        signal.raise_signal(signal.SIGTERM)
        reached.append(list(signals))
        (draining,) = (task for task in asyncio.all_tasks() if task.get_name() == "drain")
        answered.set()
        await draining
        return [*reached, list(signals)]

    assert asyncio.run(scenario()) == [
        [],
        [signal.SIGTERM],
        [signal.SIGTERM, signal.SIGTERM],
    ]


def test_the_second_signal_ends_the_answers_that_the_first_waits_for(
    signals, monkeypatch, settings
):
    """The server's own handler would go on waiting for them."""
    settings.DRAIN_SECONDS = 600

    async def scenario() -> list[str]:
        told, ended = list[str](), asyncio.Event()

        def stop() -> None:
            told.append("interrupted")
            ended.set()

        running = {Running(asyncio.ensure_future(ended.wait()), stop)}
        monkeypatch.setattr(shutdown, "RUNNING", running)
        monkeypatch.setattr(open_run, "RUNNING", running)
        shutdown.drain_on_signal()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)  # whichever comes second
        async with asyncio.timeout(HANGS_SECONDS):
            while not (draining := tasks_named("drain")):  # noqa: ASYNC110
                await asyncio.sleep(0)
            await asyncio.gather(*draining)
        return told

    assert asyncio.run(scenario()) == ["interrupted"]
    assert signals == [signal.SIGINT, signal.SIGTERM]


def test_a_server_that_ends_at_once_waits_for_no_upload():
    async def scenario() -> uvicorn.Server:
        server = uvicorn.Server(uvicorn.Config("any", timeout_graceful_shutdown=25))
        ending = shutdown._Ending(asyncio.get_running_loop())
        ending.at_once(server.handle_exit)(signal.SIGTERM, None)
        return server

    server = asyncio.run(scenario())
    assert (server.should_exit, server.config.timeout_graceful_shutdown) == (True, 5)


def test_a_worker_hears_a_second_signal_of_its_supervisor_alone(signals, monkeypatch, settings):
    """A signal to the whole group reaches it twice."""
    settings.DRAIN_SECONDS = 600
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    before = signal.getsignal(END_AT_ONCE)

    async def scenario() -> list[list[int]]:
        answered = asyncio.Event()
        running = {Running(asyncio.ensure_future(answered.wait()), answered.set)}
        monkeypatch.setattr(shutdown, "RUNNING", running)
        monkeypatch.setattr(open_run, "RUNNING", running)
        shutdown.drain_on_signal()
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGINT):
            signal.raise_signal(number)
        reached = [list(signals)]
        signal.raise_signal(END_AT_ONCE)
        async with asyncio.timeout(HANGS_SECONDS):
            while not (draining := tasks_named("drain")):  # noqa: ASYNC110
                await asyncio.sleep(0)
            await asyncio.gather(*draining)
        return [*reached, list(signals)]

    try:
        assert asyncio.run(scenario()) == [[], [END_AT_ONCE, signal.SIGTERM]]
    finally:
        signal.signal(END_AT_ONCE, before)


@pytest.fixture
def hang_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server without a supervisor; whatever hears SIGHUP during a test hears it no longer."""
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hang_up")
def test_a_reload_that_one_process_cannot_carry_out_ends_no_answer(signals, monkeypatch, caplog):
    monkeypatch.setattr(sys, "stdin", None)
    asyncio.run(_call(shutdown.drain_on_signal))
    signal.raise_signal(signal.SIGHUP)
    assert (signals, open_run.is_draining()) == ([], False)
    assert "This one goes on as it is" in caplog.text


def tasks_named(name: str) -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if task.get_name() == name]


@pytest.mark.usefixtures("hang_up")
def test_a_server_goes_down_with_its_terminal(signals, monkeypatch):
    class Terminal:
        def isatty(self) -> bool:
            return True

    async def scenario() -> None:
        monkeypatch.setattr(sys, "stdin", Terminal())
        shutdown.drain_on_signal()
        signal.raise_signal(signal.SIGHUP)
        async with asyncio.timeout(HANGS_SECONDS):
            # The loop hears of a signal by a socket, and nobody is told.
            while not (draining := tasks_named("drain")):  # noqa: ASYNC110
                await asyncio.sleep(0)
            await asyncio.gather(*draining)

    asyncio.run(scenario())
    assert signals == [signal.SIGTERM]


@pytest.mark.usefixtures("hang_up")
def test_a_worker_leaves_its_terminal_to_its_supervisor(signals, monkeypatch, caplog):
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    asyncio.run(_call(shutdown.drain_on_signal))
    signal.raise_signal(signal.SIGHUP)
    assert (signals, caplog.text) == ([], "")
