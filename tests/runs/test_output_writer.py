"""How events become frames; pauses and ends are tested with runs."""

import asyncio
from collections.abc import Callable
import json

from copilot_admin.runs.run_output import SendBuffer, SSEWriter
from protocol.events import FunctionCall, StatusUpdate
from protocol.models import Generation


def said(talk: Callable[[SSEWriter], None], *, generation=Generation.THREE) -> list[bytes]:
    """The pieces that reach the buffer, one for every time something left."""

    async def scenario() -> list[bytes]:
        buffer = SendBuffer()
        writer = SSEWriter(buffer, generation=generation)
        pieces: list[bytes] = []
        buffer.put = pieces.append  # type: ignore[method-assign,assignment]
        talk(writer)
        await asyncio.sleep(0)
        return pieces

    return asyncio.run(scenario())


def test_text_and_other_events_keep_their_order():
    def talk(writer: SSEWriter) -> None:
        writer.write_text("before")
        writer.write_event(StatusUpdate(message="step"))
        writer.write_text("after")

    (piece,) = said(talk)
    names = [line for line in piece.decode().splitlines() if line.startswith("event:")]
    chunk, step = "event: copilotMessageChunk", "event: copilotStatusUpdate"
    assert names == [chunk, step, chunk]


def test_numbers_that_json_does_not_have_are_null():
    rows = [{"day": "Mon", "price": float("nan")}, {"day": "Tue", "price": [float("-inf"), 1.5]}]
    call = FunctionCall(function="f", input_arguments={"parameters": {"rows": rows}})
    [frame] = said(lambda writer: writer.write_event(call))
    told = json.loads(frame.partition(b"data: ")[2])["input_arguments"]["parameters"]["rows"]
    assert told == [{"day": "Mon", "price": None}, {"day": "Tue", "price": [None, 1.5]}]


def test_an_event_that_the_dialect_lacks_says_nothing():
    step = StatusUpdate(message="step")
    assert said(lambda writer: writer.write_event(step), generation=Generation.ONE) == []
