"""No clean end without a kept run: the client is told, and nothing that was held leaves."""

import asyncio
from datetime import timedelta
import errno
import json
import os
from typing import Any

from django.db import OperationalError
from django.utils import timezone
import pytest

from copilot_admin.asgi import application
from copilot_admin.errors import ProviderBroke
from copilot_admin.models import Outcome, Run, TurnState
from copilot_admin.runs.run import NOT_STORED, RUNNING
from copilot_admin.storage.spool import SPOOL
from copilot_admin.transcripts.store import end_rows
from copilot_admin.transcripts.store.transcript_store import STORE, reap
from protocol.sse import decode
from tests.agent.scripted import ScriptedProvider, Step, broken, call, text
from tests.factories import make_published
from tests.live_server import serving
from tests.polling import eventually
from tests.wire import Line

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/v1/copilots/news/query"
WIDGET = {"uuid": "u-1", "origin": "OpenBB", "widget_id": "price", "name": "Price"}
ASKED: dict[str, Any] = {
    "messages": [{"role": "human", "content": "Price?"}],
    "widgets": {"primary": [], "secondary": [WIDGET], "extra": []},
}


@pytest.fixture
def full() -> Any:
    """A disk on which neither database nor spool can end a run, until it is mended."""
    patch = pytest.MonkeyPatch()

    def no_end(*_: object) -> None:
        raise OperationalError("database or disk is full")

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(end_rows, "finish", no_end)
    patch.setattr(SPOOL, "put", no_room)
    yield patch
    patch.undo()
    asyncio.run(STORE.check_health())
    assert STORE.problem == ""


def asked(monkeypatch: Any, step: Step) -> list[tuple[str, Any]]:
    provider = ScriptedProvider([step])
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    make_published(slug="news")
    with serving(application) as url:
        with Line(url + QUERY, body=ASKED) as line:
            events = [(name, json.loads(data)) for name, data in decode(line.read_all())]
        assert eventually(lambda: not RUNNING)
        with Line(url + "/readyz", method="GET") as line:
            ready = json.loads(line.read_all())
        assert (line.status, ready["status"]) == (503, "not ready")
        assert ready["reason"] == "the last write to the database failed"
    return events


ANSWER = text("Hello", " you")
CALL = call("get_widget_data", widgets=[{"id": WIDGET["uuid"]}])
BROKEN = broken(ProviderBroke("It broke."), "Hello")


@pytest.mark.parametrize("step", [ANSWER, CALL, BROKEN], ids=["answer", "call", "failure"])
def test_the_stream_ends_with_the_sentence_and_without_what_was_held(full, monkeypatch, step):
    events = asked(monkeypatch, step)
    names = [name for name, _ in events]
    assert "copilotFunctionCall" not in names
    warning, last = events[-2:]
    assert (warning[0], warning[1]["eventType"]) == ("copilotStatusUpdate", "WARNING")
    assert warning[1]["message"] == NOT_STORED
    assert last == ("copilotMessageChunk", {"delta": NOT_STORED})


def test_a_run_that_could_not_be_stored_is_interrupted_when_the_database_is_back(
    full, monkeypatch, caplog
):
    asked(monkeypatch, ANSWER)
    run = Run.objects.get()
    assert (run.outcome, run.turn.state) == (Outcome.RUNNING, TurnState.OPEN)
    assert f"neither database nor spool takes run {run.pk}" in caplog.text
    full.undo()
    Run.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=31))
    assert reap(every_other_boot=False) == 1
    assert Run.objects.get().outcome == Outcome.INTERRUPTED
