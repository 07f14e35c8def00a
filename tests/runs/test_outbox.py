"""The outbox between a run and its pump; whoever waits for nothing is found at once."""

import asyncio

from copilot_admin.runs.sse_writer import FULL_BYTES, Outbox
from tests.agent.virtual_time import run_at_once


async def _collect(outbox: Outbox) -> list[bytes]:
    return [piece async for piece in outbox.taken()]


def test_what_waits_is_taken_in_one_piece_and_in_order():
    async def scenario() -> list[bytes]:
        outbox = Outbox()
        outbox.put(b"a")
        outbox.put(b"b")
        outbox.close()
        return await _collect(outbox)

    assert run_at_once(scenario()) == [b"ab"]


def test_a_reader_that_came_first_gets_each_frame_as_it_is_put():
    async def scenario() -> list[bytes]:
        outbox = Outbox()
        reading = asyncio.ensure_future(_collect(outbox))
        for frame in (b"a", b"b"):
            await asyncio.sleep(0)
            outbox.put(frame)
            await asyncio.sleep(0)
        outbox.close()
        return await reading

    assert run_at_once(scenario()) == [b"a", b"b"]


def test_frames_put_after_the_end_are_dropped():
    async def scenario() -> list[bytes]:
        outbox = Outbox()
        outbox.close()
        outbox.put(b"late")
        return await _collect(outbox)

    assert run_at_once(scenario()) == []


def test_a_writer_waits_until_a_full_outbox_was_read():
    async def scenario() -> tuple[bool, bool, list[bytes]]:
        outbox = Outbox()
        outbox.put(b"x" * (FULL_BYTES + 1))
        full_before = outbox.full
        reading = asyncio.ensure_future(_collect(outbox))
        await outbox.drained()
        full_after = outbox.full
        outbox.close()
        return full_before, full_after, await reading

    full_before, full_after, pieces = run_at_once(scenario())
    assert (full_before, full_after, [len(piece) for piece in pieces]) == (
        True,
        False,
        [FULL_BYTES + 1],
    )


def test_an_outbox_is_full_beyond_256_kilobytes_and_empty_again_when_it_was_read():
    async def scenario() -> list[bool]:
        outbox = Outbox()
        reading = outbox.taken()
        full = []
        for size in (262_144, 262_145, 262_144):
            outbox.put(b"x" * size)
            full.append(outbox.full)
            await anext(reading)
            full.append(outbox.full)
        await reading.aclose()
        return full

    assert run_at_once(scenario()) == [False, False, True, False, False, False]


def test_closing_frees_a_waiting_writer():
    async def scenario() -> bool:
        outbox = Outbox()
        outbox.put(b"unread")
        waiting = asyncio.ensure_future(outbox.drained())
        await asyncio.sleep(0)
        outbox.close()
        await waiting
        return outbox.empty

    assert run_at_once(scenario()) is False
