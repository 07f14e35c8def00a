"""A run from its first moment to its last: what is said, kept and told, and when."""

import asyncio
from dataclasses import replace
import logging
import threading
from typing import Any

import pytest

from copilot_admin.answering import open_run as opening
from copilot_admin.answering import run as run_task
from copilot_admin.answering.open_run import end_deleted, end_revoked, interrupt_all, open_run
from copilot_admin.answering.run import (
    CRASHED,
    DELETED,
    RESTARTING,
    REVOKED,
    RUNNING,
    SLOW_CLIENT_SECONDS,
    TICK_SECONDS,
    Stop,
    signing_key,
)
from copilot_admin.answering.speaker import FIRST_EVENT_SECONDS, PING_SECONDS, Speaker
from copilot_admin.engine.values.model_call import Finish
from copilot_admin.errors import ProviderBroke, Unavailable
from copilot_admin.journal import Accepted
from copilot_admin.journal.recorder import Ending, Entry, Piece
from copilot_admin.journal.unkept import NOT_KEPT
from copilot_admin.models import EventType, Logging, Outcome
from copilot_admin.storage.database_thread import JournalDown
from protocol.events import FunctionCall, MessageChunk, StatusUpdate
from protocol.generations import Generation
from protocol.sse import PING, decode, encode_chunk
from tests.answering.running import (
    ANSWERER,
    LIVE,
    RUN,
    Noted,
    now,
    opened,
    play,
    question,
    said,
)
from tests.engine.virtual_time import run_at_once

STEP = StatusUpdate(message="Looking")
STOP = Finish("stop")


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """Stands for the journal and for those who watch."""
    made = Noted()
    for module in (run_task, opening):
        monkeypatch.setattr(module, "JOURNAL", made)
    monkeypatch.setattr(run_task, "announce", made.announce)
    return made


def texts(pieces: list[tuple[float, bytes]]) -> str:
    """The words that a client was told."""
    whole = b"".join(piece for _, piece in pieces)
    events = list(decode(whole))
    return "".join(data for name, data in events if name == "copilotMessageChunk")


def ending(outcome: Outcome, **changes: Any) -> Ending:
    return Ending(**{"outcome": outcome, "ms": 0, "ttft_ms": None, **changes})


def test_a_run_says_when_its_first_word_came_and_how_long_it_took(noted, monkeypatch):
    play(monkeypatch, noted, [1.5, MessageChunk("Hel"), 0.25, STEP, MessageChunk("lo"), 0.25, STOP])
    pieces = said()
    assert [at for at, _ in pieces] == [1.5, 1.75]
    (record,) = noted.records
    assert record.ending == ending(Outcome.COMPLETED, ms=2000, ttft_ms=1500)
    assert (record.text, record.finish_reason) == ("Hello", "stop")
    assert [(one.type, one.text_offset, one.at_ms) for one in record.entries] == [
        (EventType.STATUS, 3, 1750)
    ]
    assert noted.cancelling == [0]


def test_a_step_may_be_the_first_thing_that_a_client_sees(noted, monkeypatch):
    play(monkeypatch, noted, [0.5, STEP, 0.5, STEP, MessageChunk("Hello"), STOP])
    said()
    assert noted.records[0].ending == ending(Outcome.COMPLETED, ms=1000, ttft_ms=500)


def test_what_comes_at_the_end_leaves_when_the_run_is_kept(noted, monkeypatch):
    finish = noted.finish

    async def late(*arguments: Any) -> bool:
        await asyncio.sleep(3)
        return bool(await finish(*arguments))

    monkeypatch.setattr(noted, "finish", late)
    play(monkeypatch, noted, [MessageChunk("Hel"), 1, MessageChunk("lo"), STOP, 1])
    assert said() == [(0, encode_chunk("Hel")), (5, encode_chunk("lo"))]


