"""Checkpoints and heartbeats of running answers; runs whose process died end with what they streamed."""

import asyncio
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
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store.recorder import Piece, Recorder
from copilot_admin.transcripts.store.transcript_store import (
    STORE,
    load_pieces,
    reap,
    save_checkpoints,
)
from protocol.events import MessageChunk, StatusUpdate
from tests.factories import make_version
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import Client, call_event, ending

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def test_checkpoints_are_there_until_the_run_has_ended():
    start = Client().start("Hi")

    async def stream() -> None:
        await STORE.accept(start)
        recorder = Recorder()
        for text in ("Hel", "lo"):
            recorder.add(MessageChunk(text), at_ms=0)
            STORE.checkpoint({start.run_id: recorder.take_unsaved()})
        await WRITER.run(lambda: None)
        assert len(await asyncio.to_thread(load_pieces, start.run_id)) == 2
        await STORE.finish(recorder.finish(ending(), run_id=start.run_id, at=start.started_at))

    asyncio.run(stream())
    run = Run.objects.get(pk=start.run_id)
    assert (run.outcome, run.output_node.text) == (Outcome.COMPLETED, "Hello")
    assert Checkpoint.objects.count() == 0


def test_a_checkpoint_that_comes_late_or_twice_is_dropped():
    ended, running = Client().ask("Hi").answer("Hello"), Client().ask("Hi")
    for run, text in ((ended, "late"), (running, "one"), (running, "another")):
        STORE.checkpoint({run.run_id: Piece(0, text)})
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    assert load_pieces(ended.run_id) == []
    assert load_pieces(running.run_id) == [Piece(0, "one")]


def test_dead_runs_are_interrupted_and_keep_what_they_streamed():
    asked = Client(trace_id="chat").ask("Hi")
    recorder = Recorder()
    for text in ("Hel", "lo"):
        recorder.add(MessageChunk(text), at_ms=0)
        recorder.add(StatusUpdate(message=f"after {text}"), at_ms=40)
        save_checkpoints({asked.run_id: recorder.take_unsaved()})
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


def test_a_silent_run_that_this_process_knows_nothing_of_is_dead():
    """The database had it, and its connection broke before it said so: the client was refused."""
    lost, answering = Client().ask("Hi"), Client().ask("Ho")
    Run.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=31))
    assert reap(every_other_boot=False, alive={answering.run_id}) == 1
    assert (lost.run.outcome, answering.run.outcome) == (Outcome.INTERRUPTED, Outcome.RUNNING)


def test_turns_that_wait_too_long_are_given_up():
    Client().ask("Hi").answer(call_event())
    Turn.objects.update(waiting_since=timezone.now() - timedelta(minutes=29))
    reap(every_other_boot=False)
    assert Turn.objects.get().state == TurnState.AWAITING_RESULT
    Turn.objects.update(waiting_since=timezone.now() - timedelta(minutes=31))
    reap(every_other_boot=False)
    assert Turn.objects.get().state == TurnState.ABANDONED
    assert Turn.objects.get().waiting_since is None


STREAM = """
import asyncio, json, os, sys
from dataclasses import replace
os.environ["COPILOT_DATA_DIR"] = sys.argv[3]
os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_admin.settings"
import django
from copilot_admin import settings
settings.DATABASES = {"default": json.loads(sys.argv[1])}
django.setup()
from copilot_admin.models import CopilotVersion
from copilot_admin.transcripts.store.recorder import Recorder
from copilot_admin.transcripts.store.transcript_store import STORE
from protocol.events import MessageChunk
from tests.transcripts.store.journaling import Client, ending
from django.utils import timezone

async def run(client, number):
    start = replace(client.start(f"Question {number}"), started_at=timezone.now())
    await STORE.accept(start)
    recorder = Recorder()
    for step in range(number % 5 + 1):
        recorder.add(MessageChunk(f"word {step} "), at_ms=step)
        STORE.checkpoint({start.run_id: recorder.take_unsaved()})
        await asyncio.sleep(0.002)
    await STORE.finish(recorder.finish(ending(), run_id=start.run_id, at=timezone.now()))
    print(start.run_id, flush=True)

async def main(client):
    number = 0
    while True:
        await asyncio.gather(*(run(client, number + more) for more in range(8)))
        number += 8

asyncio.run(main(Client(version=CopilotVersion.objects.get(pk=sys.argv[2]))))
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
