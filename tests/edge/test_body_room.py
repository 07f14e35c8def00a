"""The room that bodies share: small ones always have some, and of the large ones one goes on."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from copilot_admin.edge import body_room
from copilot_admin.edge.body_room import BodyRoom, Share
from copilot_admin.errors import Unavailable
from tests.engine.virtual_time import run_at_once

LARGEST, MOST = 10, 20


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("SMALL_BYTES", 1), ("USUAL_BYTES", 3), ("ROOM_OF_USUAL", 2)):
        monkeypatch.setattr(body_room, name, size)


def shared(scenario: Callable[[BodyRoom], Awaitable[None]]) -> BodyRoom:
    """A room after something went on in it, as fast as it can."""
    room = BodyRoom(largest=LARGEST, most=MOST)

    async def going_on() -> None:
        await scenario(room)

    run_at_once(going_on())
    return room


def waiting(share: Share, size: int) -> "asyncio.Task[None]":
    return asyncio.ensure_future(share.grow(size))


async def has_room(growing: "asyncio.Task[None]") -> bool:
    await asyncio.sleep(0)
    return growing.done()


def test_two_of_the_largest_have_room_and_the_next_waits_until_one_has_gone():
    async def scenario(room: BodyRoom) -> None:
        one, another, third = (Share(room) for _ in range(3))
        for share in (one, another):
            await share.grow(LARGEST)
            share.arrived()
        growing = waiting(third, 4)
        assert not await has_room(growing)
        one.give_back()
        assert await has_room(growing)
        assert room.taken == LARGEST + 4

    shared(scenario)


def test_for_the_one_of_which_most_has_come_the_others_leave_room():
    async def scenario(room: BodyRoom) -> None:
        first, second = Share(room), Share(room)
        await first.grow(6)
        await second.grow(5)
        third = waiting(Share(room), 6)
        assert not await has_room(third)
        await first.grow(LARGEST)
        first.arrived()
        await second.grow(LARGEST)
        second.arrived()
        assert not await has_room(third)
        first.give_back()
        assert await has_room(third)

    shared(scenario)


def test_who_is_nearly_there_and_sends_no_more_lets_others_pass():
    async def scenario(room: BodyRoom) -> None:
        await Share(room).grow(9)
        for _ in range(3):
            with room.share() as share:
                await share.grow(LARGEST)

    assert shared(scenario).taken == 9


def test_usual_bodies_have_room_of_their_own_and_small_ones_always():
    async def scenario(room: BodyRoom) -> None:
        for _ in range(2):
            await Share(room).grow(LARGEST)
        await Share(room).grow(2)
        assert not await has_room(waiting(Share(room), 2))
        await Share(room).grow(1)
        assert room.taken == MOST + 3

    shared(scenario)


def test_who_finds_no_room_for_a_quarter_of_a_minute_is_put_off():
    async def scenario(room: BodyRoom) -> None:
        for _ in range(2):
            await Share(room).grow(LARGEST)
        began = asyncio.get_running_loop().time()
        with room.share() as share, pytest.raises(Unavailable, match="receiving too much"):
            await share.grow(4)
        assert asyncio.get_running_loop().time() - began == 15

    assert shared(scenario).taken == MOST