def test_a_call_of_the_client_leaves_when_the_run_is_kept(noted, monkeypatch):
    called = FunctionCall(function="f", input_arguments={}, extra_state={"a": 1})
    play(monkeypatch, noted, [MessageChunk("Wait. "), 1, called, 1, STOP])
    (first, _), (second, frame) = said()
    assert (first, second) == (0, 2)
    assert b"copilotFunctionCall" in frame
    assert noted.records[0].ending.ttft_ms == 0


def test_what_was_held_does_not_leave_when_the_run_cannot_be_kept(noted, monkeypatch):
    noted.is_kept = False
    play(monkeypatch, noted, [MessageChunk("Hel"), 0.5, MessageChunk("lo"), STOP])
    assert texts(said()) == f'{{"delta":"Hel"}}{{"delta":"\\n\\n"}}{{"delta":"{NOT_KEPT}"}}'
    assert [kind for *_, kind in noted.told] == ["started"]


def test_the_journal_is_told_who_asks_whom_with_what(noted, monkeypatch):
    play(monkeypatch, noted, [STOP])
    spec = replace(ANSWERER.spec, model="small", parameters={"temperature": 0.2})
    live = replace(LIVE, answerer=replace(ANSWERER, spec=spec))
    asked = question(live, size=77, user_email="a@b.example")
    said(asked)
    (opened_as,) = noted.openings
    assert {name: getattr(opened_as, name) for name in opened_as.__dataclass_fields__} == {
        "run_id": RUN,
        "copilot_id": 3,
        "version_id": 4,
        "version_number": 5,
        "logging": Logging.EVERYTHING,
        "principal": "key:7",
        "trace_id": "chat-1",
        "query": asked.query,
        "size": 77,
        "provider": spec.provider.name,
        "model": "small",
        "params": {"temperature": 0.2},
        "started_at": noted.inputs[0].now,
    }
    (given,) = noted.inputs
    assert (given.spec, given.provider, given.query) == (spec, ANSWERER.provider, asked.query)
    assert (given.trace_id, given.chat_id) == ("chat-1", "chat-1")
    assert (given.user_email, given.principal) == ("a@b.example", "key:7")
    assert given.signing_key == signing_key()


def test_the_key_that_signs_depends_on_the_secret_of_the_server(settings):
    settings.SECRET_KEY = "a secret of 2026"
    assert signing_key().hex() == (
        "f7dfd22d62e3cfe3124b2e8b33d46cbc0557f8f3bc596ef0cb9a457f5ba357f4"
    )


def test_the_engine_may_wait_for_what_the_journal_remembers(noted, monkeypatch):
    remembered: list[Any] = []

    async def answer(engine_input: Any) -> Any:
        remembered.append(await engine_input.recall())
        yield STOP

    play(monkeypatch, noted, [])
    monkeypatch.setattr("copilot_admin.answering.run.answer", answer)
    said()
    assert remembered == [noted.accepted.recollection]


def test_a_copilot_that_cannot_answer_says_why(noted):
    live = replace(LIVE, answerer=None, problem="Its provider is gone.")
    assert "Its provider is gone." in texts(said(question(live)))
    (opened_as,) = noted.openings
    assert (opened_as.provider, opened_as.model, opened_as.params) == ("", "", {})
    (record,) = noted.records
    assert record.ending == ending(
        Outcome.FAILED, error="Its provider is gone.", error_code="NotReady"
    )


@pytest.mark.parametrize(
    ("broken", "sentence", "outcome", "code"),
    [
        (ProviderBroke("It broke."), "It broke.", Outcome.FAILED, "ProviderBroke"),
        (ZeroDivisionError(), CRASHED, Outcome.CRASHED, "crash"),
    ],
)
def test_a_failure_is_said_behind_the_words_and_kept(
    noted, monkeypatch, broken, sentence, outcome, code
):
    play(monkeypatch, noted, [MessageChunk("Half"), 2, broken])
    pieces = said()
    assert pieces[0] == (0, encode_chunk("Half"))
    (record,) = noted.records
    assert record.ending == ending(outcome, ms=2000, ttft_ms=0, error=sentence, error_code=code)
    assert record.text == f"Half\n\n{sentence}"
    assert [(one.type, one.at_ms) for one in record.entries] == [(EventType.STATUS, 2000)]


