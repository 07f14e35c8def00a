"""The room that bodies share: small ones always have some, and of the large ones one goes on."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from copilot_admin.errors import Unavailable
from copilot_admin.http import shared_room
from copilot_admin.http.body_room import BodyRoom
from copilot_admin.http.shared_room import Share
from tests.agent.virtual_time import run_at_once

LARGEST, MOST = 10, 20
IN_USE = shared_room.MOST_WAITING, shared_room.PACE_SECONDS, shared_room.PACE_BYTES


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {
        "SMALL_BYTES": 1,
        "ROOM_OF_SMALL": 5,
        "USUAL_BYTES": 3,
        "ROOM_OF_USUAL": 2,
        "PACE_BYTES": 1,
    }
    for name, size in sizes.items():
        monkeypatch.setattr(shared_room, name, size)


def shared(scenario: Callable[[BodyRoom], Awaitable[None]], *, waiting: int = 200) -> BodyRoom:
    """A room after something went on in it, as fast as it can."""
    room = BodyRoom(largest=LARGEST, most=MOST, most_waiting=waiting)

    async def going_on() -> None:
        await scenario(room)

    run_at_once(going_on())
    return room


def waiting(share: Share, size: int) -> "asyncio.Task[None]":
    return asyncio.ensure_future(share.grow(size, came=size))


async def has_room(growing: "asyncio.Task[None]") -> bool:
    await asyncio.sleep(0)
    return growing.done()


def test_two_of_the_largest_have_room_and_the_next_waits_until_one_has_gone():
    async def scenario(room: BodyRoom) -> None:
        one, another, third = (Share(room) for _ in range(3))
        for share in (one, another):
            await share.grow(LARGEST, came=LARGEST)
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
        await first.grow(6, came=6)
        await second.grow(5, came=5)
        third = waiting(Share(room), 6)
        assert not await has_room(third)
        await first.grow(LARGEST, came=LARGEST)
        first.arrived()
        await second.grow(LARGEST, came=LARGEST)
        second.arrived()
        assert not await has_room(third)
        first.give_back()
        assert await has_room(third)

    shared(scenario)


def test_who_is_nearly_there_and_sends_no_more_lets_others_pass():
    async def scenario(room: BodyRoom) -> None:
        await Share(room).grow(9, came=9)
        for _ in range(3):
            with room.share() as share:
                await share.grow(LARGEST, came=LARGEST)

    assert shared(scenario).taken == 9


def test_usual_bodies_have_room_of_their_own_and_so_have_small_ones():
    async def scenario(room: BodyRoom) -> None:
        for _ in range(2):
            await Share(room).grow(LARGEST, came=LARGEST)
        await Share(room).grow(2, came=2)
        assert not await has_room(waiting(Share(room), 2))
        await Share(room).grow(1, came=1)
        assert room.taken == MOST + 3

    shared(scenario)


def test_the_beginnings_of_others_are_in_nobodys_way_of_whom_most_has_come(monkeypatch):
    monkeypatch.setattr(shared_room, "ROOM_OF_USUAL", 6)

    async def scenario(room: BodyRoom) -> None:
        first, second, *others = (Share(room) for _ in range(6))
        await first.grow(9, came=9)
        await second.grow(9, came=9)
        assert [await has_room(waiting(share, 2)) for share in others] == 3 * [True] + [False]
        for share in (first, second, others[0]):
            assert await has_room(waiting(share, LARGEST))
            share.arrived()
            share.give_back()

    shared(scenario)


def test_of_bodies_of_one_size_the_one_that_came_first_goes_on():
    async def scenario(room: BodyRoom) -> None:
        shares = [Share(room) for _ in range(3)]
        for share in shares:
            await share.grow(5, came=5)
        assert [await has_room(waiting(share, 6)) for share in (*shares[1:], shares[0])] == [
            False,
            False,
            True,
        ]

    shared(scenario)


def test_many_of_the_usual_size_leave_room_for_one_of_the_largest():
    async def scenario(room: BodyRoom) -> None:
        usual = [Share(room) for _ in range(7)]
        assert [await has_room(waiting(share, 2)) for share in usual] == 6 * [True] + [False]
        assert await has_room(waiting(usual[0], LARGEST))

    shared(scenario)


def test_who_finds_no_room_for_a_quarter_of_a_minute_is_put_off():
    async def scenario(room: BodyRoom) -> None:
        for _ in range(2):
            await Share(room).grow(LARGEST, came=LARGEST)
        began = asyncio.get_running_loop().time()
        with (
            room.share() as share,
            pytest.raises(Unavailable, match="receiving or sending too much"),
        ):
            await share.grow(4, came=4)
        assert asyncio.get_running_loop().time() - began == 15

    assert shared(scenario).taken == MOST


async def begun(room: BodyRoom, size: int, *, told: list[Share], weight: int = 1) -> Share:
    """A body of which some has come; when it is put out, it goes."""
    share = Share(room, weight=weight)

    def stop() -> None:
        told.append(share)
        share.give_back()

    share.on_put_out(stop)
    await share.grow(size, came=size)
    return share


async def waits(room: BodyRoom, size: int) -> float:
    """Seconds until there was room for a body."""
    began = asyncio.get_running_loop().time()
    with room.share() as share:
        await share.grow(size, came=size)
    return asyncio.get_running_loop().time() - began


def test_who_stalls_while_others_wait_is_put_out():
    async def scenario(room: BodyRoom) -> None:
        told: list[Share] = []
        stalled = [await begun(room, 9, told=told), await begun(room, 9, told=told)]
        await asyncio.sleep(60)
        assert told == []  # nobody waited
        assert await waits(room, 9) == shared_room.PACE_SECONDS
        assert sorted(told, key=id) == sorted(stalled, key=id)
        assert all(share.is_put_out for share in stalled)

    shared(scenario)


def test_who_stalls_with_a_usual_body_is_put_out_as_well():
    async def scenario(room: BodyRoom) -> None:
        told: list[Share] = []
        for _ in range(6):
            await begun(room, 2, told=told)
        assert await waits(room, 2) == shared_room.PACE_SECONDS
        assert len(told) == 6

    shared(scenario)


def test_small_bodies_that_stall_by_the_hundred_are_put_out():
    async def scenario(room: BodyRoom) -> None:
        told: list[Share] = []
        large = await begun(room, 9, told=told)
        small = [await begun(room, 1, told=told) for _ in range(5)]
        assert await waits(room, 1) == shared_room.PACE_SECONDS
        assert set(told) == set(small)  # the large one is in nobody's way
        assert large.size == 9

    shared(scenario)


def test_small_bodies_are_in_nobodys_way_who_wants_more():
    async def scenario(room: BodyRoom) -> None:
        told: list[Share] = []
        stalled = [await begun(room, 9, told=told), await begun(room, 9, told=told)]
        small = await begun(room, 1, told=told)
        assert await waits(room, 9) == shared_room.PACE_SECONDS
        assert set(told) == set(stalled)
        assert small.size == 1

    shared(scenario)


def test_of_very_many_the_last_are_put_off_at_once():
    async def scenario(room: BodyRoom) -> None:
        for _ in range(2):
            await Share(room).grow(LARGEST, came=LARGEST)
        waiting_ones = [asyncio.ensure_future(waits(room, 9)) for _ in range(2)]
        await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
        with pytest.raises(Unavailable, match="receiving or sending too much"):
            await waits(room, 9)
        assert asyncio.get_running_loop().time() == began
        for one in waiting_ones:
            one.cancel()

    shared(scenario, waiting=2)


def test_a_body_that_grows_is_a_small_one_no_longer():
    async def scenario(room: BodyRoom) -> None:
        for _ in range(9):
            share = Share(room)
            await share.grow(1, came=1)
            await share.grow(2, came=2)
            share.give_back()
        assert await waits(room, 1) == 0

    assert shared(scenario).taken == 0


def test_what_a_small_body_has_of_the_room_counts_once_when_it_grows(monkeypatch):
    monkeypatch.setattr(shared_room, "SMALL_BYTES", 2)

    async def scenario(room: BodyRoom) -> None:
        shares = [Share(room) for _ in range(4)]
        for share in shares:
            await share.grow(1, came=1)
        assert await has_room(waiting(shares[0], 2))  # five of five
        assert not await has_room(waiting(shares[1], 2))

    shared(scenario)


def test_a_body_that_comes_on_keeps_its_place(monkeypatch):
    monkeypatch.setattr(shared_room, "PACE_BYTES", 2)

    async def scenario(room: BodyRoom) -> None:
        told: list[Share] = []
        fast, slow = await begun(room, 8, told=told), await begun(room, 8, told=told)
        waiting_one = asyncio.ensure_future(waits(room, 6))
        await asyncio.sleep(1)
        await fast.grow(10, came=10)
        slow.came += 1  # of which nothing is kept
        await waiting_one
        assert told == [slow]
        assert not fast.is_put_out

    shared(scenario)


def test_who_comes_on_at_first_and_stalls_later_is_put_out_then():
    async def scenario(room: BodyRoom) -> None:
        told: list[Share] = []
        one, other = await begun(room, 9, told=told), await begun(room, 9, told=told)
        waiting_one = asyncio.ensure_future(waits(room, 9))
        await asyncio.sleep(1)
        one.came, other.came = one.came + 1, other.came + 1
        assert await waiting_one == 2 * shared_room.PACE_SECONDS
        assert set(told) == {one, other}

    shared(scenario)


def test_of_what_is_there_a_tenth_has_to_come():
    share = Share(BodyRoom(largest=1000, most=1000))
    share.on_put_out(lambda: None)
    asyncio.run(share.grow(100, came=500))
    share.set_pace()
    share.came += 9
    share.put_out_if_slow()
    assert share.is_put_out
    share.is_put_out = False
    share.came += 1
    share.put_out_if_slow()
    assert not share.is_put_out


def test_who_waits_himself_and_who_is_there_is_not_slow():
    async def scenario(room: BodyRoom) -> None:
        told: list[Share] = []
        there = await begun(room, LARGEST, told=told)
        there.arrived()
        first = await begun(room, 6, told=told)
        second = await begun(room, 4, told=told)
        growing = asyncio.ensure_future(second.grow(8, came=8))
        late = asyncio.ensure_future(waits(room, 4))
        await asyncio.sleep(2.5)
        assert told == [first]
        assert await has_room(growing)
        second.give_back()
        await late
        assert told == [first]

    shared(scenario)


def test_a_form_weighs_more_than_its_bytes_and_at_most_as_the_largest_body():
    async def scenario(room: BodyRoom) -> None:
        with room.share(weight=4) as share:
            await share.grow(2, came=2)
            assert room.taken == 8
            await share.grow(3, came=3)
            assert room.taken == LARGEST

    assert shared(scenario).taken == 0


def test_two_hundred_may_wait_while_who_has_room_comes_at_a_quarter_of_a_megabit():
    assert IN_USE == (200, 2.0, 65_536)
