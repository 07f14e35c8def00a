"""How events become frames: merged, held, and never silent for long."""

import asyncio
from collections.abc import Callable
import json

import pytest

from copilot_admin.runs.sse_writer import FIRST_EVENT_SECONDS, PING_SECONDS, Outbox, Speaker
from protocol.events import FunctionCall, MessageChunk, StatusUpdate
from protocol.models import Generation
from protocol.sse import PING, encode_chunk
from tests.agent.virtual_time import run_at_once


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose clock the test moves."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def said(talk: Callable[[Speaker, Clock], None], *, generation=Generation.THREE) -> list[bytes]:
    """The pieces that reach the outbox, one for every time something left."""
    loop = Clock()

    async def scenario() -> list[bytes]:
        outbox = Outbox()
        speaker = Speaker(outbox, generation=generation)
        pieces: list[bytes] = []
        outbox.put = pieces.append  # type: ignore[method-assign,assignment]
        talk(speaker, loop)
        await asyncio.sleep(0)
        return pieces

    try:
        return loop.run_until_complete(scenario())
    finally:
        loop.close()


def test_text_in_hand_leaves_as_one_frame_in_the_same_turn_of_the_loop():
    def talk(speaker: Speaker, _: Clock) -> None:
        speaker.text("Hel")
        speaker.text("lo")

    assert said(talk) == [encode_chunk("Hello")]


def test_text_and_other_events_keep_their_order():
    def talk(speaker: Speaker, _: Clock) -> None:
        speaker.text("before")
        speaker.event(StatusUpdate(message="step"))
        speaker.text("after")

    (piece,) = said(talk)
    names = [line for line in piece.decode().splitlines() if line.startswith("event:")]
    assert names == [
        "event: copilotMessageChunk",
        "event: copilotStatusUpdate",
        "event: copilotMessageChunk",
    ]


def test_a_held_stream_says_nothing_until_it_is_released():
    def hold(speaker: Speaker, _: Clock) -> None:
        speaker.text("sent ")
        speaker.hold()
        speaker.text("later")
        speaker.event(FunctionCall(function="f", input_arguments={}, extra_state={"a": 1}))

    assert said(hold) == []

    def release(speaker: Speaker, clock: Clock) -> None:
        hold(speaker, clock)
        speaker.release()

    (piece,) = said(release)
    assert piece.startswith(encode_chunk("sent later"))
    assert b"copilotFunctionCall" in piece


def test_numbers_that_json_does_not_have_are_null():
    rows = [{"day": "Mon", "price": float("nan")}, {"day": "Tue", "price": [float("-inf"), 1.5]}]
    call = FunctionCall(
        function="execute_agent_tool", input_arguments={"parameters": {"rows": rows}}
    )

    def talk(speaker: Speaker, _: Clock) -> None:
        speaker.event(call)

    [frame] = said(talk)
    told = json.loads(frame.partition(b"data: ")[2])["input_arguments"]["parameters"]["rows"]
    assert told == [{"day": "Mon", "price": None}, {"day": "Tue", "price": [None, 1.5]}]


def test_an_event_that_the_dialect_lacks_says_nothing():
    def talk(speaker: Speaker, _: Clock) -> None:
        speaker.event(StatusUpdate(message="step"))

    assert said(talk, generation=Generation.ONE) == []


def test_a_long_silence_before_the_first_event_is_broken_by_an_empty_chunk():
    def talk(speaker: Speaker, clock: Clock) -> None:
        speaker.break_silence()
        clock.ahead += FIRST_EVENT_SECONDS
        speaker.break_silence()
        speaker.break_silence()

    assert said(talk) == [encode_chunk("")]


def test_a_later_silence_is_broken_by_a_comment():
    def talk(speaker: Speaker, clock: Clock) -> None:
        speaker.event(MessageChunk("x"))
        speaker.release()
        speaker._holding = False
        clock.ahead += PING_SECONDS
        speaker.break_silence()

    assert said(talk) == [encode_chunk("x"), PING]


def test_a_silence_that_is_not_long_enough_is_not_broken():
    def before_the_first_event(speaker: Speaker, clock: Clock) -> None:
        clock.ahead += FIRST_EVENT_SECONDS - 1
        speaker.break_silence()

    def after_it(speaker: Speaker, clock: Clock) -> None:
        speaker.event(MessageChunk("x"))
        speaker.send_due()
        clock.ahead += PING_SECONDS - 1
        speaker.break_silence()

    assert said(before_the_first_event) == []
    assert said(after_it) == [encode_chunk("x")]


def test_what_was_held_and_may_not_be_said_is_gone():
    def discard(speaker: Speaker, _: Clock) -> None:
        speaker.text("held")
        speaker.hold()
        speaker.event(StatusUpdate(message="held as well"))
        speaker.text("held too")
        speaker.discard()
        speaker.release()

    assert said(discard) == []


def test_what_comes_after_the_end_of_a_stream_does_not_leave():
    def release(speaker: Speaker, _: Clock) -> None:
        speaker.text("all")
        speaker.release()
        speaker.text("late")
        speaker.event(StatusUpdate(message="late"))

    def discard(speaker: Speaker, _: Clock) -> None:
        speaker.text("dropped")
        speaker.discard()
        speaker.text("late")

    def close(speaker: Speaker, _: Clock) -> None:
        speaker.close()
        speaker.text("late")

    assert (said(release), said(discard), said(close)) == ([encode_chunk("all")], [], [])


def test_a_stream_is_made_of_frames_before_its_run_is_kept():
    def close(speaker: Speaker, _: Clock) -> None:
        speaker.text(5)  # type: ignore[arg-type]  # a provider gave it
        with pytest.raises(TypeError):
            speaker.close()

    assert said(close) == []


def test_a_held_stream_is_not_disturbed_by_pings():
    def talk(speaker: Speaker, clock: Clock) -> None:
        speaker.hold()
        clock.ahead += 60
        speaker.break_silence()

    assert said(talk) == []


def test_text_that_comes_soon_after_other_text_leaves_20_ms_later_as_one_frame():
    sent: list[tuple[float, bytes]] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        outbox = Outbox()
        outbox.put = lambda frame: sent.append((round(loop.time() - start, 3), frame))  # type: ignore[method-assign,assignment]
        speaker = Speaker(outbox, generation=Generation.THREE)
        for piece in ("first", "then ", "merged"):
            speaker.text(piece)
            await asyncio.sleep(0.005)
        await asyncio.sleep(1)
        speaker.text("after a pause")
        await asyncio.sleep(0)

    run_at_once(scenario())
    assert sent == [
        (0.0, encode_chunk("first")),
        (0.025, encode_chunk("then merged")),
        (1.015, encode_chunk("after a pause")),
    ]