def test_an_answer_that_was_cut_says_so_in_its_end(noted, monkeypatch):
    play(monkeypatch, noted, [MessageChunk("Half"), Finish(None)])
    said()
    end = noted.records[0].ending
    assert (end.outcome, end.error_code, bool(end.error)) == (Outcome.TRUNCATED, "truncated", True)


@pytest.mark.parametrize(
    ("reason", "outcome", "sentence", "code"),
    [
        (Stop.CLIENT_GONE, Outcome.CANCELLED, "", ""),
        (Stop.COPILOT_DELETED, Outcome.FAILED, DELETED, "copilot-deleted"),
        (Stop.KEY_REVOKED, Outcome.FAILED, REVOKED, "key-revoked"),
        (Stop.CRASH, Outcome.CRASHED, CRASHED, "crash"),
        (Stop.SHUTDOWN, Outcome.INTERRUPTED, RESTARTING, "shutdown"),
    ],
)
def test_a_run_that_is_stopped_says_why_to_whom_it_concerns(
    noted, monkeypatch, reason, outcome, sentence, code
):
    play(monkeypatch, noted, [MessageChunk("Half"), 100])

    async def stop(run: Any) -> None:
        await asyncio.sleep(0.5)
        run.stop(reason)
        run.stop(Stop.SHUTDOWN)  # the first reason counts

    opened(stop)
    (record,) = noted.records
    assert record.ending == ending(outcome, ms=500, ttft_ms=0, error=sentence, error_code=code)
    assert record.text == (f"Half\n\n{sentence}" if sentence else "Half")
    assert noted.cancelling == [0]


def test_an_event_loop_that_ends_is_a_server_that_stops(noted, monkeypatch):
    play(monkeypatch, noted, [MessageChunk("Half"), 100])

    async def cancel(run: Any) -> None:
        await asyncio.sleep(0.5)
        run.task.cancel()

    opened(cancel)
    assert noted.records[0].ending.outcome == Outcome.INTERRUPTED


def test_a_run_that_has_ended_is_not_stopped(noted, monkeypatch):
    play(monkeypatch, noted, [MessageChunk("Whole"), STOP])

    async def too_late(run: Any) -> None:
        await run.task
        for stop in (run.stop, run.stop_from_any_thread):
            stop(Stop.CRASH)
        await asyncio.sleep(0)
        assert (run._stop, run.task.cancelling()) == (None, 0)

    opened(too_late)
    assert [one.ending.outcome for one in noted.records] == [Outcome.COMPLETED]


@pytest.mark.parametrize("broken", [None, "event"], ids=["whole", "crashed"])
def test_a_run_that_is_being_kept_is_not_stopped(noted, monkeypatch, broken):
    finish = noted.finish

    async def late(*arguments: Any) -> bool:
        await asyncio.sleep(3)
        return bool(await finish(*arguments))

    def fail(*_: Any) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(noted, "finish", late)
    if broken:
        monkeypatch.setattr(Speaker, broken, fail)
    play(monkeypatch, noted, [MessageChunk("Whole"), ZeroDivisionError() if broken else STOP])

    async def too_late(run: Any) -> None:
        await asyncio.sleep(1)
        run.stop(Stop.CLIENT_GONE)
        run.tick()

    opened(too_late)
    (record,) = noted.records
    assert (record.ending.outcome, noted.pieces) == ("crashed" if broken else "completed", [])


def test_a_run_can_be_stopped_from_another_thread_while_its_loop_runs(noted, monkeypatch):
    play(monkeypatch, noted, [MessageChunk("Half"), 1, STOP])
    runs: list[Any] = []

    async def stop(run: Any) -> None:
        runs.append(run)
        thread = threading.Thread(target=run.stop_from_any_thread, args=(Stop.CLIENT_GONE,))
        thread.start()
        thread.join()

    opened(stop)
    assert noted.records[0].ending.outcome == Outcome.CANCELLED
    runs[0]._done = False
    runs[0].stop_from_any_thread(Stop.CRASH)  # its loop is closed


