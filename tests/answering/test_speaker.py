"""How events become frames: merged, held, and never silent for long."""

import asyncio
from collections.abc import Callable

from copilot_admin.answering.outbox import Outbox
from copilot_admin.answering.speaker import FIRST_EVENT_SECONDS, PING_SECONDS, Speaker
from protocol.events import FunctionCall, MessageChunk, StatusUpdate
from protocol.generations import Generation
from protocol.sse import PING, encode_chunk


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


def test_a_held_stream_is_not_disturbed_by_pings():
    def talk(speaker: Speaker, clock: Clock) -> None:
        speaker.hold()
        clock.ahead += 60
        speaker.break_silence()

    assert said(talk) == []


def test_text_that_follows_within_20_ms_leaves_with_the_next_tick():
    pieces: list[bytes] = []

    async def scenario() -> None:
        outbox = Outbox()
        left = asyncio.Event()
        outbox.put = lambda frame: (pieces.append(frame), left.set())  # type: ignore[method-assign,assignment,func-returns-value]
        speaker = Speaker(outbox, generation=Generation.THREE)
        speaker.text("first")
        await left.wait()
        left.clear()
        speaker.text("then ")
        await asyncio.sleep(0)
        speaker.text("merged")
        await left.wait()

    asyncio.run(scenario())
    assert pieces == [encode_chunk("first"), encode_chunk("then merged")]
