"""The buffer between a run and its pump; whoever waits for nothing is found at once."""

import asyncio

from copilot_admin.runs.sse_writer import MAX_BUFFERED_BYTES, SendBuffer
from tests.agent.virtual_time import run_at_once


async def _collect(buffer: SendBuffer) -> list[bytes]:
    return [piece async for piece in buffer.chunks()]


def test_what_waits_is_taken_in_one_piece_and_in_order():
    async def scenario() -> list[bytes]:
        buffer = SendBuffer()
        buffer.put(b"a")
        buffer.put(b"b")
        buffer.close()
        return await _collect(buffer)

    assert run_at_once(scenario()) == [b"ab"]


def test_frames_put_after_the_end_are_dropped():
    async def scenario() -> list[bytes]:
        buffer = SendBuffer()
        buffer.close()
        buffer.put(b"late")
        return await _collect(buffer)

    assert run_at_once(scenario()) == []


def test_a_writer_waits_until_a_full_outbox_was_read():
    async def scenario() -> tuple[bool, bool, list[bytes]]:
        buffer = SendBuffer()
        buffer.put(b"x" * (MAX_BUFFERED_BYTES + 1))
        full_before = buffer.is_full
        reading = asyncio.ensure_future(_collect(buffer))
        await buffer.wait_until_drained()
        full_after = buffer.is_full
        buffer.close()
        return full_before, full_after, await reading

    full_before, full_after, pieces = run_at_once(scenario())
    assert (full_before, full_after, [len(piece) for piece in pieces]) == (
        True,
        False,
        [MAX_BUFFERED_BYTES + 1],
    )


def test_closing_frees_a_waiting_writer():
    async def scenario() -> bool:
        buffer = SendBuffer()
        buffer.put(b"unread")
        waiting = asyncio.ensure_future(buffer.wait_until_drained())
        await asyncio.sleep(0)
        buffer.close()
        await waiting
        return buffer.is_finished

    assert run_at_once(scenario()) is False