def test_a_client_that_leaves_stops_its_run(noted, monkeypatch):
    play(monkeypatch, noted, [MessageChunk("Half"), 100])

    async def leave(run: Any) -> None:
        reading = opening.frames(run)
        await anext(reading)
        await reading.aclose()

    opened(leave)
    assert noted.records[0].ending == ending(Outcome.CANCELLED, ttft_ms=0)


@pytest.mark.parametrize(("more", "outcome"), [(0, "completed"), (1, "cancelled")])
def test_a_client_that_reads_nothing_for_half_a_minute_is_given_up(
    noted, monkeypatch, more, outcome
):
    much = "x" * (256 * 1024 - len(encode_chunk("")) + more)
    play(monkeypatch, noted, [MessageChunk(much), 0.25, STOP])

    async def do_not_read(run: Any) -> None:
        await run.task

    opened(do_not_read)
    end = noted.records[0].ending
    assert end.outcome == outcome
    if more:
        assert (end.ms, end.error_code) == (30_250, "ClientTooSlow")
        assert end.error == "The client read nothing for 30 seconds."
    assert SLOW_CLIENT_SECONDS == 30.0


def test_once_a_second_what_is_new_is_kept_and_told(noted, monkeypatch):
    play(
        monkeypatch,
        noted,
        [0.25, MessageChunk("one "), 2, STEP, 0.25, MessageChunk("two"), 1, STOP],
    )
    said()
    assert TICK_SECONDS == 1.0
    step = Entry(
        type=EventType.STATUS,
        payload={"eventType": "INFO", "message": "Looking", "group": "reasoning"},
        text_offset=4,
        at_ms=2250,
    )
    assert noted.pieces == [(1, Piece(0, "one ", ())), (3, Piece(1, "two", (step,)))]
    assert noted.told == [
        (0, 1, 2, "started"),
        (1, 1, 2, "progress"),
        (3, 1, 2, "progress"),
        (3.5, 1, 2, "finished"),
    ]
    assert not RUNNING


@pytest.mark.parametrize(
    "accepted", [Accepted(), Accepted(conversation_id=1), Accepted(turn_id=2)], ids=str
)
def test_of_a_run_without_a_turn_nobody_is_told(noted, monkeypatch, accepted):
    noted.accepted = accepted
    play(monkeypatch, noted, [MessageChunk("a"), 1.5, STOP])
    said()
    assert noted.told == []


def test_who_waits_hears_something_in_time(noted, monkeypatch):
    play(monkeypatch, noted, [10.5, MessageChunk("a"), 16, MessageChunk("b"), STOP])
    assert (FIRST_EVENT_SECONDS, PING_SECONDS) == (10.0, 15.0)
    assert said() == [
        (10, encode_chunk("")),
        (10.5, encode_chunk("a")),
        (26, PING),
        (26.5, encode_chunk("b")),
    ]


