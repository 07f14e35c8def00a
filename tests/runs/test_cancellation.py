"""How a run is ended before its answer is whole, and what ends runs from outside."""

import asyncio
from dataclasses import replace
import threading
from typing import Any

import pytest

from copilot_admin.agent.values.model_call import Finish
from copilot_admin.copilots.callers import Caller
from copilot_admin.models import Outcome
from copilot_admin.runs import open_run as opening
from copilot_admin.runs.open_run import (
    end_deleted,
    end_of_disabled_users,
    end_revoked,
    interrupt_all,
)
from copilot_admin.runs.tasks import CRASHED, DELETED, RESTARTING, REVOKED, CancelReason
from protocol.events import MessageChunk
from tests.runs.running import LIVE, Noted, ending, opened, play, question

STOP = Finish("stop")


@pytest.mark.parametrize(
    ("reason", "outcome", "sentence", "code"),
    [
        (CancelReason.CLIENT_LEFT, Outcome.CANCELLED, "", ""),
        (CancelReason.COPILOT_DELETED, Outcome.FAILED, DELETED, "copilot-deleted"),
        (CancelReason.KEY_REVOKED, Outcome.FAILED, REVOKED, "key-revoked"),
        (CancelReason.CRASH, Outcome.CRASHED, CRASHED, "crash"),
        (CancelReason.SHUTDOWN, Outcome.INTERRUPTED, RESTARTING, "shutdown"),
    ],
)
def test_a_run_that_is_stopped_says_why_to_whom_it_concerns(
    noted, monkeypatch, reason, outcome, sentence, code
):
    play(monkeypatch, noted, [MessageChunk("Half"), 100])

    async def stop(run: Any) -> None:
        await asyncio.sleep(0.5)
        run.cancel(reason)
        run.cancel(CancelReason.SHUTDOWN)  # the first reason counts

    opened(stop)
    (record,) = noted.ends
    assert record.ending == ending(outcome, ms=500, ttft_ms=0, error=sentence, error_code=code)
    assert record.text == (f"Half\n\n{sentence}" if sentence else "Half")
    assert noted.cancelling == [0]


def test_a_run_can_be_stopped_from_another_thread_while_its_loop_runs(noted, monkeypatch):
    play(monkeypatch, noted, [MessageChunk("Half"), 1, STOP])
    runs: list[Any] = []

    async def stop(run: Any) -> None:
        runs.append(run)
        thread = threading.Thread(
            target=run.cancel_from_any_thread, args=(CancelReason.CLIENT_LEFT,)
        )
        thread.start()
        thread.join()

    opened(stop)
    assert noted.ends[0].ending.outcome == Outcome.CANCELLED
    runs[0]._is_answered = False
    runs[0].cancel_from_any_thread(CancelReason.CRASH)  # its loop is closed


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the database is asked before runs are ended."""
    calls: list[Any] = []

    class Reader:
        async def run(self, job: Any) -> Any:
            return job()

    def answer_with(*found: Any) -> Any:
        def find(ids: Any) -> frozenset[Any]:
            calls.append(set(ids))
            return frozenset(found)

        return find

    monkeypatch.setattr(opening, "READER", Reader())
    monkeypatch.setattr(opening, "valid_keys", answer_with(8))
    monkeypatch.setattr(opening, "switched_off", answer_with("playground:3"))
    monkeypatch.setattr(opening, "being_deleted", answer_with(3))
    return calls


def test_without_runs_nothing_is_asked(asked):
    async def scenario() -> None:
        for end in (end_revoked, end_of_disabled_users, end_deleted, interrupt_all):
            await end()

    asyncio.run(scenario())
    assert asked == []


KEYLESS = Caller(principal="anonymous")
OTHER_KEY, TRIAL = Caller(principal="key:8", key_id=8), Caller(principal="playground:3")


@pytest.mark.parametrize(
    ("end", "changes", "calls", "code"),
    [
        (end_revoked, {}, [{7}], "key-revoked"),
        (end_revoked, {"caller": KEYLESS}, [], ""),
        (end_revoked, {"caller": OTHER_KEY}, [{8}], ""),
        (end_deleted, {}, [{3}], "copilot-deleted"),
        (end_deleted, {"live": replace(LIVE, id=8)}, [{8}], ""),
        (end_of_disabled_users, {"caller": TRIAL}, [{"playground:3"}], "account-switched-off"),
        (end_of_disabled_users, {"caller": OTHER_KEY}, [], ""),
        (end_of_disabled_users, {"caller": Caller(principal="playground:4")},
         [{"playground:4"}], ""),
        (interrupt_all, {}, [], "shutdown"),
    ],
)  # fmt: skip
def test_runs_that_may_not_go_on_are_ended_and_others_go_on(
    noted: Noted, monkeypatch, asked, end, changes, calls, code
):
    play(monkeypatch, noted, [MessageChunk("Half"), 1, STOP])

    async def stop(_: Any) -> None:
        await end()
        assert bool(noted.ends) is (end is interrupt_all)  # which waits for the store

    opened(stop, question(**changes))
    assert (noted.ends[0].ending.error_code, asked) == (code, calls)
