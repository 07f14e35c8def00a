"""Runs whose process died are ended, with what they had streamed."""

from datetime import timedelta
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
from uuid import UUID

from django.db import connection
from django.utils import timezone
import pytest

from copilot_admin.models import Checkpoint, Outcome, Run, Turn, TurnState
from copilot_admin.transcripts.store import reap, reaping
from copilot_admin.transcripts.store.checkpoints import pieces_of
from copilot_admin.transcripts.store.checkpoints import store as store_pieces
from copilot_admin.transcripts.store.record import Piece
from copilot_admin.transcripts.store.recorder import Recorder
from protocol.events import MessageChunk, StatusUpdate
from tests.factories import make_version
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import Client, ai, call_event
from tests.transcripts.store.spooling import spool

__all__ = ["spool"]
pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def test_dead_runs_are_interrupted_and_keep_what_they_streamed():
    asked = Client(trace_id="chat").ask("Hi")
    recorder = Recorder()
    for text in ("Hel", "lo"):
        recorder.add(MessageChunk(text), at_ms=0)
        recorder.add(StatusUpdate(message=f"after {text}"), at_ms=40)
        store_pieces([(asked.run_id, recorder.unsaved())])
    Run.objects.update(boot_id="another", heartbeat_at=asked.at + timedelta(seconds=3))
    assert reap(every_other_boot=True) == 1
    run = asked.run
    assert (run.outcome, run.ms, run.ttft_ms) == (Outcome.INTERRUPTED, 3000, None)
    assert (run.error_code, run.heartbeat_at) == ("interrupted", asked.at + timedelta(seconds=3))
    assert run.output_node.text == "Hello"
    assert list(run.events.values_list("text_offset", flat=True)) == [3, 5]
    assert Checkpoint.objects.count() == 0
    assert (asked.conversation.has_error, Turn.objects.get().state) == (True, TurnState.FAILED)
    assert reap(every_other_boot=True) == 0


def test_of_many_dead_runs_those_that_began_first_are_ended_first(monkeypatch):
    assert reaping.AT_ONCE == 20  # questions wait behind them: 200 were a second
    monkeypatch.setattr(reaping, "AT_ONCE", 2)
    client = Client()
    asked = [client.ask(f"Question {number}") for number in range(3)]
    Run.objects.update(boot_id="another")
    assert reap(every_other_boot=True) == 2
    assert [one.run.outcome for one in asked] == ["interrupted", "interrupted", "running"]
    assert [reap(every_other_boot=True), reap(every_other_boot=True)] == [1, 0]


def test_a_piece_that_is_stored_twice_is_stored_once():
    asked = Client().ask("Hi")
    for text in ("one", "another"):
        store_pieces([(asked.run_id, Piece(0, text, ()))])
    assert pieces_of(asked.run_id) == [Piece(0, "one", ())]


def test_the_next_question_follows_an_interrupted_answer():
    client = Client()
    asked = client.ask("Hi")
    recorder = Recorder()
    recorder.add(MessageChunk("A long answer that was cut"), at_ms=0)
    store_pieces([(asked.run_id, recorder.unsaved())])
    Run.objects.update(boot_id="another")
    reap(every_other_boot=True)
    following = client.ask("Hi", ai("A long answer that was cut off later"), "Go on")
    assert following.conversation == asked.conversation


def test_runs_of_this_process_are_not_dead():
    asked = Client().ask("Hi")
    assert reap(every_other_boot=True) == 0
    assert asked.run.outcome == Outcome.RUNNING


def test_a_silent_run_that_this_process_knows_nothing_of_is_dead():
    """The database had it, and its connection broke before it said so: the client was refused."""
    lost, answering = Client().ask("Hi"), Client().ask("Ho")
    Run.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=31))
    assert reap(every_other_boot=False, alive={answering.run_id}) == 1
    assert (lost.run.outcome, answering.run.outcome) == (Outcome.INTERRUPTED, Outcome.RUNNING)


def test_another_process_is_dead_after_half_a_minute_of_silence():
    silent, alive = Client().ask("Hi"), Client().ask("Ho")
    now = timezone.now()
    Run.objects.update(boot_id="another", heartbeat_at=now - timedelta(seconds=25))
    Run.objects.filter(pk=silent.run_id).update(heartbeat_at=now - timedelta(seconds=31))
    assert reap(every_other_boot=False) == 1
    assert (silent.run.outcome, alive.run.outcome) == (Outcome.INTERRUPTED, Outcome.RUNNING)


