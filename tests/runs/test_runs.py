"""A run from its first moment to its last: what is sent, stored and reported, and when."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
import json

import pytest

from copilot_admin.agent.values.model_call import Finish
from copilot_admin.copilots.user_tokens import UserIdDisclosure
from copilot_admin.errors import ProviderBroke
from copilot_admin.models import EventType, Outcome
from copilot_admin.runs import run_output
from copilot_admin.runs.query_context import signing_key
from copilot_admin.runs.run import CHECKPOINT_SECONDS, NOT_STORED, RUNNING
from copilot_admin.runs.run_output import FIRST_EVENT_SECONDS, PING_SECONDS, SendBuffer
from copilot_admin.runs.tasks import CRASHED
from copilot_admin.transcripts.store.recorder import Piece
from copilot_admin.transcripts.store.run_events import RunEvent
from protocol.events import FunctionCall, MessageChunk, StatusUpdate
from protocol.models import Generation
from protocol.sse import PING, decode, encode_chunk
from tests.jwt_issuer import ADA
from tests.runs.running import LIVE, ending, play, question, said

STEP = StatusUpdate(message="Looking")
STOP = Finish("stop")


def texts(pieces: list[tuple[float, bytes]]) -> str:
    """The words that a client was told."""
    whole = b"".join(piece for _, piece in pieces)
    events = list(decode(whole))
    return "".join(data for name, data in events if name == "copilotMessageChunk")


def test_what_is_in_hand_at_the_end_of_an_answer_leaves_when_it_is_kept(noted, monkeypatch):
    play(monkeypatch, noted, [MessageChunk("Hel"), 1, MessageChunk("lo"), STOP, 5])
    assert said() == [(0, encode_chunk("Hel")), (6, encode_chunk("lo"))]


def test_a_run_says_when_its_first_word_came_and_how_long_it_took(noted, monkeypatch):
    play(monkeypatch, noted, [1.5, MessageChunk("Hel"), 0.25, STEP, MessageChunk("lo"), 0.25, STOP])
    pieces = said()
    assert [at for at, _ in pieces] == [1.5, 1.75]
    (record,) = noted.ends
    assert record.ending == ending(Outcome.COMPLETED, ms=2000, ttft_ms=1500)
    assert (record.text, record.finish_reason) == ("Hello", "stop")
    (step,) = record.events
    assert (step.type, step.text_offset, step.at_ms) == (EventType.STATUS, 3, 1750)
    assert noted.cancelling == [0]


def test_what_was_held_does_not_leave_when_the_run_cannot_be_kept(noted, monkeypatch):
    noted.is_kept = False
    play(monkeypatch, noted, [MessageChunk("Hel"), 0.5, MessageChunk("lo"), STOP])
    assert texts(said()) == f'{{"delta":"Hel"}}{{"delta":"\\n\\n"}}{{"delta":"{NOT_STORED}"}}'
    assert [kind for *_, kind in noted.told] == ["started"]


@pytest.mark.parametrize(
    ("naming", "told"),
    [
        (UserIdDisclosure.NONE, ""),
        (UserIdDisclosure.HASHED, "30dd94c6507476d2f3323645506b0092"),
        (UserIdDisclosure.PLAIN, "ada"),
    ],
)
def test_the_provider_is_told_of_the_user_what_the_setting_says(
    noted, monkeypatch, settings, naming, told
):
    settings.USER_UPSTREAM = naming
    settings.SECRET_KEY = "a secret of 2026"
    play(monkeypatch, noted, [STOP])
    said(question(user=ADA))
    said(question())
    assert [given.upstream_user for given in noted.inputs] == [told, ""]


def test_the_key_that_signs_depends_on_the_secret_of_the_server():
    known = "f7dfd22d62e3cfe3124b2e8b33d46cbc0557f8f3bc596ef0cb9a457f5ba357f4"
    assert signing_key("a secret of 2026").hex() == known


def test_a_copilot_that_cannot_answer_says_why(noted):
    live = replace(LIVE, answerer=None, problem="Its provider is gone.")
    assert "Its provider is gone." in texts(said(question(live)))
    (start,) = noted.starts
    assert (start.provider, start.model, start.params) == ("", "", {})
    (record,) = noted.ends
    error = "Its provider is gone."
    assert record.ending == ending(Outcome.FAILED, error=error, error_code="NotReady")


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
    (record,) = noted.ends
    assert record.ending == ending(outcome, ms=2000, ttft_ms=0, error=sentence, error_code=code)
    assert record.text == f"Half\n\n{sentence}"
    assert [(one.type, one.at_ms) for one in record.events] == [(EventType.STATUS, 2000)]


def test_an_answer_that_was_cut_says_so_in_its_end(noted, monkeypatch):
    play(monkeypatch, noted, [MessageChunk("Half"), Finish(None)])
    said()
    end = noted.ends[0].ending
    assert (end.outcome, end.error_code, bool(end.error)) == (Outcome.TRUNCATED, "truncated", True)


def test_once_a_second_what_is_new_is_kept_and_told(noted, monkeypatch):
    script = [0.25, MessageChunk("one "), 2, STEP, 0.25, MessageChunk("two"), 1, STOP]
    play(monkeypatch, noted, script)
    said()
    assert CHECKPOINT_SECONDS == 1.0
    payload = {"eventType": "INFO", "message": "Looking", "group": "reasoning"}
    step = RunEvent(type=EventType.STATUS, payload=payload, text_offset=4, at_ms=2250)
    assert noted.pieces == [(1, Piece(0, "one ")), (3, Piece(1, "two", (step,)))]
    kinds = {0: "started", 1: "progress", 3: "progress", 3.5: "finished"}
    assert noted.told == [(at, 1, 2, kind) for at, kind in kinds.items()]
    assert not RUNNING


def test_who_waits_hears_something_in_time(noted, monkeypatch):
    play(monkeypatch, noted, [11, MessageChunk("a"), 15.5, MessageChunk("b"), STOP])
    assert (FIRST_EVENT_SECONDS, PING_SECONDS) == (10.0, 15.0)
    empty, a, b = map(encode_chunk, ("", "a", "b"))
    assert said() == [(10, empty), (11, a), (26, PING), (26.5, b)]


def written(talk: Callable[[SendBuffer], None], *, generation=Generation.THREE) -> list[bytes]:
    """The pieces that are read from the buffer, one for every time something left."""

    async def scenario() -> list[bytes]:
        buffer = SendBuffer(generation)
        talk(buffer)
        buffer.close()
        return [piece async for piece in buffer.chunks()]

    return asyncio.run(scenario())


def test_text_and_other_events_keep_their_order():
    def talk(writer: SendBuffer) -> None:
        writer.write_text("before")
        writer.write_event(StatusUpdate(message="step"))
        writer.write_text("after")

    (piece,) = written(talk)
    names = [line for line in piece.decode().splitlines() if line.startswith("event:")]
    chunk, step = "event: copilotMessageChunk", "event: copilotStatusUpdate"
    assert names == [chunk, step, chunk]


def test_numbers_that_json_does_not_have_are_null():
    rows = [{"day": "Mon", "price": float("nan")}, {"day": "Tue", "price": [float("-inf"), 1.5]}]
    call = FunctionCall(function="f", input_arguments={"parameters": {"rows": rows}})
    [frame] = written(lambda writer: writer.write_event(call))
    told = json.loads(frame.partition(b"data: ")[2])["input_arguments"]["parameters"]["rows"]
    assert told == [{"day": "Mon", "price": None}, {"day": "Tue", "price": [None, 1.5]}]


def test_an_event_that_the_dialect_lacks_says_nothing():
    step = StatusUpdate(message="step")
    assert written(lambda writer: writer.write_event(step), generation=Generation.ONE) == []


def test_a_keepalive_is_not_repeated_before_it_is_read(monkeypatch):
    monkeypatch.setattr(run_output, "FIRST_EVENT_SECONDS", 0)

    def talk(writer: SendBuffer) -> None:
        writer.send_keepalive()
        writer.send_keepalive()

    assert written(talk) == [encode_chunk("")]
