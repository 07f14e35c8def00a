"""What was written and is not taken: looked at from time to time, and not kept without end."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from uvicorn.server import ServerState

from copilot_admin.server.http_protocol import BoundedHeads
from copilot_admin.server.slow_takers import (
    HURRIED_SECONDS,
    MOST_UNTAKEN_BYTES,
    TAKING_SECONDS,
    UNTAKEN,
)
from tests.agent.virtual_time import run_at_once
from tests.http.test_edge import echo
from tests.server.test_http_protocol import Wire, protocol_of

LITTLE = 100_000


@pytest.fixture(autouse=True)
def _nothing_waits() -> Iterator[None]:
    yield
    assert UNTAKEN.bytes == 0


def happened(scenario: Callable[[BoundedHeads, Wire], Awaitable[None]]) -> Wire:
    """The wire of a connection after something happened on it."""
    wire = Wire()

    async def connected() -> None:
        protocol = protocol_of(wire, app=echo, state=ServerState())
        protocol.feed(b"")  # so that no head is waited for
        await scenario(protocol, wire)
        protocol.connection_lost(ConnectionResetError())

    run_at_once(connected())
    return wire


def test_a_client_that_takes_nothing_is_cut_off():
    async def scenario(protocol: BoundedHeads, wire: Wire) -> None:
        wire.untaken = LITTLE
        protocol.pause_writing()
        await asyncio.sleep(TAKING_SECONDS - 1)
        assert not wire.aborted
        await asyncio.sleep(1)

    assert happened(scenario).aborted


def test_one_that_takes_a_little_now_and_then_is_not():
    async def scenario(protocol: BoundedHeads, wire: Wire) -> None:
        wire.untaken = LITTLE
        protocol.pause_writing()
        for _ in range(10):
            await asyncio.sleep(TAKING_SECONDS / 2)
            wire.untaken -= 1

    assert not happened(scenario).aborted


def test_one_for_whom_more_was_written_meanwhile_is_not():
    async def scenario(protocol: BoundedHeads, wire: Wire) -> None:
        wire.untaken = LITTLE
        for _ in range(100):
            protocol.pause_writing()
            await asyncio.sleep(HURRIED_SECONDS)
            protocol.resume_writing()
            wire.untaken += 1

    assert not happened(scenario).aborted


def test_who_has_taken_all_is_looked_at_no_more():
    async def scenario(protocol: BoundedHeads, wire: Wire) -> None:
        wire.untaken = LITTLE
        protocol.pause_writing()
        wire.untaken = 0
        protocol.resume_writing()
        await asyncio.sleep(HURRIED_SECONDS)
        assert UNTAKEN.bytes == 0
        await asyncio.sleep(2 * TAKING_SECONDS)

    assert not happened(scenario).aborted


def test_a_short_answer_is_looked_at_when_it_has_ended():
    """All of it may wait, where the client's side of the connection is small."""

    async def scenario(protocol: BoundedHeads, wire: Wire) -> None:
        wire.untaken = 1000
        protocol.on_response_complete()
        await asyncio.sleep(TAKING_SECONDS)

    assert happened(scenario).aborted


def test_while_much_waits_in_all_connections_nobody_has_long():
    async def scenario(protocol: BoundedHeads, wire: Wire) -> None:
        wire.untaken = MOST_UNTAKEN_BYTES + 1
        protocol.pause_writing()
        await asyncio.sleep(HURRIED_SECONDS)

    assert happened(scenario).aborted
