"""How events become frames: merged, held, and never silent for long."""

import asyncio
from collections.abc import Callable
import json

from copilot_admin.runs.sse_writer import FIRST_EVENT_SECONDS, PING_SECONDS, SendBuffer, SSEWriter
from protocol.events import FunctionCall, MessageChunk, StatusUpdate
from protocol.models import Generation
from protocol.sse import PING, encode_chunk


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose clock the test moves."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def said(talk: Callable[[SSEWriter, Clock], None], *, generation=Generation.THREE) -> list[bytes]:
    """The pieces that reach the buffer, one for every time something left."""
    loop = Clock()

    async def scenario() -> list[bytes]:
        buffer = SendBuffer()
        writer = SSEWriter(buffer, generation=generation)
        pieces: list[bytes] = []
        buffer.put = pieces.append  # type: ignore[method-assign,assignment]
        talk(writer, loop)
        await asyncio.sleep(0)
        return pieces

    try:
        return loop.run_until_complete(scenario())
    finally:
        loop.close()


def test_text_in_hand_leaves_as_one_frame_in_the_same_turn_of_the_loop():
    def talk(writer: SSEWriter, _: Clock) -> None:
        writer.write_text("Hel")
        writer.write_text("lo")

    assert said(talk) == [encode_chunk("Hello")]


def test_text_and_other_events_keep_their_order():
    def talk(writer: SSEWriter, _: Clock) -> None:
        writer.write_text("before")
        writer.write_event(StatusUpdate(message="step"))
        writer.write_text("after")

    (piece,) = said(talk)
    names = [line for line in piece.decode().splitlines() if line.startswith("event:")]
    assert names == [
        "event: copilotMessageChunk",
        "event: copilotStatusUpdate",
        "event: copilotMessageChunk",
    ]


def test_a_held_stream_says_nothing_until_it_is_released():
    def hold(writer: SSEWriter, _: Clock) -> None:
        writer.write_text("sent ")
        writer.hold()
        writer.write_text("later")
        writer.write_event(FunctionCall(function="f", input_arguments={}, extra_state={"a": 1}))

    assert said(hold) == []

    def release(writer: SSEWriter, clock: Clock) -> None:
        hold(writer, clock)
        writer.release()

    (piece,) = said(release)
    assert piece.startswith(encode_chunk("sent ") + encode_chunk("later"))
    assert b"copilotFunctionCall" in piece


def test_numbers_that_json_does_not_have_are_null():
    rows = [{"day": "Mon", "price": float("nan")}, {"day": "Tue", "price": [float("-inf"), 1.5]}]
    call = FunctionCall(
        function="execute_agent_tool", input_arguments={"parameters": {"rows": rows}}
    )

    def talk(writer: SSEWriter, _: Clock) -> None:
        writer.write_event(call)

    [frame] = said(talk)
    told = json.loads(frame.partition(b"data: ")[2])["input_arguments"]["parameters"]["rows"]
    assert told == [{"day": "Mon", "price": None}, {"day": "Tue", "price": [None, 1.5]}]


def test_an_event_that_the_dialect_lacks_says_nothing():
    def talk(writer: SSEWriter, _: Clock) -> None:
        writer.write_event(StatusUpdate(message="step"))

    assert said(talk, generation=Generation.ONE) == []


def test_a_long_silence_before_the_first_event_is_broken_by_an_empty_chunk():
    def talk(writer: SSEWriter, clock: Clock) -> None:
        writer.send_keepalive()
        clock.ahead += FIRST_EVENT_SECONDS
        writer.send_keepalive()
        writer.send_keepalive()

    assert said(talk) == [encode_chunk("")]


def test_a_later_silence_is_broken_by_a_comment():
    def talk(writer: SSEWriter, clock: Clock) -> None:
        writer.write_event(MessageChunk("x"))
        writer.release()
        writer._is_holding = False
        clock.ahead += PING_SECONDS
        writer.send_keepalive()

    assert said(talk) == [encode_chunk("x"), PING]


def test_a_silence_that_is_not_long_enough_is_not_broken():
    def before_the_first_event(writer: SSEWriter, clock: Clock) -> None:
        clock.ahead += FIRST_EVENT_SECONDS - 1
        writer.send_keepalive()

    def after_it(writer: SSEWriter, clock: Clock) -> None:
        writer.write_event(MessageChunk("x"))
        writer._flush()
        clock.ahead += PING_SECONDS - 1
        writer.send_keepalive()

    assert said(before_the_first_event) == []
    assert said(after_it) == [encode_chunk("x")]


def test_what_was_held_and_may_not_be_said_is_gone():
    def discard(writer: SSEWriter, _: Clock) -> None:
        writer.write_text("held")
        writer.hold()
        writer.write_event(StatusUpdate(message="held as well"))
        writer.write_text("held too")
        writer.discard()
        writer.release()

    assert said(discard) == []
