"""A run and the journal that has to accept it first, rejected requests, and background tasks."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.agent.values.model_call import Finish
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.errors import ConfigurationError, Unavailable
from copilot_admin.models import Logging, Outcome
from copilot_admin.runs import open_run as opening
from copilot_admin.runs.open_run import REJECTED_RUNS, RejectedRuns, open_run
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.tasks import spawn
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


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ZeroDivisionError(), ["work ended with an error"]),
        (ConfigurationError("Set it."), []),
        (asyncio.CancelledError(), []),
        (None, []),
    ],
)
def test_an_error_that_nobody_awaits_is_told_unless_it_is_ours(error, told, caplog):
    async def work() -> None:
        if error is not None:
            raise error

    async def scenario() -> None:
        await asyncio.wait({spawn(work(), name="work")})

    asyncio.run(scenario())
    assert caplog.messages == told


class Rows:
    """A store that only remembers."""

    def __init__(self) -> None:
        self.counted: list[tuple[str | None, int]] = []
        self.is_down = False

    async def reject(self, rejections: tuple[Rejection, ...]) -> None:
        if self.is_down:
            raise DatabaseUnavailable
        self.counted += [(one.user.id if one.user else None, one.times) for one in rejections]


def test_each_user_of_a_caller_has_a_run_which_waits_while_the_database_is_down(monkeypatch):
    rows, runs = Rows(), RejectedRuns()
    monkeypatch.setattr(opening, "STORE", rows)
    for user in ("anna", "ben", "anna", None, "anna", None):
        rejection = Rejection(
            run_id=uuid4(), copilot_id=1, version_id=None, logging=Logging.EVERYTHING,
            principal="key:1", started_at=datetime.now(UTC), error="", error_code="limit-reached",
            user=AskingUser(id=user) if user else None,
        )  # fmt: skip
        runs.add(rejection, limit="requests_per_day")
    rows.is_down = True
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(runs.store())
    rows.is_down = False
    for _ in range(2):
        asyncio.run(runs.store())
    assert rows.counted == [("anna", 3), ("ben", 1), (None, 2)]
