"""Once a second, of a run that is being answered; here whenever a test says so."""

import asyncio
from typing import Any

from django.test import AsyncClient
import pytest

from copilot_admin.agent.values.model_call import Finish
from copilot_admin.runs import run as run_task
from copilot_admin.runs.live_updates import TurnChange
from copilot_admin.runs.run import RUNNING, ActiveRun
from copilot_admin.transcripts.store import JOURNAL
from copilot_admin.transcripts.store.record import Piece
from copilot_admin.transcripts.store.values import Accepted
from protocol.events import MessageChunk
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/v1/copilots/news/query"
HELLO = {"messages": [{"role": "human", "content": "Hello"}], "timezone": "UTC"}


def test_a_tick_keeps_what_is_new_and_tells_who_watches_while_the_answer_lasts(monkeypatch):
    runs: list[ActiveRun] = []
    kept: list[Piece] = []
    told: list[TurnChange] = []

    async def answer(engine_input: object) -> Any:
        (run,) = RUNNING
        runs.append(run)
        await run.acceptance
        yield MessageChunk("Hello.")
        run.tick()
        run.tick()  # nothing is new
        yield Finish("stop")

    monkeypatch.setattr(run_task, "answer", answer)
    monkeypatch.setattr(JOURNAL, "checkpoint", lambda run_id, piece: kept.append(piece))
    monkeypatch.setattr(ActiveRun, "announce", lambda run, change: told.append(change))
    make_published(slug="news")
    assert read(AsyncClient(), QUERY, HELLO) == [("copilotMessageChunk", {"delta": "Hello."})]
    runs[0].tick()  # its loop has ended as well
    assert kept == [Piece(0, "Hello.", ())]
    assert told == [TurnChange.STARTED, TurnChange.PROGRESS, TurnChange.FINISHED]


def test_what_is_said_before_the_run_is_kept_is_kept_at_a_later_tick(monkeypatch):
    kept: list[Piece] = []
    early: list[Piece] = []

    async def answer(engine_input: object) -> Any:
        (run,) = RUNNING
        yield MessageChunk("Hello.")
        acceptance = run.acceptance
        run.acceptance = asyncio.ensure_future(asyncio.sleep(0, Accepted()))
        run.tick()
        early.extend(kept)
        run.acceptance = acceptance
        await acceptance
        run.tick()
        yield Finish("stop")

    monkeypatch.setattr(run_task, "answer", answer)
    monkeypatch.setattr(JOURNAL, "checkpoint", lambda run_id, piece: kept.append(piece))
    make_published(slug="news")
    assert read(AsyncClient(), QUERY, HELLO) == [("copilotMessageChunk", {"delta": "Hello."})]
    assert (early, kept) == ([], [Piece(0, "Hello.", ())])