class TestAcceptance:
    def test_a_journal_that_is_down_refuses_the_question(self, noted, monkeypatch):
        async def refuse() -> None:
            raise JournalDown

        noted.accepting = refuse
        play(monkeypatch, noted, [MessageChunk("a"), 100])
        with pytest.raises(JournalDown):
            said()
        assert (noted.records, noted.told, RUNNING) == ([], [], set())

    def test_what_is_accepted_too_late_is_cancelled(self, noted, monkeypatch, settings):
        settings.DATABASE_WAIT_SECONDS = 5.0

        async def late() -> None:
            await asyncio.sleep(7)

        noted.accepting = late
        play(monkeypatch, noted, [MessageChunk("a"), 100])

        async def scenario() -> float:
            with pytest.raises(JournalDown):
                await open_run(question())
            asked_until = now()
            (run,) = RUNNING
            await run.task
            return asked_until

        assert run_at_once(scenario()) == 5
        (record,) = noted.records
        assert record.ending == ending(
            Outcome.CANCELLED,
            ms=5000,
            ttft_ms=0,
            error=JournalDown().public,
            error_code="journal-down",
        )

    def test_who_leaves_before_the_run_is_accepted_cancels_it(self, noted, monkeypatch):
        async def soon() -> None:
            await asyncio.sleep(2)

        noted.accepting = soon
        play(monkeypatch, noted, [MessageChunk("a"), 100])

        async def scenario() -> None:
            opening_run = asyncio.ensure_future(open_run(question()))
            await asyncio.sleep(1)
            opening_run.cancel()
            await asyncio.wait({opening_run})
            (run,) = RUNNING
            await run.task

        run_at_once(scenario())
        assert noted.records[0].ending == ending(Outcome.CANCELLED, ms=1000, ttft_ms=0)
        assert noted.told == [(2, 1, 2, "finished")]

    def test_a_server_that_drains_refuses_and_keeps_the_refusal(self, noted):
        opening.start_draining()
        try:
            with pytest.raises(Unavailable) as refused:
                said(question(query=replace(question().query, generation=Generation.TWO)))
        finally:
            opening.stop_draining()
        sentence = "The server is restarting. Ask again in a few seconds."
        assert (refused.value.code, refused.value.public) == ("draining", sentence)
        (refusal,) = noted.refusals
        assert replace(refusal, started_at=None) == replace(
            refusal,
            run_id=RUN,
            copilot_id=3,
            version_id=4,
            version_number=5,
            logging=Logging.EVERYTHING,
            principal="key:7",
            started_at=None,
            generation=Generation.TWO,
            error=sentence,
            error_code="draining",
        )
        assert (noted.openings, opening.is_draining()) == ([], False)


class TestEnding:
    """What ends runs from outside; each asks the database only when anything runs."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        calls: list[Any] = []

        class Reader:
            async def run(self, job: Any) -> Any:
                calls.append((job.func.__name__, job.args))
                return {"valid_keys": frozenset({8}), "being_deleted": frozenset({3})}[
                    job.func.__name__
                ]

        monkeypatch.setattr(opening, "READER", Reader())
        return calls

    def test_without_runs_nothing_is_asked(self, asked):
        async def scenario() -> None:
            for end in (end_revoked, end_deleted, interrupt_all):
                await end()

        asyncio.run(scenario())
        assert asked == []

    @pytest.mark.parametrize(
        ("end", "outcome", "calls"),
        [
            (end_revoked, "failed", [("valid_keys", (frozenset({7}),))]),
            (end_deleted, "failed", [("being_deleted", (frozenset({3}),))]),
            (interrupt_all, "interrupted", []),
        ],
    )
    def test_runs_that_may_not_go_on_are_ended(
        self, noted: Noted, monkeypatch, asked, end, outcome, calls
    ):
        play(monkeypatch, noted, [MessageChunk("Half"), 100])

        async def stop(_: Any) -> None:
            await end()
            assert bool(noted.records) is (end is interrupt_all)  # which waits for the journal

        opened(stop)
        assert (noted.records[0].ending.outcome, asked) == (outcome, calls)

    @pytest.mark.parametrize(
        ("end", "changes"),
        [
            (end_revoked, {"caller": replace(question().caller, key_id=None)}),
            (end_revoked, {"caller": replace(question().caller, key_id=8)}),
            (end_deleted, {"live": replace(LIVE, id=8)}),
        ],
        ids=["without a key", "with a good key", "of another copilot"],
    )
    def test_others_go_on(self, noted: Noted, monkeypatch, asked, end, changes):
        play(monkeypatch, noted, [MessageChunk("Whole"), 1, STOP])

        async def stop(_: Any) -> None:
            await end()

        opened(stop, question(**changes))
        assert noted.records[0].ending.outcome == "completed"


def test_a_run_that_broke_is_told_in_the_log(noted, monkeypatch, caplog):
    play(monkeypatch, noted, [ZeroDivisionError()])
    with caplog.at_level(logging.ERROR):
        said()
    assert caplog.messages == [f"run {RUN} crashed"]
