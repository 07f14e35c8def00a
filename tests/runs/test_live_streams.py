"""The whole application behind a real socket: leaving clients, shutdown, what the edge adds."""

import asyncio
import threading
from typing import Any

import pytest

from copilot_admin.asgi import application
from copilot_admin.evaluation.worker import run_evaluations
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.models import (
    Copilot,
    EndpointKey,
    EvaluationResult,
    Outcome,
    ResultState,
    Run,
    TargetKind,
)
from copilot_admin.runs import open_run
from copilot_admin.runs import run as run_task
from copilot_admin.transcripts.store.transcript_store import STORE
from tests.agent.scripted import ScriptedProvider, stalled, text
from tests.evaluation.evaluations import queue_run
from tests.factories import make_case, make_published
from tests.live_server import serving, shorten_periodic_tasks
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


class InOneRead(ScriptedProvider):
    """A provider whose whole answer comes at once."""

    async def stream(self, call):
        for action in self._script[0].actions:
            yield action


def test_the_last_frame_waits_for_the_commit(monkeypatch):
    scripted = InOneRead([text("All of it.")])
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: scripted)
    make_published(slug="news")
    finish: Any = STORE.finish
    allowed = threading.Event()

    async def late(end: Any) -> Any:
        await asyncio.to_thread(allowed.wait, HANGS_SECONDS)
        return await finish(end)

    monkeypatch.setattr(STORE, "finish", late)
    with serving(application) as url, Line(url + QUERY, body=HELLO) as line:
        assert not line.read_until(b"of it.", seconds=0.3)
        allowed.set()
        assert line.read_until(b"of it.")
        assert Run.objects.get().outcome == Outcome.COMPLETED


def test_the_stream_of_a_revoked_key_ends_with_a_sentence(provider, monkeypatch):
    shorten_periodic_tasks(monkeypatch)
    key, secret = EndpointKey.issue("desk")
    headers = {"X-API-Key": secret}
    with serving(application) as url, Line(url + QUERY, body=HELLO, headers=headers) as line:
        assert line.read_until(b"Hello")
        EndpointKey.objects.update(revoked_at=key.created_at)
        assert b"The API key was revoked" in line.read_all()
    run = Run.objects.get()
    assert (run.outcome, run.error_code, provider.open) == (Outcome.FAILED, "key-revoked", 0)


def test_a_test_case_that_is_running_waits_for_the_next_server(provider):
    copilot = Copilot.objects.get()
    make_case(copilot)
    with serving(application):
        queue_run(copilot, TargetKind.LIVE)
        run_evaluations.enqueue(copilot.pk)
        assert eventually(lambda: provider.open == 1)
    result = EvaluationResult.objects.get()
    assert (result.state, result.finished_at) == (ResultState.WAITING, None)
    assert (provider.open, background_tasks._coroutines) == (0, set())
