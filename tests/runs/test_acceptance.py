"""A run and the journal that has to accept it first, in time or not."""

import asyncio
from dataclasses import replace

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.agent.values.model_call import Finish
from copilot_admin.errors import Unavailable
from copilot_admin.models import Logging, Outcome
from copilot_admin.runs import open_run as opening
from copilot_admin.runs.open_run import REJECTED_RUNS, open_run
from copilot_admin.runs.run import RUNNING
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.transcripts.store.run_start import Rejection
from protocol.events import MessageChunk
from protocol.models import Generation
from tests.agent.virtual_time import run_at_once
from tests.runs.running import RUN, ending, now, play, question, said

STOP = Finish("stop")


def test_what_is_accepted_too_late_is_cancelled(noted, monkeypatch, settings):
    settings.DATABASE_WAIT_SECONDS = 5.0

    async def late() -> None:
        await asyncio.sleep(7)

    noted.accepting = late
    play(monkeypatch, noted, [MessageChunk("a"), 100])

    async def scenario() -> float:
        with pytest.raises(DatabaseUnavailable):
            await open_run(question())
        asked_until = now()
        (run,) = RUNNING
        await run.task
        return asked_until

    assert run_at_once(scenario()) == 5
    (record,) = noted.ends
    why = {"error": DatabaseUnavailable().public, "error_code": "database-unavailable"}
    assert record.ending == ending(Outcome.CANCELLED, ms=5000, ttft_ms=0, **why)


def test_who_leaves_before_the_run_is_accepted_cancels_it(noted, monkeypatch):
    async def soon() -> None:
        await asyncio.sleep(2)

    async def leave() -> None:
        opening_run = asyncio.ensure_future(open_run(question()))
        await asyncio.sleep(1)
        opening_run.cancel()
        await asyncio.wait({opening_run})
        (run,) = RUNNING
        await run.task

    noted.accepting = soon
    play(monkeypatch, noted, [MessageChunk("a"), 100])
    run_at_once(leave())
    assert noted.ends[0].ending == ending(Outcome.CANCELLED, ms=1000, ttft_ms=0)
    assert noted.told == [(2, 1, 2, "started"), (2, 1, 2, "finished")]


def test_a_server_that_drains_refuses_and_keeps_the_refusal(noted):
    opening.DRAINING.set()
    try:
        with pytest.raises(Unavailable) as refused:
            said(question(query=replace(question().query, generation=Generation.TWO)))
    finally:
        opening.DRAINING.clear()
    sentence = "The server is restarting. Ask again in a few seconds."
    assert (refused.value.code, refused.value.public) == ("draining", sentence)
    async_to_sync(REJECTED_RUNS.store)()
    (rejection,) = noted.rejections
    assert replace(rejection, started_at=None) == Rejection(
        run_id=RUN,
        copilot_id=3,
        version_id=4,
        logging=Logging.EVERYTHING,
        principal="key:7",
        started_at=None,
        generation=Generation.TWO,
        error=sentence,
        error_code="draining",
    )
    assert (noted.starts, opening.DRAINING.is_set()) == ([], False)