def test_turns_that_wait_too_long_are_given_up():
    Client().ask("Hi").answer(call_event())
    Turn.objects.update(waiting_since=timezone.now() - timedelta(minutes=29))
    reap(every_other_boot=False)
    assert Turn.objects.get().state == TurnState.AWAITING_RESULT
    Turn.objects.update(waiting_since=timezone.now() - timedelta(minutes=31))
    reap(every_other_boot=False)
    assert Turn.objects.get().state == TurnState.ABANDONED
    assert Turn.objects.get().waiting_since is None


def test_very_many_turns_that_wait_are_given_up_in_rounds_the_oldest_first(monkeypatch):
    monkeypatch.setattr(reaping, "ABANDONED_AT_ONCE", 2)
    for number in range(3):
        Client(trace_id=f"trace {number}").ask("Hi").answer(call_event())
        since = timezone.now() - timedelta(minutes=40 - number)
        Turn.objects.filter(pk=Turn.objects.latest("pk").pk).update(waiting_since=since)
    for left in (1, 0):
        reap(every_other_boot=False)
        waiting = Turn.objects.filter(state=TurnState.AWAITING_RESULT)
        newest = Turn.objects.order_by("-pk").values_list("pk", flat=True)[:left]
        assert list(waiting.values_list("pk", flat=True)) == list(newest)


STREAM = """
import asyncio, os, sys
import django
from django.conf import settings
settings.configure(
    DATABASES={"default": __import__("json").loads(sys.argv[1])}, SECRET_KEY="k" * 50,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "copilot_admin"],
    USE_TZ=True, DATA_DIR=sys.argv[3],
)
django.setup()
from copilot_admin.models import CopilotVersion
from copilot_admin.transcripts.store import JOURNAL
from copilot_admin.transcripts.store.record import Piece
from copilot_admin.transcripts.store.recorder import Recorder
from protocol.events import MessageChunk
from tests.transcripts.store.journaling import Client, ending
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

async def run(client, number):
    opening = client.opening("Question", number)
    opening = __import__("dataclasses").replace(opening, started_at=timezone.now())
    await JOURNAL.accept(opening)
    recorder = Recorder()
    for step in range(number % 5 + 1):
        recorder.add(MessageChunk(f"word {step} "), at_ms=step)
        JOURNAL.checkpoint(opening.run_id, recorder.unsaved())
        await asyncio.sleep(0.002)
    await JOURNAL.finish(opening.run_id, recorder.record(ending()))
    print(opening.run_id, flush=True)

async def main(client):
    number = 0
    while True:
        await asyncio.gather(*(run(client, number + more) for more in range(8)))
        number += 8

version = CopilotVersion.objects.get(pk=sys.argv[2])
client = Client(version=version)
opening = client.opening
client.opening = lambda text, number: opening(f"{text} {number}")
asyncio.run(main(client))
"""


@pytest.mark.parametrize(
    "kill",
    [2, *(pytest.param(one, marks=pytest.mark.nightly) for one in (0, 1, 3))],
)
def test_a_killed_process_loses_no_finished_run(kill, tmp_path):
    version = make_version()
    database = dict(connection.settings_dict, OPTIONS={}, TEST={})
    finished = stream_until_killed(
        json.dumps(database, default=str), str(version.pk), str(tmp_path), lines=10 + 13 * kill
    )
    outcomes = dict(Run.objects.values_list("id", "outcome"))
    assert finished
    assert {outcomes[run_id] for run_id in finished} == {Outcome.COMPLETED}
    running = [run_id for run_id, outcome in outcomes.items() if outcome == Outcome.RUNNING]
    assert reap(every_other_boot=True) == len(running)
    for run in Run.objects.filter(pk__in=running):
        assert run.outcome == Outcome.INTERRUPTED
        assert run.output_node is None or run.output_node.text.startswith("word 0 ")
    assert set(Run.objects.values_list("outcome", flat=True)) <= {
        Outcome.COMPLETED,
        Outcome.INTERRUPTED,
    }


def stream_until_killed(*arguments: str, lines: int) -> list[UUID]:
    process = subprocess.Popen(
        [sys.executable, "-c", STREAM, *arguments],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        text=True,
    )
    assert process.stdout is not None
    finished = [process.stdout.readline() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    finished += process.stdout.read().splitlines(keepends=True)
    process.stdout.close()
    process.wait(HANGS_SECONDS)
    return [UUID(line.strip()) for line in finished if line.endswith("\n")]
